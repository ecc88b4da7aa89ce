/** Databases of conversations, damaged in every way that a disk knows, from a seed; and what must hold for each. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { userMessage } from '#core/model/message.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { salvageState, stateDamage } from '#surfaces/app/backup/repair-state.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { stateTables } from '#surfaces/app/rooms.ts';

export const SESSIONS = 6;
export const MESSAGES = 40;
const PAGE = 4096;

type Random = () => number;

/** Small, seeded, good enough to pick places. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A whole state.db at `path`; with `log`, the last session is still in its log. */
export async function wholeState(path: string, log: boolean): Promise<void> {
  const store = createSqliteSessionStore({ path, rooms: await stateTables() });
  for (let at = 0; at < SESSIONS; at += 1) {
    const { id } = await store.create({ source: 'cli', cwd: '/' });
    for (let each = 0; each < MESSAGES; each += 1)
      await store.append(id, userMessage(`the harbour report ${at} ${each} ${'of the day '.repeat(40)}`));
    if (log && at === SESSIONS - 2) store.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  if (log) for (const part of ['', '-wal']) copyFileSync(path + part, `${path}.kept${part}`);
  await store.close();
  if (log) for (const part of ['', '-wal']) copyFileSync(`${path}.kept${part}`, path + part);
}

type Damage = (path: string, random: Random) => void;

function change(path: string, edit: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path);
  edit(bytes);
  writeFileSync(path, bytes);
}

const place = (bytes: Buffer, random: Random) => Math.floor(random() * bytes.length);
const pageOf = (bytes: Buffer, random: Random) => Math.floor(random() * (bytes.length / PAGE)) * PAGE;

/** To files without a log, and, further down, to those with one. */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  'bytes flipped': (path, random) =>
    change(path, (bytes) => {
      for (let n = 1 + Math.floor(random() * 60); n > 0; n -= 1)
        bytes[place(bytes, random)] = Math.floor(random() * 256);
    }),
  truncated: (path, random) => truncateSync(path, Math.floor(random() ** 2 * readFileSync(path).length)),
  'truncated at a page': (path, random) => truncateSync(path, pageOf(readFileSync(path), random)),
  'pages zeroed': (path, random) =>
    change(path, (bytes) => {
      for (let n = 1 + Math.floor(random() * 12); n > 0; n -= 1) bytes.fill(0, ...range(pageOf(bytes, random), PAGE));
    }),
  'pages of another file': (path, random) =>
    change(path, (bytes) => {
      for (let n = 1 + Math.floor(random() * 6); n > 0; n -= 1)
        bytes.fill('lorem ipsum ', ...range(pageOf(bytes, random), PAGE));
    }),
  'pages exchanged': (path, random) =>
    change(path, (bytes) => {
      const [one, other] = [pageOf(bytes, random), pageOf(bytes, random)];
      const page = Buffer.from(bytes.subarray(one, one + PAGE));
      bytes.copyWithin(one, other, other + PAGE);
      page.copy(bytes, other);
    }),
  'header overwritten': (path, random) =>
    change(path, (bytes) => {
      for (let at = 0; at < 100; at += 1) bytes[at] = Math.floor(random() * 256);
    }),
  'first page zeroed': (path) => change(path, (bytes) => bytes.fill(0, 0, PAGE)),
  emptied: (path) => truncateSync(path, 0),
  'log damaged': (path, random) =>
    change(`${path}-wal`, (bytes) => {
      for (let n = 1 + Math.floor(random() * 8); n > 0; n -= 1)
        bytes[place(bytes, random)] = Math.floor(random() * 256);
    }),
  'log cut': (path, random) => truncateSync(`${path}-wal`, Math.floor(random() * readFileSync(`${path}-wal`).length)),
  'gone, with its log left': (path) => rmSync(path),
};

function range(from: number, length: number): [number, number] {
  return [from, from + length];
}

export interface Tried {
  readonly refused: boolean;
  /** Messages that salvage brought; absent: nothing could be read, or nothing was damaged. */
  readonly saved?: number;
}

/** Copies the whole files into a home of their own, damages them, and looks what a start, and then a salvage, make of it. */
export async function tryDamage(
  whole: string,
  folder: string,
  [name, seed]: readonly [string, number],
): Promise<Tried> {
  const home = homeAt(join(folder, `${name.replaceAll(/\W/g, '-')}-${seed}`));
  mkdirSync(home.openFlags, { recursive: true });
  for (const part of ['', '-wal']) if (existsSync(whole + part)) copyFileSync(whole + part, home.stateDatabase + part);
  writeFileSync(
    join(home.openFlags, 'state.db-1-crashed'),
    '4194304 nobody\n'.replace('nobody', (await import('node:os')).hostname()),
  );
  DAMAGES[name]?.(home.stateDatabase, randomFrom(seed));
  const found = await openedBy(home.stateDatabase, home.openFlags);
  if (found !== 'refused') {
    assert.ok(found > 0, `${name} ${seed}: started empty`);
    return { refused: false };
  }
  assert.equal(await openedBy(home.stateDatabase, home.openFlags), 'refused', `${name} ${seed}: the second start too`);
  const before = kept(home.root);
  try {
    const { messages, aside } = await salvageState(home, systemClock);
    assert.ok(messages <= SESSIONS * MESSAGES);
    assert.ok(aside === undefined || kept(home.root).length > 0);
    assert.equal(stateDamage(home), undefined);
    assert.equal(await openedBy(home.stateDatabase, home.openFlags), messages);
    return { refused: true, saved: messages };
  } catch (error) {
    assert.equal(errorCode(error), 'nothing-readable', `${name} ${seed}: ${error}`);
    assert.deepEqual(kept(home.root), before);
    assert.equal(await openedBy(home.stateDatabase, home.openFlags), 'refused', `${name} ${seed}: after it`);
    return { refused: true };
  }
}

function kept(root: string): readonly string[] {
  return readdirSync(root)
    .filter((name) => name.startsWith('state.db') && !/-shm$|\.suspect$/.test(name))
    .sort();
}

/** The number of messages, as a start finds them. */
async function openedBy(path: string, flags: string): Promise<number | 'refused'> {
  try {
    const store = createSqliteSessionStore({ path, flags, rooms: await stateTables() });
    try {
      return store.database.get<{ n: number }>('SELECT count(*) AS n FROM messages')?.n ?? 0;
    } finally {
      await store.close();
    }
  } catch (error) {
    assert.equal(errorCode(error), 'database-corrupt', String(error));
    return 'refused';
  }
}
