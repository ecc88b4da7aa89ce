/** A hundred damaged databases of sessions: none is replaced by an empty one unasked, and salvage always ends. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { createTempHome } from '#testing/temp-home.ts';
import { DAMAGES, type Tried, tryDamage, wholeState } from '../fault/home/damaged-states.ts';
import { verifies } from '../verifies.ts';

const SEED = Number(process.env.SEED ?? 4711);

describe('a hundred damaged databases', () => {
  verifies(['core:session:corrupt-kept', 'core:session:salvage'], 'each is refused, or holds what it held', {
    options: { timeout: 600_000 },
    run: async (context) => {
      const { path } = createTempHome(context as TestContext);
      const whole = { log: join(path, 'log.db'), file: join(path, 'file.db') };
      await wholeState(whole.log, true);
      await wholeState(whole.file, false);
      const names = Object.keys(DAMAGES);
      const all: Tried[] = [];
      for (let n = 0; n < 108; n += 1) {
        const name = names[n % names.length] ?? '';
        const folder = join(path, String(n));
        all.push(await tryDamage(/\blog\b/.test(name) ? whole.log : whole.file, folder, [name, SEED + n]));
        rmSync(folder, { recursive: true });
      }
      const refused = all.filter((tried) => tried.refused).length;
      const saved = all.filter((tried) => tried.saved !== undefined).length;
      console.log(`108 damaged, SEED=${SEED}: ${refused} refused, of ${saved} something was saved`);
      assert.ok(refused > 70 && saved > 40);
    },
  });
});
