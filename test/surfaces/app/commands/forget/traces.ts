import { join } from 'node:path';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { answered, called, type ForgetStage, NOW, resulted, said, writeEvents } from './forget-stage.ts';

/** Upper case, quotes and a slash: it looks different in JSON. */
export const SENTINEL = 'the "Quorndelta" vault at /srv/quorn';
export const WORD = 'quorndelta';

export interface Traces {
  readonly secret: string;
  readonly plain: string;
  readonly pendingId: string;
}

/** Two sessions; one of them speaks of the sentence in the middle, and everything that follows from it is there. */
export async function leaveTraces(stage: ForgetStage): Promise<Traces> {
  const { home, temp } = stage;
  return stage.within(async (store) => {
    const secret = (await store.create({ source: 'cli', cwd: '/w', title: `open ${SENTINEL}` })).id;
    const spill = join(home.spill, secret, 'c2.txt');
    const first = await store.append(secret, said('how is the weather in bree'));
    await store.append(secret, answered('fine in bree'));
    const asked = await store.append(secret, said(`open ${SENTINEL}`));
    await store.append(secret, called('c1', `cat ${SENTINEL}`));
    await store.append(secret, resulted('c1', `it says ${SENTINEL}`));
    await store.append(secret, answered('done'));
    await store.append(secret, said('list the logs of moria'));
    await store.append(secret, called('c2', 'ls'));
    await store.append(secret, resulted('c2', 'many lines', spill));
    await store.append(secret, answered('there are many'));
    await store.savePrompt(secret, { system: `You know of ${SENTINEL}.`, tools: [] });
    await store.recordSpans([
      {
        id: 'span1',
        sessionId: secret,
        turn: 2,
        kind: 'tool',
        name: 'terminal',
        startedAt: NOW,
        ms: 1,
        status: 'error',
        detail: `cannot read ${SENTINEL}`,
      },
    ]);
    const plain = (await store.create({ source: 'cli', cwd: '/w' })).id;
    await store.append(plain, said('which port has sandal'));
    await store.append(plain, answered('4711'));
    const ledger = createProposalLedger({ database: store.database, clock: stage.clock });
    const cited = { handle: `message:${asked.id}`, quote: SENTINEL };
    const other = { handle: `message:${first.id}`, quote: 'how is the weather' };
    const draft = { kind: 'memory', actor: 'review', target: 'memory', action: 'add', sessionId: secret } as const;
    const applied = await ledger.open({
      ...draft,
      change: { action: 'add', content: SENTINEL },
      citations: [cited, other],
    });
    await ledger.decide(applied.id, {
      status: 'refused',
      reason: 'evidence_text_mismatch',
      detail: `not said: ${SENTINEL}`,
    });
    const pending = await ledger.open({ ...draft, change: { action: 'add', content: SENTINEL }, citations: [cited] });
    await ledger.decide(pending.id, { status: 'pending', reason: 'origin-not-allowed' });
    store.database.run(
      "INSERT INTO reviews(id, session_id, kind, reasons, hint, status, at) VALUES('r1', ?, 'memory', '[]', ?, 'due', 1)",
      secret,
      SENTINEL,
    );
    writeEvents(home, secret, SENTINEL);
    writeEvents(home, plain, 'which port');
    const at = (name: string, text: string) => temp.write(join('home', name), text);
    at(`cache/spill/${secret}/c2.txt`, `long output\nwith ${SENTINEL}\n`);
    at(`cache/spill/${plain}/c9.txt`, 'harmless');
    at('cache/input-history', `${JSON.stringify(`open ${SENTINEL}`)}\n${JSON.stringify('which port has sandal')}\n`);
    at(
      'logs/agent.log',
      `${JSON.stringify({ at: '2026-05-01T00:00:00.000Z', event: 'notice', text: SENTINEL })}\n{"at":"2026-05-01T00:00:00.000Z","event":"kept"}\n`,
    );
    at(`pending/memory/${pending.id}.json`, JSON.stringify({ content: SENTINEL }));
    at(
      'backups/skills/20260514T101502123000Z/manifest.json',
      JSON.stringify({
        skill_name: 'open-vault',
        evidence: { db_path: '', citations: [{ handle: `message:${asked.id}`, quote: SENTINEL }] },
        support_files: [],
      }),
    );
    return { secret, plain, pendingId: pending.id };
  });
}
