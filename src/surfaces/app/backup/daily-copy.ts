// Owns the copies of state.db that are taken once a day, so that there is a good state to go back to. Knows no table.
// Invariant: a copy is whole or not there; only what was found whole is kept, and the three newest stay.
import { mkdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, localDay } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { damagedError, isSuspect, rememberDamage } from '#base/database/damage.ts';
import { openDatabase } from '#base/database.ts';
import { dailyCopies, type Home } from '../home/home.ts';
import type { Place } from '../place.ts';

const KEPT = 3;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A larger file is not copied while somebody waits for the end of the program; up to here it takes moments. */
const COPIED_AT_THE_END = 16 * 1024 ** 2;

/** After the first turn: a large file that a crashed process had open is looked at; once a day a copy is taken. */
export async function careForState({ background, notice, home, clock, rooms, options }: Place): Promise<void> {
  const { database, unchecked } = await rooms.door('sessions');
  if (database.readOnly) return;
  const { signal } = background;
  const found = unchecked && (await database.findDamageSlowly(signal));
  if (found !== undefined) {
    rememberDamage(database.path, found);
    const next = 'the next start asks what to do, `talaria repair` says what can be done';
    notice(`${database.path} is damaged (${found}); ${next}`);
    return;
  }
  unchecked?.();
  const isSmall = statSync(database.path).size <= COPIED_AT_THE_END;
  if (options.oneShot && !isSmall) return;
  await keepDailyCopy({ home, database, clock }, isSmall ? new AbortController().signal : signal);
}

type CopyGround = Pick<Place, 'home' | 'clock'> & { readonly database: Database };

/** Gives the copy, or undefined when none is due. Throws TalariaError `database-corrupt`: the older copies stay. */
export async function keepDailyCopy(
  { home, database, clock }: CopyGround,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (database.readOnly || isSuspect(database.path) || !isDue(home, clock) || !hasRoom(database.path)) return undefined;
  const folder = home.dailyCopies;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `state-${localDay(clock.now())}.db`);
  const fresh = `${file}.fresh`;
  try {
    await database.copySlowly(fresh, signal);
    await refuseDamaged(database.path, fresh, signal);
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
  const others = dailyCopies(home).filter((other) => other !== file);
  for (const old of others.slice(KEPT - 1)) rmSync(old, { force: true });
  return file;
}

/** A date that lies ahead, of a clock that went back, holds nothing up. */
function isDue(home: Home, clock: Clock): boolean {
  return dailyCopies(home).every((file) => Math.abs(clock.now() - statSync(file).mtimeMs) >= DAY_MS);
}

function hasRoom(path: string): boolean {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize > 3 * statSync(path).size;
}

/** What is damaged in the copy is damaged in the file. */
async function refuseDamaged(path: string, copy: string, signal: AbortSignal): Promise<void> {
  const { database } = openDatabase(copy, { rooms: [], readOnly: true, onCorrupt: 'throw' });
  try {
    const found = await database.findDamageSlowly(signal);
    if (found === undefined) return;
    rememberDamage(path, found);
    throw damagedError(path, found);
  } finally {
    database.abandon();
  }
}
