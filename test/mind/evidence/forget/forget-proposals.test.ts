// Verdicts hold words of what they judged: they go with their proposals, and by their own words.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { forgetProposals } from '#mind/evidence/forget/forget-proposals.ts';
import { recordVerdicts } from '#mind/evidence/judge/verdict-rows.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';

test('verdicts go with the proposal that they judged, others when they hold the text', async (t) => {
  const clock = createManualClock();
  const { database } = openDatabase(join(createTempHome(t).path, 'state.db'), { rooms: [evidenceSchema], clock });
  t.after(() => database.close());
  const ledger = createProposalLedger({ database, clock });
  const judge = async (subject: string, text: string, why: string) => {
    const judgement = { id: 'k', verdict: 'supported', why, model: 'a/b' } as const;
    const claim = { id: 'k', text, sources: [] };
    await recordVerdicts({ database, clock, redact: (one) => one }, [judgement], [claim], { task: 'keep', subject });
  };
  const draft = { kind: 'memory', actor: 'agent', target: 'user', action: 'add', citations: [] } as const;
  const gone = await ledger.open({ ...draft, change: { content: 'Met Bergmann.' } });
  const kept = await ledger.open({ ...draft, change: { content: 'Uses pnpm.' } });
  await judge(gone.id, 'Met somebody.', 'said so');
  await judge(kept.id, 'Uses pnpm.', 'said so');
  await judge('run_1', 'He met bergmann.', 'said so');
  await judge('run_2', 'He met him.', 'Bergmann is named');
  const holds = (text: string) => text.toLowerCase().includes('bergmann');
  assert.equal(forgetProposals(database, { messageIds: new Set(), sessionIds: new Set(), holds }).verdicts, 3);
  const subjects = () => database.all<{ subject: string }>('SELECT subject FROM verdicts').map((row) => row.subject);
  assert.deepEqual(subjects(), [kept.id]);
  assert.equal(forgetProposals(database, { messageIds: new Set(), sessionIds: new Set() }).verdicts, 0);
  assert.deepEqual(subjects(), [kept.id]);
});
