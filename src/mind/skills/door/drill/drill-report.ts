// Owns the form of a restore drill's report (curator notes 12) and the verdict over its checks. Pure.
// Invariant: one failed check fails the drill; a warning never counts as a pass unless it says nothing of whether a skill can be restored.

export type DrillCheckStatus = 'pass' | 'warn' | 'fail' | 'skipped';
export type DrillStatus = 'pass' | 'partial' | 'fail';

export type DrillCheckName =
  | 'target-recovery'
  | 'support-files-recovery'
  | 'evidence-references'
  | 'provenance-metadata'
  | 'scheduler-references';

/** A type, so that it counts as JSON. */
export type DrillCheck = {
  readonly name: DrillCheckName;
  readonly status: DrillCheckStatus;
  /** Reason code of a warning or failure; null otherwise. */
  readonly reason: string | null;
};

export type DrillReport = {
  readonly schema_version: '0.1';
  /** Absolute, links resolved: two ways to one manifest give one path. */
  readonly manifest_path: string;
  readonly drill_started_at: string;
  readonly drill_finished_at: string;
  /** Folder that was restored into; null: it did not come to that. */
  readonly drill_target: string | null;
  /** The SKILL.md in it; null: it could not be restored. */
  readonly restored_target: string | null;
  readonly status: DrillStatus;
  readonly checks: readonly DrillCheck[];
  /** `check:reason` */
  readonly warnings: readonly string[];
  /** Why it could not begin, or `check:reason`. */
  readonly errors: readonly string[];
  readonly report_path: string | null;
};

export interface DrillCompat {
  /** The original's verdict: any warning makes the drill `partial`, and a manifest without a backup fails. */
  readonly compat?: 'upstream';
}

/**
 * The original calls a drill `partial` as long as any check warns. A timer that was removed after the write stays removed, so that writing
 * would be blocked for ever; it says nothing of the restore, and here it is shown as a warning of a drill that passes.
 */
export function drillVerdict(checks: readonly DrillCheck[], { compat }: DrillCompat = {}): DrillStatus {
  if (checks.some(({ status }) => status === 'fail')) return 'fail';
  const doubts = checks.filter(({ status }) => status === 'warn');
  const blocking = doubts.filter(({ name }) => compat === 'upstream' || name !== 'scheduler-references');
  return blocking.length === 0 ? 'pass' : 'partial';
}

/** `check:reason` of every check with that status. */
export function reasonsOf(checks: readonly DrillCheck[], wanted: 'warn' | 'fail'): readonly string[] {
  return checks.filter(({ status }) => status === wanted).map(({ name, reason }) => `${name}:${reason ?? ''}`);
}
