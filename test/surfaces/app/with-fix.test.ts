import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withFix } from '#surfaces/app/wording.ts';

test('what went wrong and what to do stay two sentences', () => {
  assert.equal(withFix('x is no usable base URL', 'Give a base URL.'), 'x is no usable base URL. Give a base URL.');
  assert.equal(withFix('It broke.', 'Mend it.'), 'It broke. Mend it.');
  assert.equal(withFix('It said "no."', 'Ask again.'), 'It said "no." Ask again.');
  assert.equal(withFix('It broke', undefined), 'It broke');
  assert.equal(withFix('It broke (badly)', 'Mend it.'), 'It broke (badly). Mend it.');
});
