/**
 * A process that appends to one home until it is killed or done: `node append-child.ts <state.db> <count> <name> [writers]`.
 * It prints `<session> <message id> <text>` only after the store has acknowledged the message.
 */
import { userMessage } from '#core/model/message.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';

const [path = '', count = '0', name = '', writers = '1'] = process.argv.slice(2);
const store = createSqliteSessionStore({ path });
const { id } = await store.create({ source: 'cli', cwd: '/' });
const step = Number(writers);

async function write(from: number): Promise<void> {
  for (let at = from; at < Number(count); at += step) {
    const text = `${name} says line ${at} about topic ${at % 13} and ${'padding '.repeat(at % 40)}`;
    const stored = await store.append(id, userMessage(text));
    process.stdout.write(`${id} ${stored.id} ${text}\n`);
  }
}

await Promise.all(Array.from({ length: step }, (_, from) => write(from)));
await store.close();
