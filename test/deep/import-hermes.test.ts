import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { writeHermesHome } from '../surfaces/app/commands/import/hermes-home.ts';
import { createImportStage } from '../surfaces/app/commands/import/import-stage.ts';

const SESSIONS = 800;
const EACH = 50;
const WORDS =
  'database migration staging server harbour lantern compile vector index session memory skill review prompt'.split(
    ' ',
  );

function sentence(seed: number): string {
  return Array.from({ length: 25 }, (_, at) => WORDS[(seed * 31 + at * at * 7) % WORDS.length]).join(' ');
}

describe('a large home', () => {
  test('40,000 messages come at 20,000 a minute or more, and a second run is faster', async (t) => {
    const stage = createImportStage(t);
    const hermes = writeHermesHome(stage.temp, { version: 30, layout: 'inline' });
    hermes.state.database.exec('BEGIN');
    for (let n = 0; n < SESSIONS; n += 1) {
      const id = `20260701_${String(n).padStart(6, '0')}_abcdef`;
      hermes.state.session({ id, source: 'cli', started_at: 1_780_000_000 + n * 100 });
      for (let m = 0; m < EACH; m += 1) {
        const timestamp = 1_780_000_000 + n * 100 + m;
        hermes.state.message({
          session_id: id,
          role: m % 2 ? 'assistant' : 'user',
          content: `${n} ${sentence(n + m)}`,
          timestamp,
        });
      }
    }
    hermes.state.database.exec('COMMIT');
    hermes.state.close();
    const start = performance.now();
    await stage.run({ from: hermes.path });
    const seconds = (performance.now() - start) / 1000;
    const again = performance.now();
    const second = await stage.run({ from: hermes.path });
    const repeated = (performance.now() - again) / 1000;
    t.diagnostic(`${SESSIONS * EACH} messages in ${seconds.toFixed(1)} s, again in ${repeated.toFixed(1)} s`);
    assert.ok((SESSIONS * EACH) / seconds > 20_000 / 60, `${seconds} s`);
    assert.ok(repeated < seconds);
    assert.deepEqual(second.data.taken, {});
  });
});
