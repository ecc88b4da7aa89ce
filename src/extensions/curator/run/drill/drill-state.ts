// Owns the drill state file: what was applied last and what was drilled last (curator notes 12). Knows no gate and no door.
// Invariants: read closed, a file that is not wholly what it should be is unreadable, never empty; written whole or not at all.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode } from '#base/errors.ts';
import { type JsonObject, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { dumpJson } from '../../text/dump-json.ts';

/** Types, not interfaces, so that they count as JSON. */
export type LastApply = {
  readonly manifest_path: string;
  /** ISO, UTC. */
  readonly applied_at: string;
  readonly target_path: string;
  readonly skill_name: string;
  /** Epoch ms of the newest apply that was known then: a clock that went back since makes nothing newer. */
  readonly known_at?: number;
};

export type LastDrill = {
  readonly manifest_path: string;
  readonly status: string;
  readonly drill_at: string;
  readonly restored_target: string | null;
  readonly report_path: string | null;
  readonly warnings?: readonly string[];
};

const lastApply = z.looseObject({ manifest_path: z.string().min(1), skill_name: z.string().nullish() });
const lastDrill = z.looseObject({ manifest_path: z.string().min(1), status: z.string() });
const stateFile = z.looseObject({ last_apply: lastApply.nullish(), last_drill: lastDrill.nullish() });

/** An object without either when there is no such file. */
export function readDrillState(path: string): Result<JsonObject, 'restore-drill-state-unreadable'> {
  const text = readIfThere(path);
  if (text === undefined) return ok({});
  if (typeof text !== 'string') return unreadable(path, text.code);
  const parsed = parseJson(text);
  if (!parsed.ok) return unreadable(path, 'it is no JSON');
  const read = stateFile.safeParse(parsed.value);
  return read.success
    ? ok(read.data as JsonObject)
    : unreadable(path, z.prettifyError(read.error).split('\n', 1)[0] ?? '');
}

function unreadable(path: string, why: string): Result<never, 'restore-drill-state-unreadable'> {
  return refuse('restore-drill-state-unreadable', `${path}: ${why}`);
}

function readIfThere(path: string): string | undefined | { readonly code: string } {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' ? undefined : { code };
  }
}

/** A file that cannot be read begins anew: without a drill, so that the gate stays closed. Throws TalariaError as `atomicWrite`. */
export function recordApply(path: string, apply: LastApply): void {
  write(path, { ...stateAt(path), last_apply: apply });
}

/** An unreadable file stays as it is: a drill alone does not say what was applied. Throws TalariaError as `atomicWrite`. */
export function recordDrill(path: string, drill: LastDrill): Result<true, 'restore-drill-state-unreadable'> {
  const state = readDrillState(path);
  if (!state.ok) return state;
  write(path, { ...state.value, last_drill: drill });
  return ok(true);
}

function stateAt(path: string): JsonObject {
  const state = readDrillState(path);
  return state.ok ? state.value : {};
}

function write(path: string, state: JsonObject): void {
  atomicWrite(path, `${dumpJson(state)}\n`);
}
