// Measures what it costs to write a message down for good: a message with its index row at synchronous=FULL, one at a time, against the
// same bytes with write + fdatasync; and eight writers with group commit against one. Medians of interleaved rounds.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { userMessage } from '#core/model/message.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { type BenchRow, median, spread } from './bench-row.ts';
import { readConversations } from './locomo-data.ts';

/** Many short rounds, the three ways in turn: other work on the machine then hits all of them alike. */
const ROUNDS = 60;
const MESSAGES = 80;
const WRITERS = 8;

interface Round {
  /** Messages a second. */
  readonly plain: number;
  readonly one: number;
  readonly eight: number;
}

export async function benchAppend(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-append-'));
  const file = openSync(join(folder, 'plain'), 'w');
  const store = createSqliteSessionStore({ path: join(folder, 'state.db') });
  try {
    const { id } = await store.create({ source: 'bench', cwd: '/' });
    const texts = messageTexts();
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const messages = Array.from({ length: MESSAGES }, (_, at) => texts[(round * MESSAGES + at) % texts.length] ?? '');
      rounds.push({
        plain: await rate(messages, () => writePlain(file, messages)),
        one: await rate(messages, () => append(store, id, messages, 1)),
        eight: await rate(messages, () => append(store, id, messages, WRITERS)),
      });
    }
    return toRows(rounds);
  } finally {
    closeSync(file);
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function toRows(rounds: readonly Round[]): readonly BenchRow[] {
  const single = rounds.map((round) => round.one / round.plain);
  const group = rounds.map((round) => round.eight / round.one);
  const perSecond = (pick: (round: Round) => number) => Math.round(median(rounds.map(pick)));
  return [
    {
      metric: 'append',
      value: median(single),
      target: '≥ 0.6',
      unit: '× write + fdatasync',
      ok: median(single) >= 0.6,
      note: `${ROUNDS} rounds of ${MESSAGES}; ${perSecond((round) => round.one)} messages/s; ${spread(single)}`,
    },
    {
      metric: 'append, 8 writers',
      value: median(group),
      target: '≥ 5',
      unit: '× one writer',
      ok: median(group) >= 5,
      note: `group commit; ${perSecond((round) => round.eight)} messages/s; ${spread(group)}`,
    },
  ];
}

/** Sentences of real length: from the data set when it is there. */
function messageTexts(): readonly string[] {
  const turns = readConversations()?.flatMap((conversation) => conversation.turns.map((turn) => turn.content));
  const own =
    'We looked at the build together, moved the cache out of the home folder, and ran the tests again on both machines';
  return turns ?? Array.from({ length: 500 }, (_, at) => `${own} (${at})`);
}

async function rate(messages: readonly string[], work: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (messages.length * 1000) / (performance.now() - start);
}

function writePlain(file: number, messages: readonly string[]): void {
  for (const text of messages) {
    writeSync(file, `${JSON.stringify(userMessage(text))}\n`);
    fdatasyncSync(file);
  }
}

async function append(store: SqliteSessionStore, id: string, messages: readonly string[], writers: number) {
  const write = async (writer: number) => {
    for (let at = writer; at < messages.length; at += writers) await store.append(id, userMessage(messages[at] ?? ''));
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await benchAppend());
