import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { sessionStoreContract } from '../../contract/session-store.contract.ts';
import { verifies } from '../../verifies.ts';
import { withFolder, withStore } from './temp-store.ts';

describe('the SQLite store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-contract-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let made = 0;
  sessionStoreContract('SQLite', (clock) => {
    made += 1;
    return createSqliteSessionStore({ path: join(folder, `${made}.db`), clock });
  });

  verifies(
    ['core:session:resume-history', 'core:origin:survives-resume'],
    'a second process finds messages, prompt, spans and counters',
    () =>
      withFolder(async (home) => {
        const path = join(home, 'state.db');
        const first = createSqliteSessionStore({ path });
        const { id } = await first.create({ source: 'cli', cwd: '/' });
        await first.append(id, userMessage('remember the harbour'));
        await first.savePrompt(id, { system: 'frozen', tools: [] });
        await first.close();
        const second = createSqliteSessionStore({ path });
        assert.deepEqual(
          (await second.messages(id)).map(({ message }) => message),
          [userMessage('remember the harbour')],
        );
        assert.equal((await second.loadPrompt(id))?.system, 'frozen');
        assert.deepEqual(second.notices, []);
        await second.close();
      }),
  );

  test('the file is private', () =>
    withStore(async (store, path) => {
      await store.create({ source: 'cli', cwd: '/' });
      assert.equal(statSync(path).mode & 0o777, 0o600);
    }));

  verifies('core:session:every-message-recorded', 'tool calls get a row with their result', () =>
    withStore(async (store) => {
      const { id } = await store.create({ source: 'cli', cwd: '/' });
      const call = {
        type: 'tool-call',
        callId: 'c',
        name: 'terminal',
        arguments: { command: 'false' },
        origin: 'model',
      } as const;
      const observed = { ms: 7, bytes: 0, exitCode: 1, refused: 'denied' };
      const result = { type: 'tool-result', callId: 'c', name: 'terminal', text: '', isError: true, observed } as const;
      for (let again = 0; again < 2; again += 1) {
        await store.append(id, { role: 'assistant', model: 'm', parts: [call] });
        if (again === 1) await store.append(id, { role: 'tool', parts: [{ ...result, origin: 'foreign' }] });
      }
      const rows = store.database.all<Record<string, unknown>>('SELECT * FROM tool_calls ORDER BY message_id');
      assert.equal(rows.length, 2);
      assert.equal(rows[0]?.result_id, null);
      assert.deepEqual(
        [rows[1]?.arguments, rows[1]?.exit_code, rows[1]?.refused],
        ['{"command":"false"}', 1, 'denied'],
      );
    }),
  );

  verifies(
    'core:session:lease',
    'the lease of a dead process and a silent one are taken over, a live one elsewhere is not',
    () =>
      withFolder(async (home) => {
        const clock = createManualClock();
        const path = join(home, 'state.db');
        const store = createSqliteSessionStore({ path, clock });
        const other = createSqliteSessionStore({ path, clock });
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        const lease = await store.claim(id);
        assert.ok(lease.ok);
        const refused = await other.claim(id);
        assert.ok(!refused.ok && refused.reason === 'owned-elsewhere' && refused.detail.includes(String(process.pid)));
        await clock.advance(60_000);
        assert.ok(!(await other.claim(id)).ok, 'the heartbeat keeps it');
        store.database.run('UPDATE leases SET pid = 4194304');
        const taken = await other.claim(id);
        assert.ok(taken.ok, 'a dead process is replaced');
        await lease.value.release();
        assert.ok(!(await store.claim(id)).ok, 'the old owner does not give away the new lease');
        store.database.run("UPDATE leases SET host = 'elsewhere', heartbeat = ?", clock.now() - 130_000);
        assert.ok((await store.claim(id)).ok, 'a silent one is replaced');
        await store.close();
        await other.close();
      }),
  );

  verifies(
    'core:lock:never-for-ever',
    'neither a clock that was set nor a sleep takes a session away; a holder that stands still loses it',
    () =>
      withFolder(async (home) => {
        const clock = createManualClock();
        const path = join(home, 'state.db');
        const store = createSqliteSessionStore({ path, clock });
        const other = createSqliteSessionStore({ path, clock });
        const { id } = await store.create({ source: 'cli', cwd: '/' });
        assert.ok((await store.claim(id)).ok);
        for (const jump of [86_400_000, -200_000_000, 100_000_000]) {
          clock.jump(jump);
          assert.ok(!(await other.claim(id)).ok, 'the holder lives');
        }
        const place = store.database.get<{ host: string }>('SELECT host FROM leases')?.host ?? '';
        const set = (at: number, word: string) =>
          store.database.run('UPDATE leases SET host = ?', place.split(' ').with(at, word).join(' '));
        set(4, String(clock.monotonic() - 130_000));
        const taken = await other.claim(id);
        assert.ok(taken.ok, 'a process that has not beaten for two minutes of its own time');
        if (process.platform === 'linux') {
          set(1, 'the-boot-before');
          assert.ok((await other.claim(id)).ok, 'the same number, before the machine was started again');
          set(2, '1');
          assert.ok((await other.claim(id)).ok, 'another process that had this number');
        }
        store.database.run("UPDATE leases SET host = 'elsewhere', heartbeat = ?", clock.now() + 3_600_000);
        assert.ok((await other.claim(id)).ok, 'a beat of another machine that lies ahead holds nothing');
        await store.close();
        await other.close();
      }),
  );

  verifies('core:session:wal', 'a reader works while a writer is in the middle of a transaction', () =>
    withStore(async (store, path) => {
      const { id } = await store.create({ source: 'cli', cwd: '/' });
      await store.append(id, userMessage('before'));
      const writer = createSqliteSessionStore({ path });
      writer.database.exec('BEGIN IMMEDIATE');
      writer.database.run("UPDATE sessions SET title = 'x'");
      assert.equal((await store.messages(id)).length, 1);
      assert.equal((await store.search('before')).length, 1);
      writer.database.exec('ROLLBACK');
      await writer.close();
    }),
  );
});
