// Owns what a plan holds: one skill's entry, and the whole as it is printed and stored (curator notes 8.4, 8.5, schema 0.8).
import { sha256 } from '#base/ids.ts';
import { codeLength } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-value.ts';
import { HARD_LIMIT, type PreparedUpdate, SOFT_LIMIT, weighVariants } from '../block/prepare-update.ts';
import { isWritableSource } from '../block/skill-source.ts';
import type { EvidenceRow, SkillCounts, SkillTally } from '../report.ts';
import type { SearchResult } from '../skill-search.ts';
import type { Instant } from '../text.ts';
import type { DrillGate } from './drill.ts';
import { CORE_PATTERNS, type RunFlags } from './run-flags.ts';

export interface PlanningSkill {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly source: string;
  /** What speaks against it before its text is looked at: not readable, pinned by its record, refused by the door in this run. */
  readonly refusal?: string | null;
}

export interface SkillReport {
  readonly summary: SkillCounts;
  readonly skill_evidence: readonly EvidenceRow[];
}

export interface SelectedSkill {
  readonly tally: SkillTally;
  readonly selection: {
    readonly source: string;
    readonly score: number;
    readonly reasons: readonly string[];
    readonly embedding_score?: number | null;
  };
}

/** How skills were chosen. */
export type Selection = Pick<SearchResult, 'models'> &
  Partial<Pick<SearchResult, 'model_executed' | 'reranker_executed' | 'error'>> & {
    readonly mode: string;
    readonly semantic_requested: boolean;
    readonly rerank_requested: boolean;
    readonly eligible_skill_count: number;
    readonly query_preview?: string;
    readonly fallback?: string;
  };

type Lead = ReturnType<typeof leadOf>;
/** What every entry has, and what one has whose text was looked at. */
export type PlanEntry = Lead & Partial<ReturnType<typeof preparedFields>>;

/** `reason`: why it was skipped, else null. */
export function leadOf({ tally, selection }: SelectedSkill, skill: PlanningSkill | undefined) {
  const source = skill?.source ?? 'missing';
  return {
    skill_name: tally.skill_name,
    risk: 'low',
    mutation_policy: 'bounded-managed-block-with-reference-spillover',
    selection,
    target_path: skill?.path ?? null,
    source,
    source_writable: isWritableSource(source),
    status: 'planned' as 'planned' | 'applied' | 'skipped',
    reason: null as string | null,
  } as const;
}

export function skipped(entry: PlanEntry, reason: string, gate: DrillGate | null = null): PlanEntry {
  return { ...entry, status: 'skipped', reason, ...(gate === null ? {} : { restore_drill_gate: gate }) };
}

interface Preparation {
  readonly variants: number;
  readonly days: number;
  readonly now: Instant;
  readonly report: SkillReport;
}

export function prepareEntry(
  lead: Lead,
  skill: PlanningSkill,
  asked: Preparation,
  options: CompatOptions,
): { readonly entry: PlanEntry; readonly update: PreparedUpdate } {
  const { variants, days, now, report } = asked;
  const { summary, skill_evidence: rows } = report;
  const { name, text } = skill;
  const weighed = weighVariants({ skill: name, text, variants, days, now, summary, rows }, options);
  const entry: PlanEntry = { ...lead, ...preparedFields(text, asked, weighed) };
  const unchanged = options.compat !== 'upstream' && !entry.new_content_changed ? 'managed-block-unchanged' : null;
  const reason = weighed.winner.skippedReason ?? unchanged;
  return { entry: reason === null ? entry : skipped(entry, reason), update: weighed.winner };
}

function preparedFields(
  text: string,
  { variants, report }: Preparation,
  { choice, winner }: ReturnType<typeof weighVariants>,
) {
  const { tool_events, skill_events, error_events } = report.summary;
  return {
    variants_requested: variants,
    variants: choice.variants,
    selected_variant: choice.selected,
    current_sha256: sha256(text),
    new_content_changed: winner.content !== text,
    size_strategy: winner.sizeStrategy,
    support_files: winner.supportFiles.map(({ path }) => path),
    content_size: {
      current_chars: codeLength(text),
      updated_chars: codeLength(winner.content),
      soft_limit_chars: SOFT_LIMIT,
      hard_limit_chars: HARD_LIMIT,
    },
    evidence_summary: { tool_events, skill_events, error_events },
    restore_drill_gate: null as DrillGate | null,
  };
}

export type AutoRunPlan = ReturnType<typeof describePlan>;

export function describePlan(
  flags: RunFlags,
  gate: DrillGate,
  known: { readonly selection: Selection; readonly dbPath: string | null },
  entries: readonly PlanEntry[],
) {
  return {
    schema_version: '0.8',
    mode: flags.policy.apply ? 'apply-low-risk' : 'dry-run',
    safety: safetyOf(flags, gate),
    config: configOf(flags, known.dbPath),
    selection: known.selection,
    summary: summaryOf(entries),
    candidates: entries,
  } as const;
}

/** `planned` counts what was applied too. */
export function summaryOf(entries: readonly Pick<PlanEntry, 'status'>[]) {
  const count = (status: string) => entries.filter((entry) => entry.status === status).length;
  const applied = count('applied');
  return { planned: count('planned') + applied, applied, skipped: count('skipped') };
}

function safetyOf({ policy, checks }: RunFlags, gate: DrillGate) {
  return {
    core_modifications: false,
    writes_require_apply_low_risk: true,
    writes_require_auto_approval: true,
    protect_core_skills: policy.protectCore,
    auto_apply_policy: 'local-agent-created-skills-only',
    auto_apply_source_policy:
      'Only local skills that the agent made are written unattended; bundled, hub-installed, plugin-provided, external and unknown ones are proposed at most.',
    protected_core_patterns: CORE_PATTERNS,
    auto_apply_allowlist: policy.allow,
    auto_apply_blocklist: policy.block,
    mutation_policy:
      'One bounded managed block in SKILL.md, with bulky evidence in a reference file; everything outside the markers stays.',
    require_restore_drill: checks.requireDrill,
    restore_drill_gate: gate,
    restore_drill_state_path: checks.drillStatePath,
  } as const;
}

function configOf({ limits, order, policy, checks, places }: RunFlags, dbPath: string | null) {
  return {
    db_path: places.dbPath ?? dbPath,
    skills_dir: places.skillsDir,
    backup_dir: places.backupDir,
    hermes_home: places.home,
    local_skills_dir: places.localSkillsDir,
    external_dirs: places.externalDirs,
    bundled_skill_count: places.bundledCount,
    hub_installed_skill_count: places.hubCount,
    days: limits.days,
    max_skills: limits.maxSkills,
    min_evidence: limits.minEvidence,
    semantic_candidates: order.semantic,
    rerank_candidates: order.rerank,
    protect_core_skills: policy.protectCore,
    auto_apply_allowlist: policy.allow,
    auto_apply_blocklist: policy.block,
    variants: limits.variants,
    staged_verify: checks.staged,
    pre_verify_command: checks.preVerify,
    require_restore_drill: checks.requireDrill,
    restore_drill_state_path: checks.drillStatePath,
  };
}
