// Owns the shape of the plan as it is printed and stored (curator notes 8.5, schema 0.8). Pure. Invariant: exactly the notes' keys.
import type { DrillGate } from '../verify/drill-gate.ts';
import type { PlanEntry } from './planned-skill.ts';
import type { RunFlags } from './run-flags.ts';
import type { Selection } from './select-skills.ts';
import { CORE_PATTERNS } from './write-policy.ts';

export interface AutoRunPlan {
  readonly schema_version: '0.8';
  readonly mode: 'dry-run' | 'apply-low-risk';
  readonly safety: ReturnType<typeof safetyOf>;
  readonly config: ReturnType<typeof configOf>;
  readonly selection: Selection;
  readonly summary: { readonly planned: number; readonly applied: number; readonly skipped: number };
  readonly candidates: readonly PlanEntry[];
}

export interface PlanParts {
  readonly flags: RunFlags;
  readonly gate: DrillGate;
  readonly selection: Selection;
  readonly entries: readonly PlanEntry[];
  readonly dbPath: string | null;
}

export function describePlan({ flags, gate, selection, entries, dbPath }: PlanParts): AutoRunPlan {
  return {
    schema_version: '0.8',
    mode: flags.policy.apply ? 'apply-low-risk' : 'dry-run',
    safety: safetyOf(flags, gate),
    config: configOf(flags, dbPath),
    selection,
    summary: summaryOf(entries),
    candidates: entries,
  };
}

/** `planned` counts what was applied too. */
export function summaryOf(entries: readonly Pick<PlanEntry, 'status'>[]): AutoRunPlan['summary'] {
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
