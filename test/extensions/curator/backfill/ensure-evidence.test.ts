/** A ledger that was lost is filled in again by whoever reads it next, from really damaged files. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { backfillSessions } from '#extensions/curator/backfill/backfill-sessions.ts';
import { ensureEvidence } from '#extensions/curator/backfill/ensure-evidence.ts';
import { createEvidenceLedger } from '#mind/evidence/ledger/evidence-ledger.ts';
import { assistant, call, owner } from '../../../mind/evidence/conversation.ts';
import { verifies } from '../../../verifies.ts';
import { type BackfillStage, createBackfillStage, DAY, tell } from './backfill-stage.ts';

const CALLS = 150;

async function filledStage(t: Parameters<typeof createBackfillStage>[0]): Promise<BackfillStage> {
  const stage = createBackfillStage(t);
  const calls = Array.from({ length: CALLS }, (_, n) =>
    call('terminal', { command: `step ${n} ${'x'.repeat(300)}` }, `done ${n} ${'y'.repeat(300)}`, { callId: `c${n}` }),
  );
  await tell(stage, 'own', [owner('go'), ...calls.flat(), assistant('done')], 100 * DAY);
  assert.match((await ensure(stage)) ?? '', /1 stored session: 150 tool calls, 1 turn, 1 session end/);
  return stage;
}

const ensure = ({ sources }: BackfillStage, evidence = sources.mind.evidence) =>
  ensureEvidence({ ...sources, mind: { ...sources.mind, evidence } }, new AbortController().signal);

function damage(path: string, how: string): void {
  const bytes = readFileSync(path);
  if (how === 'garbage') writeFileSync(path, 'this is no database, it is text that goes on'.repeat(500));
  if (how === 'truncated') truncateSync(path, Math.floor(bytes.length / 2));
  if (how === 'cut to nothing') truncateSync(path, 0);
  if (how === 'broken pages') writeFileSync(path, bytes.fill(0x5a, 4096 * 3));
  if (how === 'a broken table page') writeFileSync(path, bytes.fill(0xff, 4096, 8192));
  if (how === 'gone') rmSync(path);
}

describe('a lost ledger', () => {
  for (const how of ['garbage', 'truncated', 'cut to nothing', 'broken pages', 'a broken table page', 'gone']) {
    verifies('curator:store:quarantine', `${how}: put aside, filled in again, and said`, async (t) => {
      const stage = await filledStage(t);
      const path = stage.sources.places.evidenceDatabase;
      await stage.ledger.close();
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
      damage(path, how);
      const ledger = createEvidenceLedger({ path, clock: stage.clock });
      t.after(() => ledger.close());
      const evidence = () => ledger.database;
      const told = (await ensure(stage, evidence)) ?? '';
      assert.match(told, /150 tool calls, 1 turn/);
      const { n } = ledger.database.get<{ n: number }>('SELECT count(*) AS n FROM tool_events') ?? { n: 0 };
      assert.equal(n, CALLS);
      const kept = readdirSync(dirname(path)).filter((name) => name.startsWith('evidence.sqlite.corrupt'));
      assert.equal(kept.length > 0, !['cut to nothing', 'gone'].includes(how), kept.join());
      const aside =
        /evidence\.sqlite was damaged and is kept as \S+\/(evidence\.sqlite\.corrupt-[\d-]+\w+); .*review queue/.exec(
          told,
        );
      assert.equal(
        aside?.[1],
        kept.find((name) => !/-(?:wal|shm)$/.test(name)),
        told,
      );
      assert.equal(await ensure(stage, evidence), undefined, 'once');
    });
  }

  test('damage that is met while the file is open is healed in the same process', async (t) => {
    const stage = await filledStage(t);
    const path = stage.sources.places.evidenceDatabase;
    stage.ledger.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    stage.ledger.database.exec('PRAGMA shrink_memory');
    damage(path, 'broken pages');
    assert.match((await ensure(stage)) ?? '', /150 tool calls/);
    assert.equal(stage.rows('tool_events').length, CALLS);
  });

  test('nothing stored, or emptied on purpose: nothing is filled in', async (t) => {
    const bare = createBackfillStage(t);
    assert.equal(await ensure(bare), undefined);
    const stage = await filledStage(t);
    stage.ledger.database.exec('DELETE FROM tool_events; DELETE FROM turn_events; DELETE FROM session_events');
    assert.equal(await ensure(stage), undefined);
    assert.equal(stage.rows('tool_events').length, 0);
  });

  test('a ledger of a newer version is left alone', async (t) => {
    const stage = await filledStage(t);
    stage.ledger.database.exec('UPDATE schema_versions SET version = 99; PRAGMA user_version = 0');
    await stage.ledger.close();
    const ledger = createEvidenceLedger({ path: stage.sources.places.evidenceDatabase, clock: stage.clock });
    t.after(() => ledger.close());
    assert.equal(await ensure(stage, () => ledger.database), undefined);
  });

  test('filling in says that a newer ledger takes nothing', async (t) => {
    const stage = createBackfillStage(t);
    stage.ledger.database.exec('UPDATE schema_versions SET version = 99');
    await stage.ledger.close();
    const ledger = createEvidenceLedger({ path: stage.sources.places.evidenceDatabase, clock: stage.clock });
    t.after(() => ledger.close());
    const sources = { ...stage.sources, mind: { ...stage.sources.mind, evidence: () => ledger.database } };
    await assert.rejects(backfillSessions(sources, { days: 3 }, new AbortController().signal), {
      code: 'newer-schema',
    });
  });
});
