// Owns what can be done about a damaged state.db: saving what can be read, bringing a copy back, starting empty. Decides nothing by itself.
// Invariant: the file that stood there is kept, whatever is chosen; until the chosen one stands whole in its place, nothing is started empty.
import { chmodSync, copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { forgetDamage, quarantine, rememberDamage, rememberedDamage } from '#base/database/damage.ts';
import { removeAll, type SalvagedTable, salvage } from '#base/database/salvage.ts';
import { logDamage } from '#base/database/write-log.ts';
import { goneAway, openDatabase } from '#base/database.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { DERIVED_TABLES, type Mended, mendSalvaged } from '#mind/sessions/mend-salvaged.ts';
import { sealKeyPath } from '#mind/sessions/message-rows.ts';
import { sessionSchema } from '#mind/sessions/session-schema.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { dailyCopies, type Home } from '../home/home.ts';
import { stateTables, stateTraces } from '../rooms.ts';

export interface StateCopy {
  readonly file: string;
  /** Epoch ms. */
  readonly at: number;
  readonly bytes: number;
  readonly sessions: number;
  readonly messages: number;
}

/** What is wrong with state.db; undefined: nothing. Reads all of it, and changes nothing. */
export function stateDamage(home: Home): string | undefined {
  const path = home.stateDatabase;
  const gone = goneState(home);
  if (gone !== undefined) return gone;
  if (!existsSync(path)) return ['-wal', '.suspect'].some((part) => existsSync(path + part)) ? 'it is gone' : undefined;
  const log = rememberedDamage(path) ?? logDamage(path);
  if (log !== undefined) return log;
  try {
    const { database } = openDatabase(path, { rooms: [], readOnly: true, onCorrupt: 'throw' });
    try {
      return database.findDamage();
    } finally {
      database.abandon();
    }
  } catch (error) {
    if (error instanceof TalariaError && error.code === 'database-corrupt') return errorText(error);
    throw error;
  }
}

/** Is it gone, or empty, where it was before? */
export function goneState(home: Home): string | undefined {
  return goneAway(home.stateDatabase, () => stateTraces(home));
}

/** Good copies of state.db that this home has, the newest first. */
export function goodCopies(home: Home): readonly StateCopy[] {
  const folder = dirname(home.stateDatabase);
  const start = `${basename(home.stateDatabase)}.before-`;
  const before = readdirSync(folder).filter((name) => name.startsWith(start) && !/-(?:wal|shm)$|\.partial$/.test(name));
  const files = [...dailyCopies(home), ...before.map((name) => join(folder, name))];
  return files.flatMap((file) => lookAt(file) ?? []).sort((a, b) => b.at - a.at);
}

/** Undefined: it is not whole. */
function lookAt(file: string): StateCopy | undefined {
  const { size, mtimeMs } = statSync(file);
  try {
    const { database } = openDatabase(file, { rooms: [], readOnly: true, onCorrupt: 'throw' });
    try {
      if (database.findDamage() !== undefined) return undefined;
      const count = (table: string) => database.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)?.n ?? 0;
      return { file, at: mtimeMs, bytes: size, sessions: count('sessions'), messages: count('messages') };
    } finally {
      database.abandon();
    }
  } catch (error) {
    if (error instanceof TalariaError) return undefined;
    throw error;
  }
}

export interface Repaired {
  /** Where the file that stood there is now; absent: there was none. */
  readonly aside?: string;
}

export interface Salvaged extends Repaired, Mended {
  readonly tables: readonly SalvagedTable[];
}

/** Throws TalariaError `nothing-readable`; state.db is then as it was. */
export async function salvageState(home: Home, clock: Clock): Promise<Salvaged> {
  const from = damagedFile(home);
  if (from === undefined) throw nothingReadable(home, `${home.stateDatabase} is not there, and none was set aside`);
  const made = freshFile(home);
  const others = await stateTables();
  try {
    const rooms = [sessionSchema, ...others];
    const tables = salvage(from, made, { rooms, derived: DERIVED_TABLES, clock });
    const store = createSqliteSessionStore({ path: made, clock, rooms: others });
    const mended = await mendSalvaged(store).finally(() => store.close());
    // Without one conversation it would only stand in the way of a copy that has some.
    if (mended.sessions === 0 && goodCopies(home).some(({ sessions }) => sessions > 0))
      throw new TalariaError(`no session and no message of ${from} can be read`, { code: 'nothing-readable' });
    return { ...putInPlace(home, made, clock), ...mended, tables };
  } catch (error) {
    throw errorCode(error) === 'nothing-readable' ? nothingReadable(home, errorText(error)) : error;
  } finally {
    removeAll(made);
    rmSync(sealKeyPath(made), { force: true });
  }
}

/** Throws TalariaError `copy-damaged`, `no-such-file`; state.db is then as it was. A whole one is kept as one more copy. */
export function restoreState(home: Home, copy: string, clock: Clock): Repaired {
  if (!existsSync(copy)) throw new TalariaError(`there is no file ${copy}`, { code: 'no-such-file', fix: LIST });
  if (lookAt(copy) === undefined)
    throw new TalariaError(`${copy} is damaged too, or holds no sessions`, { code: 'copy-damaged', fix: LIST });
  const why = stateDamage(home) === undefined ? 'before' : 'corrupt';
  const made = freshFile(home);
  try {
    for (const part of ['', '-wal']) if (existsSync(copy + part)) copyFileSync(copy + part, made + part);
    // Takes in what a log beside the copy holds.
    openDatabase(made, { rooms: [], onCorrupt: 'throw', clock }).database.close();
    return putInPlace(home, made, clock, why);
  } finally {
    removeAll(made);
    rmSync(sealKeyPath(made), { force: true });
  }
}

const LIST = '`talaria repair` lists the copies that are whole.';

/** An empty database, so that no start asks again where the old one is. */
export async function startEmpty(home: Home, clock: Clock): Promise<Repaired> {
  const made = freshFile(home);
  try {
    await createSqliteSessionStore({ path: made, clock, rooms: await stateTables() }).close();
    return putInPlace(home, made, clock);
  } finally {
    removeAll(made);
    rmSync(sealKeyPath(made), { force: true });
  }
}

/** Is there anything to be saved from? */
export function canSalvage(home: Home): boolean {
  return damagedFile(home) !== undefined;
}

/** The damaged file: in its place, or the last one that was set aside when nothing stands there. */
function damagedFile({ stateDatabase: path }: Home): string | undefined {
  if (['', '-wal'].some((part) => (statSync(path + part, { throwIfNoEntry: false })?.size ?? 0) > 0)) return path;
  const start = `${basename(path)}.corrupt-`;
  const aside = readdirSync(dirname(path)).filter((name) => name.startsWith(start) && !/-(?:wal|shm)$/.test(name));
  const last = aside.sort().at(-1);
  return last === undefined ? undefined : join(dirname(path), last);
}

function freshFile(home: Home): string {
  const made = `${home.stateDatabase}.new`;
  removeAll(made);
  const key = sealKeyPath(home.stateDatabase);
  if (existsSync(key)) copyFileSync(key, sealKeyPath(made));
  return made;
}

/** The mark refuses every opening until the new file stands in its place. */
function putInPlace(home: Home, made: string, clock: Clock, why: 'corrupt' | 'before' = 'corrupt'): Repaired {
  const path = home.stateDatabase;
  chmodSync(made, 0o600);
  rememberDamage(path, 'its repair was interrupted');
  const isThere = existsSync(path) || existsSync(`${path}-wal`);
  const aside = isThere ? quarantine(path, clock, why) : undefined;
  renameSync(made, path);
  rmSync(sealKeyPath(made), { force: true });
  syncFolder(dirname(path));
  forgetDamage(path);
  return aside === undefined ? {} : { aside };
}

function nothingReadable(home: Home, message: string): TalariaError {
  const copy = goodCopies(home).toSorted((a, b) => Number(b.sessions > 0) - Number(a.sessions > 0))[0];
  const fix = copy === undefined ? 'empty` starts anew' : `restore ${copy.file}\` brings a whole copy back`;
  return new TalariaError(message, { code: 'nothing-readable', fix: `Nothing was changed. \`talaria repair ${fix}.` });
}
