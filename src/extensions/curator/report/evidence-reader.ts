// Owns the question that a report puts to the evidence. Knows no database.
import type { EvidenceRow, EvidenceSummary, TurnRow } from './evidence.ts';

export interface EvidenceWindow {
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
