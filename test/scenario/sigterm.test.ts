import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe } from 'node:test';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { verifies } from '../verifies.ts';
import { createCliStage } from './cli-process.ts';

describe('SIGTERM', () => {
  verifies.slow(
    'core:bad-input:sigterm',
    'in mid-turn: one last event, exit code 143, what was acknowledged is stored and can be resumed',
    async (t) => {
      const stage = createCliStage(t);
      const server = await startScriptedServer([{ fault: 'hang-after' }, 'Here again.'], {
        models: ['m'],
        context: t,
      });
      const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'a-key-for-tests' };
      let sent = false;
      const run = await stage.run(['-p', 'do not forget me', '--output-format', 'stream-json'], {
        env,
        onOutput: (out, kill) => {
          if (sent || !out.includes('text-delta')) return;
          sent = true;
          kill('SIGTERM');
        },
      });
      assert.equal(run.code, 143, run.err + run.out);
      const ends = run.out.split('\n').filter((line) => line.includes('"turn-end"'));
      assert.equal(ends.length, 1, run.out);
      assert.match(ends[0] ?? '', /"outcome":"aborted"/);
      const store = createSqliteSessionStore({ path: join(stage.root, 'state.db'), readOnly: true });
      const [session] = await store.list();
      assert.ok(session);
      const messages = await store.messages(session.id);
      await store.close();
      assert.deepEqual(
        messages[0]?.message.parts.map((part) => ('text' in part ? part.text : '')),
        ['do not forget me'],
      );
      const resumed = await stage.run(['-p', 'still there?', '--resume', session.id], { env });
      assert.equal(resumed.code, 0, resumed.err);
      assert.match(resumed.out, /Here again\./);
    },
  );
});
