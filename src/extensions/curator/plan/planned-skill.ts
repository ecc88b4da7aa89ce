// Owns one skill's entry in the plan (curator notes 8.4, 8.5). Pure. Invariant: a refused entry holds the first group of fields only; a
// plan never holds a text of the evidence outside the block that it prepared.
import { sha256 } from '#base/ids.ts';
import { codeLength } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { type SelectedVariant, type VariantSummary, weighVariants } from '../block/choose-variant.ts';
import type { BlockRow } from '../block/failures.ts';
import { HARD_LIMIT, type PreparedUpdate, type SizeStrategy, SOFT_LIMIT } from '../block/prepare-update.ts';
import type { SkillCounts } from '../report/evidence.ts';
import { isWritableSource } from '../sources/classify-source.ts';
import type { Instant } from '../text/time-stamp.ts';
import type { DrillGate } from '../verify/drill-gate.ts';
import type { SkillSelection } from './select-skills.ts';

export const MUTATION_POLICY = 'bounded-managed-block-with-reference-spillover';

/** Every entry has these. */
export interface PlanLead {
  readonly skill_name: string;
  readonly risk: 'low';
  readonly mutation_policy: typeof MUTATION_POLICY;
  readonly selection: SkillSelection;
  readonly target_path: string | null;
  readonly source: string;
  readonly source_writable: boolean;
  readonly status: 'planned' | 'applied' | 'skipped';
  /** Why it was skipped, else null. */
  readonly reason: string | null;
}

export interface PreparedFields {
  readonly variants_requested: number;
  readonly variants: readonly VariantSummary[];
  readonly selected_variant: SelectedVariant;
  readonly current_sha256: string;
  readonly new_content_changed: boolean;
  readonly size_strategy: SizeStrategy;
  readonly support_files: readonly string[];
  /** In code points. */
  readonly content_size: {
    readonly current_chars: number;
    readonly updated_chars: number;
    readonly soft_limit_chars: number;
    readonly hard_limit_chars: number;
  };
  readonly evidence_summary: SkillCounts;
  readonly restore_drill_gate: DrillGate | null;
}

export type PlanEntry = PlanLead & Partial<PreparedFields>;

export interface PlanningSkill {
  readonly name: string;
  /** Absolute path of SKILL.md. */
  readonly path: string;
  readonly text: string;
  /** A word of `classifySource`. */
  readonly source: string;
  /** What speaks against it before its text is looked at: not readable, pinned by its record, refused by the door in this run. */
  readonly refusal?: string | null;
}

export function leadOf(name: string, skill: PlanningSkill | undefined, selection: SkillSelection): PlanLead {
  const source = skill?.source ?? 'missing';
  return {
    skill_name: name,
    risk: 'low',
    mutation_policy: MUTATION_POLICY,
    selection,
    target_path: skill?.path ?? null,
    source,
    source_writable: isWritableSource(source),
    status: 'planned',
    reason: null,
  };
}

export function skipped(entry: PlanEntry, reason: string, gate: DrillGate | null = null): PlanEntry {
  return { ...entry, status: 'skipped', reason, ...(gate === null ? {} : { restore_drill_gate: gate }) };
}

export interface PreparationQuestion {
  readonly lead: PlanLead;
  readonly skill: PlanningSkill;
  readonly variants: number;
  readonly days: number;
  readonly now: Instant;
  readonly evidence: { readonly summary: SkillCounts; readonly rows: readonly BlockRow[] };
}

/** The entry with all its fields, and the text that the winning variant makes. */
export function prepareEntry(
  question: PreparationQuestion,
  options: CompatOptions,
): { readonly entry: PlanEntry; readonly update: PreparedUpdate } {
  const { lead, skill, variants, days, now, evidence } = question;
  const request = { skill: skill.name, text: skill.text, variants, days, now, ...evidence };
  const { choice, winner } = weighVariants(request, options);
  const changed = winner.content !== skill.text;
  const { tool_events, skill_events, error_events } = evidence.summary;
  const prepared: PreparedFields = {
    variants_requested: variants,
    variants: choice.variants,
    selected_variant: choice.selected,
    current_sha256: sha256(skill.text),
    new_content_changed: changed,
    size_strategy: winner.sizeStrategy,
    support_files: winner.supportFiles.map(({ path }) => path),
    content_size: {
      current_chars: codeLength(skill.text),
      updated_chars: codeLength(winner.content),
      soft_limit_chars: SOFT_LIMIT,
      hard_limit_chars: HARD_LIMIT,
    },
    evidence_summary: { tool_events, skill_events, error_events },
    restore_drill_gate: null,
  };
  const entry: PlanEntry = { ...lead, ...prepared };
  const unchanged = options.compat !== 'upstream' && !changed ? 'managed-block-unchanged' : null;
  const reason = winner.skippedReason ?? unchanged;
  return { entry: reason === null ? entry : skipped(entry, reason), update: winner };
}
