// Owns the rows of evidence and of a report as data, in the spelling that every reader of the JSON knows (curator notes 2, 5). No code
// but a symbol for where a row stands in the ledger, which no report, block or JSON prints: of two rows of one second the larger is the newer.

export const LEDGER_ORDER: unique symbol = Symbol('order in the ledger');

/** A tool call as a report shows it. */
export interface EvidenceRow {
  /** UTC ISO, whole seconds, `+00:00`. */
  readonly created_at: string;
  readonly session_id: string;
  readonly task_id: string;
  readonly tool_name: string;
  readonly duration_ms: number | null;
  readonly is_error: number;
  readonly skill_name: string | null;
  readonly args_json: string;
  readonly result_preview: string;
  /** Of a row out of the ledger; never printed. */
  readonly [LEDGER_ORDER]?: number;
}

export interface TurnRow {
  readonly created_at: string;
  readonly session_id: string;
  readonly model: string;
  readonly platform: string;
  readonly user_preview: string;
  readonly assistant_preview: string;
}

export interface SkillTally {
  readonly skill_name: string;
  readonly event_count: number;
  readonly errors: number;
}

export interface ToolTally {
  readonly tool_name: string;
  readonly event_count: number;
  readonly errors: number;
}

/** The three counts that a managed block shows. */
export interface SkillCounts {
  readonly tool_events: number;
  readonly skill_events: number;
  readonly error_events: number;
}

export interface EvidenceSummary extends SkillCounts {
  /** Of the window; a skill filter is not applied. */
  readonly turn_events: number;
  readonly session_events: number;
  readonly skills: readonly SkillTally[];
  readonly tools: readonly ToolTally[];
}

export interface EvidenceReport {
  readonly title: string;
  readonly read_only: true;
  readonly db_path: string;
  readonly filters: { readonly days: number; readonly skill: string | null };
  readonly summary: EvidenceSummary;
  readonly skill_evidence: readonly EvidenceRow[];
  readonly recent_turns: readonly TurnRow[];
  readonly recommendation_policy: {
    readonly v0_1: 'report_only';
    readonly mutation: 'not_supported';
    readonly next_steps: readonly string[];
  };
}
