// Owns answering a report's question from rows in memory (curator notes 5). Pure. Ours counts a call for the skill that was active and
// breaks ties of time by the ledger's order, of plain data by content, so that the order of the input does not matter; the original counts
// calls that name a skill.
import { canonicalJson, type JsonValue } from '#base/json.ts';
import { comparePoints } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import type { EvidenceRow, EvidenceSummary, TurnRow } from './evidence.ts';
import type { EvidenceReader, EvidenceWindow } from './evidence-reader.ts';
import { LEDGER_ORDER } from './ledger-order.ts';

/** A row of the ledger: with the skill that was active and the original's verdict where they are kept. */
export interface LedgerRow extends EvidenceRow {
  readonly active_skill?: string | null;
  readonly is_error_upstream?: number;
}

export interface EvidenceRows {
  readonly tools: readonly LedgerRow[];
  readonly turns: readonly TurnRow[];
  readonly sessions: readonly { readonly created_at: string }[];
}

export function rowsReader(rows: EvidenceRows, options: CompatOptions = {}): EvidenceReader {
  const upstream = options.compat === 'upstream';
  const tools = rows.tools.map((row) => shownRow(row, upstream));
  const inWindow = ({ since, skill }: EvidenceWindow) =>
    tools.filter((row) => row.created_at >= since && (skill === null || row.skill_name === skill));
  const after = <Row extends { readonly created_at: string }>(list: readonly Row[], since: string) =>
    list.filter((row) => row.created_at >= since);
  return {
    summary: (window, top) => ({
      ...tally(inWindow(window), top),
      turn_events: after(rows.turns, window.since).length,
      session_events: after(rows.sessions, window.since).length,
    }),
    evidence: (window, limit) => newestFirst(inWindow(window), upstream).slice(0, limit),
    turns: (window, limit) => newestFirst(after(rows.turns, window.since), upstream).slice(0, limit),
  };
}

function shownRow(row: LedgerRow, upstream: boolean): EvidenceRow {
  const { active_skill: active = null, is_error_upstream: theirs = row.is_error, ...plain } = row;
  if (upstream) return { ...plain, is_error: theirs };
  return { ...plain, skill_name: plain.skill_name ?? active };
}

/** Newest first. Of one time: as given for the original; for ours as in the ledger, newest first, and plain data behind that by content. */
export function newestFirst<Row extends { readonly created_at: string; readonly [LEDGER_ORDER]?: number }>(
  rows: readonly Row[],
  upstream: boolean,
): readonly Row[] {
  const keyed = rows.map((row) => ({
    row,
    order: upstream ? 0 : (row[LEDGER_ORDER] ?? 0),
    key: upstream ? '' : canonicalJson(row as unknown as JsonValue),
  }));
  return keyed
    .sort(
      (a, b) => comparePoints(b.row.created_at, a.row.created_at) || b.order - a.order || comparePoints(a.key, b.key),
    )
    .map(({ row }) => row);
}

type Counted = Omit<EvidenceSummary, 'turn_events' | 'session_events'>;

function tally(rows: readonly EvidenceRow[], top: number): Counted {
  const bySkill = countBy(rows, (row) => row.skill_name);
  const byTool = countBy(rows, (row) => row.tool_name);
  return {
    tool_events: rows.length,
    skill_events: rows.filter((row) => row.skill_name !== null).length,
    error_events: rows.reduce((sum, row) => sum + Number(row.is_error), 0),
    skills: bySkill.slice(0, top).map(([skill_name, counts]) => ({ skill_name, ...counts })),
    tools: byTool.slice(0, top).map(([tool_name, counts]) => ({ tool_name, ...counts })),
  };
}

interface Counts {
  readonly event_count: number;
  readonly errors: number;
}

function countBy(
  rows: readonly EvidenceRow[],
  nameOf: (row: EvidenceRow) => string | null,
): readonly (readonly [string, Counts])[] {
  const counts = new Map<string, { event_count: number; errors: number }>();
  for (const row of rows) {
    const name = nameOf(row);
    if (name === null) continue;
    const entry = counts.get(name) ?? { event_count: 0, errors: 0 };
    entry.event_count += 1;
    entry.errors += Number(row.is_error);
    counts.set(name, entry);
  }
  return [...counts].sort(([a, x], [b, y]) => y.event_count - x.event_count || comparePoints(a, b));
}
