// Owns the sessions of hermes-agent's state.db as a source of evidence (core notes 2.4). Knows no table of it.
// Invariant: the file itself is never opened: a copy is read, which is gone when the source is closed.
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { copyDatabase, makeCopyFolder, removeCopies } from '#mind/sessions/transfer/hermes/copy-database.ts';
import type { HermesSession } from '#mind/sessions/transfer/hermes/hermes-session.ts';
import { type HermesDatabase, openHermesDatabase } from '#mind/sessions/transfer/hermes/state-database.ts';
import type { SessionSource, StoredSession } from '../stored-session.ts';

export interface HermesPlace {
  /** Its state.db. */
  readonly path: string;
  /** Folder for the copy. */
  readonly cache: string;
  /** Epoch ms. */
  readonly since: number;
  readonly clock: Clock;
}

/** Throws `disk-full`. */
export async function hermesSessions(place: HermesPlace): Promise<Result<SessionSource>> {
  const folder = makeCopyFolder(place.cache);
  const opened = await openCopy(place, join(folder, 'state.db')).catch((error: unknown) => {
    removeCopies(folder);
    throw error;
  });
  if (!opened.ok) {
    removeCopies(folder);
    return opened;
  }
  const database = opened.value;
  return ok({
    ...sourceOf(database, place),
    close: () => {
      database.close();
      removeCopies(folder);
    },
  });
}

async function openCopy(place: HermesPlace, to: string): Promise<Result<HermesDatabase>> {
  const copied = await copyDatabase(place.path, to, place.clock);
  if (!copied.ok) return copied;
  try {
    return openHermesDatabase(copied.value);
  } catch (error) {
    const code = errorCode(error);
    if (!code?.startsWith('database-')) throw error;
    return refuse(code, `${place.path} cannot be read (${errorText(error).replaceAll(to, 'its copy')})`);
  }
}

function sourceOf(database: HermesDatabase, { path, since }: HermesPlace): Omit<SessionSource, 'close'> {
  const sessions = [...database.lastActive()];
  const young = sessions.filter(([, at]) => !(at < since));
  return {
    kind: 'hermes-database',
    path,
    candidates: young.map(([id, at]) => ({
      id: String(id),
      at: Number.isFinite(at) ? at : 0,
      read: () => ok(storedSession(database.session(id))),
    })),
    old: sessions.length - young.length,
  };
}

/** What was taken back there does not count. */
export function storedSession({ session, messages }: HermesSession): StoredSession {
  const { id, source, startedAt, lastActiveAt } = session;
  return {
    ...{ id: String(id), platform: String(source), startedAt, lastActiveAt, open: false, observed: false },
    messages: messages.filter(({ state }) => state !== 'rewound'),
  };
}
