/**
 * A process that appends and compresses one session until it is killed: `node compact-child.ts <state.db> <session>`.
 * It prints `<n>` after message n is acknowledged, and `S<n>` after the compression of messages 1 to n is.
 */
import { userMessage } from '#core/model/message.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';

const [path = '', sessionId = ''] = process.argv.slice(2);
const store = createSqliteSessionStore({ path });

for (let n = (await store.get(sessionId))?.messageCount ?? 0; ; n += 1) {
  await store.append(sessionId, userMessage(`message ${n} of topic ${n % 7}`));
  process.stdout.write(`${n}\n`);
  if (n % 4 !== 3) continue;
  const leaving = (await store.messages(sessionId)).slice(1, -2);
  const last = n - 2;
  const summary = { type: 'text', text: `S${last}`, origin: 'model', label: 'summary' } as const;
  await store.compact(sessionId, {
    ids: leaving.map((stored) => stored.id),
    replacement: [{ role: 'user', parts: [summary] }],
    prompt: { system: `after S${last}`, tools: [] },
  });
  process.stdout.write(`S${last}\n`);
}
