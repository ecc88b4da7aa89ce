/** kill −9 at random moments of skill writes: the next start finds a whole skill, and versions, record and provenance that agree with it. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertAgreement } from '../../fault/skills/agreement.ts';
import { realClock } from '../../ground.ts';
import { openDoor } from '../../mind/skills/skill-bench.ts';
import { verifies } from '../../verifies.ts';

const WRITER = fileURLToPath(new URL('./door-writer.ts', import.meta.url));
const KILLS = Number(process.env.KILLS ?? 150);
const SEED = Number(process.env.SEED ?? 4711);

describe('kill −9 in the middle of skill writes', () => {
  verifies('core:skills:atomic', `${KILLS} kills leave nothing half done`, {
    options: { timeout: 600_000 },
    run: async () => {
      const home = mkdtempSync(join(tmpdir(), 'talaria-kill-door-'));
      console.log(`kill −9 at ${KILLS} random moments, SEED=${SEED}`);
      let mended = 0;
      try {
        for (let i = 0; i < KILLS; i += 1) {
          await killedWriter(home, SEED + i, i * 3_600_000);
          // A killed process may leave a lock that is being broken: the next one waits for it, in real time.
          const clock = { ...realClock, now: () => 1_768_478_400_000 + (i + 1) * 3_600_000 };
          const opened = openDoor(home, { bare: true, clock });
          mended += (await opened.door.reconcile()).length;
          assertAgreement(opened, 'csv', `kill ${i}`);
          opened.close();
        }
      } finally {
        rmSync(home, { recursive: true, force: true });
      }
      assert.ok(mended > KILLS / 10, `only ${mended} writes were cut in the middle`);
    },
  });
});

async function killedWriter(home: string, seed: number, later: number): Promise<void> {
  const child = spawn(process.execPath, [WRITER, home, String(seed), String(later)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise<void>((done) => child.once('close', () => done()));
  await Promise.race([new Promise<void>((done) => child.stdout.once('data', () => done())), closed]);
  await realClock.sleep((Math.imul(seed, 2_654_435_761) >>> 0) % 150);
  assert.equal(child.exitCode, null, 'the writer ended by itself');
  child.kill('SIGKILL');
  await closed;
}
