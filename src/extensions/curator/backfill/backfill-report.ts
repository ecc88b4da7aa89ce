// Owns what a filling-in of evidence reports: the original's counts (curator notes 4), ours beside them, and the lines for a person.
// Knows no source. Invariant: numbers only grow while it is filled.
import { plural } from '#base/text.ts';
import type { SourceKind } from './stored-session.ts';

interface SessionCounts {
  readonly sessions_seen: number;
  /** With something new in them. */
  readonly sessions_imported: number;
  readonly sessions_skipped_old: number;
  /** Sessions that could not be read. */
  readonly files_failed: number;
  readonly tool_events_imported: number;
  readonly turn_events_imported: number;
  readonly session_events_imported: number;
}

/** A session that several sources hold is counted in each of them. */
export interface SourceReport extends SessionCounts {
  readonly source: SourceKind;
  readonly path: string;
}

/** A session that several sources hold is counted once. */
export interface BackfillReport extends SessionCounts {
  readonly sessions_dir: string;
  readonly db_path: string;
  readonly days: number;
  readonly limit: number | null;
  /** The folder `sessions_dir` does not exist. */
  readonly missing?: true;
  readonly sources: readonly SourceReport[];
  /** What a person should know: what was not read and why. */
  readonly notes: readonly string[];
}

export type Counts = { -readonly [Name in keyof SessionCounts]: number };

export function noCounts(): Counts {
  return {
    sessions_seen: 0,
    sessions_imported: 0,
    sessions_skipped_old: 0,
    files_failed: 0,
    tool_events_imported: 0,
    turn_events_imported: 0,
    session_events_imported: 0,
  };
}

const NAMES: Readonly<Record<SourceKind, string>> = {
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

/** `3 tool calls, 2 turns, 1 session end`. */
export function addedLine(counts: SessionCounts): string {
  const { tool_events_imported: tools, turn_events_imported: turns, session_events_imported: ends } = counts;
  return `${plural(tools, 'tool call')}, ${plural(turns, 'turn')}, ${plural(ends, 'session end')}`;
}

function countsLine(counts: SessionCounts): string {
  const { sessions_seen: seen, sessions_imported: taken, sessions_skipped_old: old, files_failed: failed } = counts;
  const parts = [`${plural(seen, 'session')}, ${taken} with something new`];
  if (old > 0) parts.push(`${old} before the window`);
  if (failed > 0) parts.push(`${failed} unreadable`);
  return parts.join(', ');
}
