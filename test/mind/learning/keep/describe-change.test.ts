import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { offerText } from '#mind/learning/keep/describe-change.ts';

describe('what waits for the owner', () => {
  test('an edit shows every file that changes with it, whole', () => {
    const files = [
      { path: 'references/new.md', content: 'first line\nlast line' },
      { path: 'references/old.md', content: null },
    ];
    const change = { action: 'edit', content: 'the new text', files };
    const shown = offerText({ change, action: 'edit', citations: [] } as never);
    assert.match(shown, /^the new text\n/);
    assert.match(shown, /The file references\/new\.md:\nfirst line\nlast line/);
    assert.match(shown, /The file references\/old\.md goes\./);
  });
});
