// Owns whether writing must wait for a restore drill (seed 002; curator notes 12, gate). Pure: the state comes in as read. Invariant of
// ours: paths compare in their plain form, and a drill that only misses the schedule counts as passed.
import { normalize } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';

export interface DrillGate {
  readonly state_path: string;
  readonly last_apply: JsonObject | null;
  readonly last_drill: JsonObject | null;
  readonly require: boolean;
  readonly allowed: boolean;
  readonly reason: string;
  readonly state_error?: string;
}

export interface DrillQuestion {
  readonly statePath: string;
  /** The state file's data; absent when there is no such file. Anything but an object is unreadable. */
  readonly state?: JsonValue;
  /** Why the file could not be read. */
  readonly stateError?: string;
  readonly require: boolean;
}

export function drillGate(question: DrillQuestion, options: CompatOptions = {}): DrillGate {
  const { statePath: state_path, state = {}, stateError, require } = question;
  if (stateError !== undefined || !isJsonObject(state)) {
    const told = { state_path, last_apply: null, last_drill: null, require };
    return { ...told, ...blocked('unreadable', require), state_error: stateError ?? 'not an object' };
  }
  const last_apply = isJsonObject(state.last_apply) ? state.last_apply : null;
  const last_drill = isJsonObject(state.last_drill) ? state.last_drill : null;
  const told = { state_path, last_apply, last_drill, require };
  if (last_apply === null) return { ...told, allowed: true, reason: 'no-prior-apply' };
  const fault = drillFault(last_apply, last_drill, options.compat === 'upstream');
  if (fault === null) return { ...told, allowed: true, reason: 'restore-drill-passed' };
  return { ...told, ...blocked(fault, require) };
}

/** What the gate says once something was applied and not yet drilled. */
export function gateAfterApply(gate: DrillGate): DrillGate {
  return { ...gate, ...blocked(gate.last_drill === null ? 'missing' : 'stale', gate.require) };
}

type Fault = 'unreadable' | 'missing' | 'stale' | 'failed';

const REASONS: Readonly<Record<Fault, string>> = {
  unreadable: 'restore-drill-state-unreadable',
  missing: 'restore-drill-missing',
  stale: 'restore-drill-stale',
  failed: 'restore-drill-failed',
};

function blocked(fault: Fault, require: boolean): { readonly allowed: boolean; readonly reason: string } {
  return { allowed: !require, reason: require ? REASONS[fault] : `${REASONS[fault]}-warning` };
}

function drillFault(apply: JsonObject, drill: JsonObject | null, upstream: boolean): Fault | null {
  if (drill === null) return 'missing';
  const [applied, drilled] = [apply.manifest_path, drill.manifest_path].map((path) =>
    typeof path === 'string' && !upstream ? normalize(path) : path,
  );
  if (applied !== drilled) return 'stale';
  return drill.status === 'pass' || (!upstream && isPassButSchedule(drill)) ? null : 'failed';
}

/** A timer that was removed since the apply says nothing of whether the skill can be restored. */
function isPassButSchedule({ status, warnings }: JsonObject): boolean {
  if (status !== 'partial' || !Array.isArray(warnings) || warnings.length === 0) return false;
  return warnings.every((warning) => typeof warning === 'string' && warning.startsWith('scheduler-references:'));
}

export type DrillCheckStatus = 'pass' | 'warn' | 'fail' | 'skipped';

/** The drill's own verdict: fail if any check failed, pass if all passed or were skipped, else partial. */
export function drillStatus(checks: readonly { readonly status: DrillCheckStatus }[]): 'pass' | 'partial' | 'fail' {
  if (checks.some(({ status }) => status === 'fail')) return 'fail';
  return checks.every(({ status }) => status !== 'warn') ? 'pass' : 'partial';
}
