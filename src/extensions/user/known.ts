// Owns the rows of user.sqlite, how they stand to each other and to time, what of them bears on a line, and `talaria user`. Knows no model.
// Invariants: each row names the messages that it rests on; of two that exclude each other the newer counts; what goes leaves no byte.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { contentStems } from '#base/text/words.ts';
import { oneLine } from '#base/text.ts';
import { type AnyCommand, type CommandOutput, defineCommand, line, refused } from '#core/agent/command-spec.ts';
import type { Forgets, Forgot, Ground, RoomGround } from '#core/agent/room.ts';
import { messageText, type TextPart, toolCalls } from '#core/model/message.ts';
import { eraseFreed } from '#mind/sessions/sweep-text.ts';
import { findMessage } from '#mind/sessions/told-messages.ts';

type Text = 'id' | 'dimension' | 'value' | 'by';
/** Times are epoch ms; `handles`: `session#message`, of a counted one the newest; `between`: the two rows of a contradiction. */
export type Row = Readonly<Record<Text, string> & Record<'sessions' | 'first_seen' | 'last_seen', number>> & {
  readonly handles: readonly string[];
  readonly between?: readonly string[];
};

/** `deaf`: sources of sessions in which the owner does not speak. */
export interface Desk extends Readonly<Record<'state' | 'database', Database>> {
  readonly ground: RoomGround;
  readonly isOn: boolean;
  readonly count: () => Promise<unknown>;
  readonly deaf: ReadonlySet<string>;
}

/** A row that is a number: when something last was, or until when nothing counts. */
export const userSchema: RoomSchema = {
  room: 'user',
  steps: ['CREATE TABLE known(id TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID'],
};

export const WINDOW_MS = 90 * 86_400_000;
const MOST_SAID = 600;
/** Words that values of every kind have. */
const PLAIN: ReadonlySet<string> = new Set(contentStems('owner prefer use like want work line run time'));

export function sessionsOf(handles: readonly string[]): number {
  return new Set(handles.map((handle) => handle.replace(/#.*/, ''))).size;
}

/** By dimension, the newest first. */
export function rowsOf({ database }: Desk): readonly Row[] {
  const cells = database.all<{ row: string }>('SELECT row FROM known').map(({ row }) => parseJson(row));
  const rows = cells.flatMap((cell) => (cell.ok && isJsonObject(cell.value) ? [cell.value as unknown as Row] : []));
  return rows.sort((a, b) => a.dimension.localeCompare(b.dimension) || b.last_seen - a.last_seen);
}

export function markOf({ database }: Desk, key: string): number {
  return Number(database.get<{ row: string }>('SELECT row FROM known WHERE id = ?', key)?.row ?? 0);
}

/** A contradiction goes with either side. */
export async function write(desk: Desk, put: Readonly<Record<string, JsonValue>>, drop: readonly Row[] = []) {
  const { database } = desk;
  const ids = drop.map(({ id }) => id);
  const pairs = rowsOf(desk).filter(({ between = [] }) => between.some((id) => ids.includes(id)));
  const work = () => {
    for (const [id, row] of Object.entries(put))
      database.run('REPLACE INTO known VALUES(?, ?)', id, JSON.stringify(row));
    for (const { id } of [...drop, ...pairs]) database.run('DELETE FROM known WHERE id = ?', id);
  };
  if (!database.readOnly) await database.transaction(work);
}

/** `outdone`: a newer one excludes it; `faded`: nobody said it for long. */
function stateOf({ ground }: Desk, row: Row, rows: readonly Row[]): 'used' | 'faded' | 'outdone' {
  const rivals = rows.flatMap(({ between = [] }) => (between.includes(row.id) ? between : []));
  if (rows.some(({ id, last_seen: last }) => rivals.includes(id) && last > row.last_seen)) return 'outdone';
  return ground.clock.now() - row.last_seen > WINDOW_MS ? 'faded' : 'used';
}

/** A row goes with a message that it rests on, and with a text that it holds: it is made again from what is left. */
export async function forget(desk: Desk, { sessions, holds }: Forgets): Promise<readonly Forgot[]> {
  const gone = new Set(sessions.flatMap(({ id, messages }) => messages.map((one) => `${id}#${one.id}`)));
  const isHit = ({ by, value, handles }: Row) =>
    holds?.(value) || handles.some((handle) => gone.has(handle)) || (by === 'count' && gone.size > 0);
  const hit = rowsOf(desk).filter(isHit);
  if (hit.length === 0) return [];
  await write(desk, { review: 0 }, hit);
  const busy = (await eraseFreed(desk.database, desk.ground.clock)) === 'busy' ? [desk.database.path] : [];
  return [{ name: 'things known of you', count: hit.length, busy }];
}

/** One part, or none: what shares a word with the line, the nearest first. It is evidence of nothing. */
export function bearingOn(desk: Desk, text: string): readonly TextPart[] {
  const words = new Set(contentStems(text).filter((stem) => !PLAIN.has(stem)));
  const rows = rowsOf(desk);
  const shared = ({ dimension, value }: Row) =>
    new Set(contentStems(`${dimension} ${value}`).filter((stem) => words.has(stem))).size;
  const near = rows.filter((row) => !row.between && shared(row) > 0 && stateOf(desk, row, rows) === 'used');
  let said = 'Known of the owner from earlier talks (`talaria user why ID` shows the words):';
  for (const { id, dimension, value } of near.sort((a, b) => shared(b) - shared(a))) {
    const more = `${said}\n- ${dimension}: ${value} [${id}]`;
    if (more.length <= MOST_SAID) said = more;
  }
  return said.includes('\n') ? [{ type: 'text', text: said, origin: 'model', label: 'context' }] : [];
}

type Said = AsyncGenerator<CommandOutput>;

const onRow = (obey: (desk: Desk, row: Row) => Said) =>
  async function* (desk: Desk, id = ''): Said {
    const row = rowsOf(desk).find((one) => one.id === id);
    if (row) yield* obey(desk, row);
    else yield refused('no-such-row', `Nothing is known as ${id}.`, '`talaria user show` has all.');
  };

const turn = (value: boolean) =>
  async function* ({ ground }: Desk): Said {
    await ground.keep({ config: [{ path: ['user', 'enabled'], value }] });
    yield line(`It is ${value ? 'on' : 'off'} for what starts from now on. What is known stays.`);
  };

async function* show(desk: Desk): Said {
  if (desk.isOn) await desk.count();
  else yield line('It is off: `talaria user on` turns it on.');
  const rows = rowsOf(desk).map((row, _, all) => ({ ...timed(row), state: stateOf(desk, row, all) }));
  if (rows.length === 0) yield line('Nothing is known of you yet; it takes some conversations.');
  for (const { id, dimension, value, sessions, last_seen: last, state } of rows)
    yield line(`${id}  ${dimension}: ${value} (sessions: ${sessions}, last ${last.slice(0, 10)}, ${state})`);
  yield { type: 'data', value: rows };
}

async function* why({ state }: Desk, row: Row): Said {
  const messages = row.handles.map((handle) => {
    const stored = findMessage(state, Number(handle.replace(/.*#/, '')));
    if (stored === undefined) return { handle, at: null, text: 'It is gone.' };
    const ran = toolCalls(stored.message).map((call) => `ran: ${call.arguments.command}`);
    return { handle, at: isoTime(stored.at), text: [messageText(stored.message), ...ran].join('\n').trim() };
  });
  yield line(`${row.dimension}: ${row.value} (by ${row.by})`);
  for (const { handle, at, text } of messages) yield line(`  ${handle}  ${at}  ${oneLine(text, 300)}`);
  yield { type: 'data', value: { ...timed(row), messages } };
}

/** Words that were said until now show no such thing any more. */
async function* remove(desk: Desk, row: Row): Said {
  await write(desk, { [`not ${row.by === 'count' ? row.id : row.dimension}`]: desk.ground.clock.now() }, [row]);
  await eraseFreed(desk.database, desk.ground.clock);
  yield line(`It is gone: ${row.value}`);
}

function timed({ between: _, ...row }: Row) {
  return { ...row, first_seen: isoTime(row.first_seen), last_seen: isoTime(row.last_seen) };
}

export function userCommands(ground: Ground): readonly AnyCommand[] {
  const id = z.string().describe('As `user show` prints it');
  const orders = [
    ['show', 'What is known of you', {}, show],
    ['why', 'The messages that it rests on', { id }, onRow(why)],
    ['forget', 'Take one away; it is not learned from the same words again', { id }, onRow(remove)],
    ['off', 'Learn nothing more of you, and use nothing', {}, turn(false)],
    ['on', 'Learn of you, and use it', {}, turn(true)],
  ] as const;
  return orders.map(([name, summary, fields, obey]) =>
    defineCommand<{ id?: string }>({
      ...{ name: `user ${name}`, summary, surfaces: ['cli'], positional: Object.keys(fields), input: z.object(fields) },
      run: async function* (asked) {
        yield* obey(await (await ground.door('user'))(), asked.id);
      },
    }),
  );
}
