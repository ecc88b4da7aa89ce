// Owns `backfill-sessions`: which stored sessions are read into the evidence, and what is said about it: the original's counts, ours beside them, and
// the lines for a person (curator notes 4).
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import { type Result, refuse } from '#base/result.ts';
import { redactSecrets } from '#base/secrets.ts';
import { plural } from '#base/text.ts';
import type { Places } from '#core/agent/room.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { DAY_MS } from '../report.ts';
import { type BackfillSources, soundLedger } from './ensure-evidence.ts';
import { addedLine, fillEvidence, type SessionCounts } from './fill-evidence.ts';
import { fileSessions, hermesSessions, ownSessions, type SessionSource } from './session-sources.ts';

export interface BackfillOptions {
  /** Folder of `session_*.json`; default `sessions` of the home, if there. */
  readonly sessionsDir?: string | undefined;
  /** hermes-agent's state.db; default the one beside `sessionsDir`. */
  readonly hermesState?: string | undefined;
  readonly days: number;
  /** The newest so many of the window; not positive: all. */
  readonly limit?: number | undefined;
}

export type BackfillReport = Awaited<ReturnType<typeof backfillSessions>>;

/** Throws `newer-schema`, `disk-full`, `database-locked`, and the signal's reason. */
export async function backfillSessions(from: BackfillSources, asked: BackfillOptions, signal: AbortSignal) {
  const { mind, places, clock } = from;
  const ledger = soundLedger(mind.evidence);
  if (ledger.readOnly)
    throw new TalariaError(`${ledger.path} was written by a newer version of Talaria; nothing can be filled in`, {
      code: 'newer-schema',
      fix: 'Update Talaria.',
    });
  const days = Math.min(3650, Math.max(1, Math.trunc(Number.isFinite(asked.days) ? asked.days : 30)));
  const now = clock.now();
  const since = now - days * DAY_MS;
  const limit = asked.limit !== undefined && asked.limit >= 1 ? Math.floor(asked.limit) : undefined;
  const sessionsDir = resolve(asked.sessionsDir ?? join(places.home, 'sessions'));
  const { sources, missing, notes } = await findSources(from, asked, sessionsDir, since);
  try {
    const place = { ledger: mind.evidence, redact: mind.redact ?? redactSecrets, now, since, limit };
    const filled = await fillEvidence(sources, place, signal);
    return {
      ...{ sessions_dir: sessionsDir, db_path: ledger.path, days, limit: limit ?? null, ...filled.total },
      ...(missing ? { missing } : {}),
      sources: filled.sources,
      /** What a person should know: what was not read and why. */
      notes: [...notes, ...filled.problems],
    };
  } finally {
    for (const source of sources) source.close();
  }
}

async function findSources(
  { mind, places, clock }: BackfillSources,
  asked: BackfillOptions,
  sessionsDir: string,
  since: number,
) {
  const sources: SessionSource[] = [ownSessions(mind.state, since, clock)];
  const notes: string[] = [];
  const path = resolve(asked.hermesState ?? join(dirname(sessionsDir), 'state.db'));
  const hermes = await foreignSessions(path, { mind, places, clock }, since);
  if (hermes.ok) sources.push(hermes.value);
  else if (asked.hermesState !== undefined || hermes.reason === 'unreadable') notes.push(hermes.detail);
  const missing = !existsSync(sessionsDir);
  const files = fileSessions(sessionsDir);
  if (files.ok) sources.push(files.value);
  const unreadable = files.ok || missing ? [] : [`${sessionsDir} cannot be read: ${files.detail}`];
  return { sources, missing, notes: [...notes, ...unreadable, ...unread(places, asked)] };
}

/** Refused as `unreadable` it is hermes-agent's all the same. */
async function foreignSessions(
  path: string,
  { mind, places, clock }: BackfillSources,
  since: number,
): Promise<Result<SessionSource>> {
  if (!existsSync(path)) return refuse('missing', `there is no file ${path}`);
  if (realPath(path) === realPath(mind.state.path))
    return refuse('own', `${path} is Talaria's own, which is always read`);
  const source = await hermesSessions(path, join(places.home, 'cache'), since, clock);
  return source.ok || source.reason === 'not-hermes' ? source : refuse('unreadable', source.detail);
}

/** hermes-agent's home is somebody else's: it is read when it is named, and named here so that nobody wonders. */
function unread({ userHome }: Places, { sessionsDir, hermesState }: BackfillOptions): readonly string[] {
  if (sessionsDir !== undefined) return [];
  const hermes = join(userHome, '.hermes');
  const folder = join(hermes, 'sessions');
  const state = join(hermes, 'state.db');
  if (existsSync(folder)) return [`not read: ${folder}; to read it add --sessions-dir ${folder}`];
  return hermesState === undefined && existsSync(state)
    ? [`not read: ${state}; to read it add --hermes-state ${state}`]
    : [];
}

const NAMES: Readonly<Record<SessionSource['kind'], string>> = {
  talaria: 'own sessions',
  'hermes-database': 'hermes-agent database',
  'session-files': 'session files',
};

export function reportLines(report: BackfillReport): readonly string[] {
  const window = `last ${plural(report.days, 'day')}${report.limit === null ? '' : `, newest ${report.limit}`}`;
  return [
    `evidence filled in from stored sessions (${window})`,
    ...report.sources.map((source) => `  ${NAMES[source.source]}: ${countsLine(source)}`),
    ...(report.missing ? [`  ${NAMES['session-files']}: there is no folder ${report.sessions_dir}`] : []),
    `added: ${addedLine(report)}`,
    `evidence: ${report.db_path}`,
    ...report.notes,
  ];
}

function countsLine(counts: SessionCounts): string {
  const { sessions_seen: seen, sessions_imported: taken, sessions_skipped_old: old, files_failed: failed } = counts;
  const parts = [`${plural(seen, 'session')}, ${taken} with something new`];
  if (old > 0) parts.push(`${old} before the window`);
  if (failed > 0) parts.push(`${failed} unreadable`);
  return parts.join(', ');
}
