import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { proposalLedgerContract } from '../../contract/proposal-ledger.contract.ts';

proposalLedgerContract('SQLite', async (clock) => {
  const home = createTempHome();
  const store = createSqliteSessionStore({ path: join(home.path, 'state.db'), clock, rooms: [evidenceSchema] });
  const session = await store.create({ source: 'test', cwd: '/' });
  return {
    ledger: createProposalLedger({ database: store.database, clock }),
    clock,
    say: (message) => store.append(session.id, message),
    forget: async (id) => {
      store.database.run('UPDATE messages SET active = 0 WHERE id = ?', id);
    },
    close: async () => {
      await store.close();
      home.remove();
    },
  };
});

describe('proposal ledger on state.db', () => {
  const draft = { kind: 'skill', actor: 'agent', target: 't', action: 'edit', change: {}, citations: [] } as const;

  test('a write in the hands of another living process is left to it, that of a dead one is not', async (context) => {
    const home = createTempHome(context);
    const clock = createManualClock();
    const store = createSqliteSessionStore({ path: join(home.path, 'state.db'), clock, rooms: [evidenceSchema] });
    context.after(() => store.close());
    const ledger = createProposalLedger({ database: store.database, clock });
    const { id } = await ledger.open(draft);
    await ledger.begin(id, { path: '/x', beforeHash: 'b', afterHash: 'a' });
    const setWriter = (pid: number) =>
      store.database.run('UPDATE proposals SET writer = ? WHERE id = ?', `${pid} ${hostname()}`, id);
    setWriter(process.ppid);
    assert.deepEqual(await ledger.reconcile(() => 'b'), []);
    assert.equal(ledger.get(id)?.status, 'writing');
    setWriter(spawnSync(process.execPath, ['-e', '']).pid);
    assert.equal((await ledger.reconcile(() => 'b'))[0]?.status, 'dropped');
  });

  test('survives closing and opening', async (context) => {
    const home = createTempHome(context);
    const path = join(home.path, 'state.db');
    const first = createSqliteSessionStore({ path, rooms: [evidenceSchema] });
    const { id } = await createProposalLedger({ database: first.database }).open(draft);
    await first.close();
    const second = createSqliteSessionStore({ path, rooms: [evidenceSchema] });
    context.after(() => second.close());
    assert.equal(createProposalLedger({ database: second.database }).get(id)?.target, 't');
  });
});
