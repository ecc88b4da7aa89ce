// Key files and their folder, as others on the machine could have left them.
import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdirSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { openAccountDataCipher } from '#extensions/hive/matrix/crypto/account-data-key.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

const KEY = `${Buffer.alloc(32, 7).toString('base64')}\n`;
const skip = process.platform === 'win32' ? 'there are no modes and few links' : false;

describe('keys that others could read or have put there', { skip }, () => {
  verifies('R4.63', 'attack: a key file that others can read is tightened, and its owner hears of it once', (t) => {
    const folder = join(createTempHome(t).path, 'peers');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'account-data.key'), KEY);
    chmodSync(join(folder, 'account-data.key'), 0o644);
    const told: string[] = [];
    const open = () => openAccountDataCipher(folder, (text) => void told.push(text));
    const sealed = open().seal({ a: 1 }, 'here');
    assert.deepEqual([modeOf(folder), modeOf(join(folder, 'account-data.key'))], [0o700, 0o600]);
    assert.equal(told.length, 2);
    assert.match(told.join('\n'), /could look into .*\n.*could read the key/);
    assert.deepEqual(open().open(sealed, 'here'), { a: 1 });
    assert.equal(told.length, 2);
  });

  verifies('R4.63', 'attack: a key file that is a link is refused, and nothing is changed behind it', (t) => {
    const home = createTempHome(t).path;
    const folder = join(home, 'peers');
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(home, 'theirs'), KEY);
    chmodSync(join(home, 'theirs'), 0o644);
    for (const target of [join(home, 'theirs'), join(home, 'nowhere')]) {
      const path = join(folder, 'account-data.key');
      symlinkSync(target, path);
      assert.throws(() => openAccountDataCipher(folder), { code: 'key-unusable', fix: /copy|anew/ });
      assert.equal(lstatSync(path).isSymbolicLink(), true);
      unlinkSync(path);
    }
    assert.equal(modeOf(join(home, 'theirs')), 0o644);
  });

  verifies('R4.63', 'attack: a folder that is a link is used for its owner alone, and said', (t) => {
    const home = createTempHome(t).path;
    mkdirSync(join(home, 'shared'));
    chmodSync(join(home, 'shared'), 0o777);
    symlinkSync(join(home, 'shared'), join(home, 'peers'));
    const told: string[] = [];
    openAccountDataCipher(join(home, 'peers'), (text) => void told.push(text));
    assert.equal(modeOf(join(home, 'shared')), 0o700);
    assert.match(told.join('\n'), /is a link: the keys of this agent lie in .*shared/);
  });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}
