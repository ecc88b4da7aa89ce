// Owns `backfill-sessions`: which stored sessions are read into the evidence, and what is said about it (curator notes 4). Knows no format.
// Invariants: what it reads it never changes; no model is called; running it again adds nothing; no skill is touched.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { Redact } from '#mind/evidence/redact-json.ts';
import type { CuratorMind, CuratorPlaces } from '../curator-ground.ts';
import type { BackfillReport } from './backfill-report.ts';
import { fillEvidence } from './fill-evidence.ts';
import { soundLedger } from './kept-aside.ts';
import { fileSessions } from './sources/file-sessions.ts';
import { hermesSessions } from './sources/hermes-sessions.ts';
import { ownSessions } from './sources/own-sessions.ts';
import type { SessionSource } from './stored-session.ts';

export interface BackfillSources {
  readonly mind: Pick<CuratorMind, 'state' | 'evidence'>;
  readonly places: CuratorPlaces;
  readonly clock: Clock;
  /** Default: key-shaped strings. */
  readonly redact?: Redact;
}

export interface BackfillOptions {
  /** Folder of `session_*.json`; default `sessions` of the home, if there. */
  readonly sessionsDir?: string;
  /** hermes-agent's state.db; default the one beside `sessionsDir`. */
  readonly hermesState?: string;
  /** Clamped to 1..3650. */
  readonly days: number;
  /** The newest so many of the window; not positive: all. */
  readonly limit?: number;
}

const DAY_MS = 86_400_000;

/** Throws `newer-schema`, `disk-full`, `database-locked`, and the signal's reason. */
export async function backfillSessions(
  sources: BackfillSources,
  options: BackfillOptions,
  signal: AbortSignal,
): Promise<BackfillReport> {
  const ledger = writableLedger(sources.mind);
  const days = clampDays(options.days);
  const now = sources.clock.now();
  const since = now - days * DAY_MS;
  const limit = options.limit !== undefined && options.limit >= 1 ? Math.floor(options.limit) : undefined;
  const sessionsDir = resolve(options.sessionsDir ?? join(sources.places.home, 'sessions'));
  const found = await findSources(sources, { options, sessionsDir, since });
  try {
    const place = { ledger: sources.mind.evidence, redact: sources.redact ?? redactSecrets, now, since, limit };
    const filled = await fillEvidence(found.sources, place, signal);
    return {
      ...{ sessions_dir: sessionsDir, db_path: ledger.path, days, limit: limit ?? null, ...filled.total },
      ...(found.missing ? { missing: true } : {}),
      sources: filled.sources,
      notes: [...found.notes, ...filled.problems],
    };
  } finally {
    for (const source of found.sources) source.close();
  }
}

function clampDays(days: number): number {
  return Number.isFinite(days) ? Math.min(3650, Math.max(1, Math.trunc(days))) : 30;
}

function writableLedger(mind: BackfillSources['mind']): Database {
  const ledger = soundLedger(mind.evidence);
  if (!ledger.readOnly) return ledger;
  throw new TalariaError(`${ledger.path} was written by a newer version of Talaria; nothing can be filled in`, {
    code: 'newer-schema',
    fix: 'Update Talaria.',
  });
}

interface Asked {
  readonly options: BackfillOptions;
  readonly sessionsDir: string;
  readonly since: number;
}

interface Found {
  readonly sources: SessionSource[];
  readonly notes: string[];
  missing: boolean;
}

async function findSources(from: BackfillSources, asked: Asked): Promise<Found> {
  const own = ownSessions(from.mind.state, { since: asked.since, clock: from.clock });
  const found: Found = { sources: [own], notes: [], missing: false };
  await addHermes(found, from, asked);
  addFiles(found, asked.sessionsDir);
  if (asked.options.sessionsDir === undefined) found.notes.push(...unread(from.places, asked.options));
  return found;
}

async function addHermes(found: Found, { mind, places, clock }: BackfillSources, asked: Asked): Promise<void> {
  const { options, sessionsDir, since } = asked;
  const path = resolve(options.hermesState ?? join(dirname(sessionsDir), 'state.db'));
  const named = options.hermesState !== undefined;
  if (!existsSync(path)) {
    if (named) found.notes.push(`there is no file ${path}`);
    return;
  }
  if (isSameFile(path, mind.state.path)) {
    if (named) found.notes.push(`${path} is Talaria's own, which is always read`);
    return;
  }
  const source = await hermesSessions({ path, cache: join(places.home, 'cache'), since, clock });
  if (source.ok) found.sources.push(source.value);
  else if (named || source.reason !== 'not-hermes') found.notes.push(source.detail);
}

function addFiles(found: Found, folder: string): void {
  found.missing = !existsSync(folder);
  if (found.missing) return;
  const source = fileSessions(folder);
  if (source.ok) found.sources.push(source.value);
  else found.notes.push(`${folder} cannot be read: ${source.detail}`);
}

/** hermes-agent's home is somebody else's: it is read when it is named, and named here so that nobody wonders. */
function unread({ userHome }: CuratorPlaces, { hermesState }: BackfillOptions): readonly string[] {
  const hermes = join(userHome, '.hermes');
  const folder = join(hermes, 'sessions');
  const state = join(hermes, 'state.db');
  if (existsSync(folder)) return [`not read: ${folder}; to read it add --sessions-dir ${folder}`];
  return hermesState === undefined && existsSync(state)
    ? [`not read: ${state}; to read it add --hermes-state ${state}`]
    : [];
}

function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch (error) {
    throw new TalariaError(`${one} cannot be looked at: ${errorText(error)}`, {
      code: 'file-unreadable',
      cause: error,
    });
  }
}
