// Owns whether writing must wait for a restore drill: the gate, the state file with what was applied and drilled last, and which apply counts as the
// last one (seed 002; curator notes 12, 21.14).
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime, parseTime } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-value.ts';
import type { SkillDoor, SkillVersion } from '#mind/skills/skill.ts';
import { dumpJson } from '../text.ts';

/** A type, so that it counts as JSON. */
export type DrillGate = {
  readonly state_path: string;
  readonly last_apply: JsonObject | null;
  readonly last_drill: JsonObject | null;
  readonly require: boolean;
  readonly allowed: boolean;
  readonly reason: string;
  readonly state_error?: string;
};

interface DrillQuestion {
  readonly statePath: string;
  /** The state file's data; absent when there is no such file. Anything but an object is unreadable. */
  readonly state?: JsonValue | undefined;
  readonly stateError?: string | undefined;
  readonly require: boolean;
}

export function drillGate(question: DrillQuestion, options: CompatOptions = {}): DrillGate {
  const { statePath: state_path, state = {}, stateError, require } = question;
  if (stateError !== undefined || !isJsonObject(state)) {
    const told = { state_path, last_apply: null, last_drill: null, require };
    return { ...told, ...blocked('state-unreadable', require), state_error: stateError ?? 'not an object' };
  }
  const last_apply = isJsonObject(state.last_apply) ? state.last_apply : null;
  const last_drill = isJsonObject(state.last_drill) ? state.last_drill : null;
  const told = { state_path, last_apply, last_drill, require };
  if (last_apply === null) return { ...told, allowed: true, reason: 'no-prior-apply' };
  const fault = drillFault(last_apply, last_drill, options.compat === 'upstream');
  return { ...told, ...(fault === null ? { allowed: true, reason: 'restore-drill-passed' } : blocked(fault, require)) };
}

/** What the gate says once something was applied and not yet drilled. */
export function gateAfterApply(gate: DrillGate): DrillGate {
  return { ...gate, ...blocked(gate.last_drill === null ? 'missing' : 'stale', gate.require) };
}

type Fault = 'state-unreadable' | 'missing' | 'stale' | 'failed';

function blocked(fault: Fault, require: boolean): Pick<DrillGate, 'allowed' | 'reason'> {
  return { allowed: !require, reason: `restore-drill-${fault}${require ? '' : '-warning'}` };
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

const lastApply = z.looseObject({ manifest_path: z.string().min(1), skill_name: z.string().nullish() });
const lastDrill = z.looseObject({ manifest_path: z.string().min(1), status: z.string() });
const stateFile = z.looseObject({ last_apply: lastApply.nullish(), last_drill: lastDrill.nullish() });

type StateRead<T> = Result<T, 'restore-drill-state-unreadable'>;

/** An object without either when there is no such file. */
export function readDrillState(path: string): StateRead<JsonObject> {
  const unreadable = (why: string) => refuse('restore-drill-state-unreadable', `${path}: ${why}`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' ? ok({}) : unreadable(code);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) return unreadable('it is no JSON');
  const read = stateFile.safeParse(parsed.value);
  if (!read.success) return unreadable(z.prettifyError(read.error).split('\n', 1)[0] ?? '');
  return ok(read.data as JsonObject);
}

/**
 * `known_at`: epoch ms of the newest apply that was known then: a clock that went back since makes nothing newer.
 * A file that cannot be read begins anew: without a drill, so that the gate stays closed. Throws TalariaError as `atomicWrite`.
 */
export function recordApply(
  path: string,
  apply: Readonly<Record<'manifest_path' | 'applied_at' | 'target_path' | 'skill_name', string>> & { known_at: number },
): void {
  const state = readDrillState(path);
  atomicWrite(path, `${dumpJson({ ...(state.ok ? state.value : {}), last_apply: apply })}\n`);
}

/** An unreadable file stays as it is: a drill alone does not say what was applied. Throws TalariaError as `atomicWrite`. */
export function recordDrill(path: string, drill: JsonObject): StateRead<true> {
  const state = readDrillState(path);
  if (!state.ok) return state;
  atomicWrite(path, `${dumpJson({ ...state.value, last_drill: drill })}\n`);
  return ok(true);
}

type Door = Pick<SkillDoor, 'versions'>;
type Named = { readonly name: string };

/** The state with its paths resolved and its last apply brought up to date. `skills`: that the curator may have written; `backups`: the door's. */
export function currentDrillState(
  state: JsonObject,
  door: Door,
  skills: readonly Named[],
  backups: string,
): JsonObject {
  const placed = (entry: unknown): JsonObject | null =>
    isJsonObject(entry) ? { ...entry, manifest_path: manifestPlace(String(entry.manifest_path), backups) } : null;
  const [told, last_drill] = [placed(state.last_apply), placed(state.last_drill)];
  const newest = newestApply(door, skills);
  const known =
    typeof told?.skill_name === 'string'
      ? door
          .versions(told.skill_name)
          .find(({ manifestPath }) => manifestPlace(manifestPath, backups) === told.manifest_path)
      : undefined;
  const isTold =
    told !== null && known?.rolledBackAt === undefined && !(newest !== undefined && newest.at > knownAt(told, known));
  return { ...state, last_apply: isTold ? told : newest ? applyOf(newest) : null, last_drill };
}

/** The newest apply that the door knows and nobody undid. */
export function newestApply(door: Door, skills: readonly Named[]): SkillVersion | undefined {
  return skills
    .flatMap(({ name }) => door.versions(name))
    .filter(
      ({ actor, action, rolledBackAt: undone }) => actor === 'curator' && action !== 'rollback' && undone === undefined,
    )
    .reduce<SkillVersion | undefined>((best, next) => (best && best.at >= next.at ? best : next), undefined);
}

/** Where a manifest truly lies; the door's own when the folder of its backup bears the same stamp. */
export function manifestPlace(path: string, backups: string): string {
  const own = join(backups, basename(dirname(resolve(path))), 'manifest.json');
  return realPath(existsSync(own) ? own : resolve(path));
}

function knownAt(told: JsonObject, known: SkillVersion | undefined): number {
  if (typeof told.known_at === 'number') return told.known_at;
  return known?.at ?? parseTime(String(told.applied_at)) ?? 0;
}

function applyOf({ manifestPath, at, skill }: SkillVersion): JsonObject {
  return { manifest_path: realPath(manifestPath), applied_at: isoTime(at), target_path: null, skill_name: skill };
}
