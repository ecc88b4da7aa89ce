import assert from 'node:assert/strict';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readEnvFile, setEnvValue } from '#surfaces/app/home/env-file.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

describe('.env', () => {
  test('reads plain, quoted and exported values, without comments', (t) => {
    const home = createTempHome(t);
    const path = home.write(
      '.env',
      '# keys\nA=1\nexport B="two words" # why\nC=\'as $is\'\n\nD = x # note\nnonsense\nE=\n',
    );
    assert.deepEqual(readEnvFile(path), { A: '1', B: 'two words', C: 'as $is', D: 'x', E: '' });
  });

  test('no file is no variables', (t) => {
    assert.deepEqual(readEnvFile(join(createTempHome(t).path, '.env')), {});
  });

  verifies('core:home:private', 'setting a value keeps the other lines and makes the file private', async (t) => {
    const home = createTempHome(t);
    const path = home.write('.env', '# mine\nA=1\nB=2\n');
    chmodSync(path, 0o644);
    await setEnvValue(path, 'A', 'new value');
    await setEnvValue(path, 'C', '3');
    assert.equal(home.read('.env'), '# mine\nA="new value"\nB=2\nC=3\n');
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test('any value of one line comes back as it was', async (t) => {
    const home = createTempHome(t);
    const path = join(home.path, '.env');
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n]/.test(text)),
        async (value) => {
          await setEnvValue(path, 'KEY', value);
          assert.equal(readEnvFile(path).KEY, value);
        },
      ),
      { numRuns: 60, examples: [['\u2028'], ['a\u2029 # b']] },
    );
  });

  test('a line break or a strange name is refused without naming the value', async (t) => {
    const path = join(createTempHome(t).path, '.env');
    await assert.rejects(
      () => setEnvValue(path, 'KEY', 'secret\nB=2'),
      (error: Error) => !error.message.includes('secret'),
    );
    await assert.rejects(() => setEnvValue(path, 'A B', 'x'));
  });
});
