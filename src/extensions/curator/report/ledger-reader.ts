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
import type { EvidenceRow, TurnRow } from './evidence.ts';
import type { EvidenceReader } from './evidence-reader.ts';
import { LEDGER_ORDER } from './ledger-order.ts';

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
