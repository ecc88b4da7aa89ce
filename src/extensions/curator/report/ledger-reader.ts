// Owns answering a report's question from evidence.sqlite. Knows no SQL: the ledger's room has it. Invariant: reads only, and never more
// rows than were asked for.
import type { Database } from '#base/database/connection.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import {
  countEventsSince,
  countToolEvents,
  failedToolEvents,
  newestToolEvents,
  newestTurnEvents,
  type ToolEventRow,
  tallySkills,
  tallyTools,
} from '#mind/evidence/ledger/event-report.ts';
import { type EvidenceRow, type EvidenceSummary, LEDGER_ORDER, type TurnRow } from './evidence.ts';

interface EvidenceWindow {
  /** Rows from this time on, compared as text in the form of `created_at`. */
  readonly since: string;
  /** One skill, or null for all. */
  readonly skill: string | null;
}

export interface EvidenceReader {
  /** Counts of the window; `skills` and `tools` by events, then by name, at most `top` of each. */
  summary(window: EvidenceWindow, top: number): EvidenceSummary;
  /** Newest tool calls first. */
  evidence(window: EvidenceWindow, limit: number): readonly EvidenceRow[];
  /** The newest calls that failed, 500 at most, and those of the same sessions and tools that went well afterwards. */
  failures(window: EvidenceWindow): readonly EvidenceRow[];
  /** Newest turns first, of every skill. */
  turns(window: EvidenceWindow, limit: number): readonly TurnRow[];
}

const MOST_FAILED = 500;

export function ledgerReader(database: Database, options: CompatOptions = {}): EvidenceReader {
  return {
    summary: (window, top) => {
      const { events, errors, ofSkills } = countToolEvents(database, window, options);
      const counts = ({ events: event_count, errors }: { readonly events: number; readonly errors: number }) => ({
        event_count,
        errors,
      });
      const cut = { top, ...options };
      return {
        tool_events: events,
        error_events: errors,
        skill_events: ofSkills,
        turn_events: countEventsSince(database, 'turn_events', window.since),
        session_events: countEventsSince(database, 'session_events', window.since),
        skills: tallySkills(database, window, cut).map((row) => ({ skill_name: row.name, ...counts(row) })),
        tools: tallyTools(database, window, cut).map((row) => ({ tool_name: row.name, ...counts(row) })),
      };
    },
    evidence: (window, limit) => newestToolEvents(database, window, { limit, ...options }).map(inOrder),
    failures: (window) => failedToolEvents(database, window, { limit: MOST_FAILED, ...options }).map(inOrder),
    turns: (window, limit) => newestTurnEvents(database, window.since, limit).map((row): TurnRow => ({ ...row })),
  };
}

function inOrder({ id, ...row }: ToolEventRow): EvidenceRow {
  return { ...row, [LEDGER_ORDER]: id };
}
