import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeMessage } from '#mind/sessions/message-rows.ts';
import type { Message } from '#public/talaria.ts';
import { createBackfillStage, DAY } from '../extensions/curator/backfill-stage.ts';
import { realClock } from '../ground.ts';
import { assistant, call, owner } from '../mind/evidence/conversation.ts';

const SESSIONS = 2_000;
const TURNS = 12;
const WORDS = 'a line that a tool gives back, of middling length; '.repeat(20);

function turn(n: number): readonly Message[] {
  const calls = ['a', 'b'].flatMap((id) =>
    call('terminal', { command: WORDS }, `${WORDS} ${n}`, { callId: `${id}${n}` }),
  );
  return [owner(`do ${n}`), ...calls, assistant(`done ${n}`)];
}

describe('filling evidence in from a large state.db', () => {
  test('144,000 messages take seconds and little memory; again, one', async (t) => {
    const stage = createBackfillStage(t);
    const { database } = stage.store;
    const at = stage.clock.now() - DAY;
    const messages = Array.from({ length: TURNS }, (_, n) => turn(n))
      .flat()
      .map(encodeMessage);
    await database.transaction(() => {
      for (let session = 0; session < SESSIONS; session += 1) {
        const { id } = database.run(
          "INSERT INTO sessions(id, source, cwd, started_at, last_active_at) VALUES(?, 'cli', '/', ?, ?)",
          ...[`s${session}`, at, at],
        );
        for (const [index, { role, body }] of messages.entries())
          database.run(
            "INSERT INTO messages(session, seq, role, at, body, text) VALUES(?, ?, ?, ?, ?, '')",
            ...[id, index + 1, role, at, body],
          );
      }
    });
    const before = process.memoryUsage().rss;
    const from = realClock.monotonic();
    const report = await stage.fill();
    const first = realClock.monotonic() - from;
    assert.partialDeepStrictEqual(report, {
      ...{ sessions_imported: SESSIONS, tool_events_imported: SESSIONS * TURNS * 2, files_failed: 0 },
      turn_events_imported: SESSIONS * TURNS,
    });
    const again = realClock.monotonic();
    assert.equal((await stage.fill()).sessions_imported, 0);
    t.diagnostic(`first ${Math.round(first)} ms, again ${Math.round(realClock.monotonic() - again)} ms`);
    assert.ok(first < 90_000, `${first} ms`);
    assert.ok(process.memoryUsage().rss - before < 400 * 1024 * 1024);
  });
});
