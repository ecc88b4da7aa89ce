// Owns running the code of a computed handle: a fresh world with its inputs and nothing else, twice, and both times the same bytes.
// Invariant: deterministic; what it gives is canonical JSON, and running it again anywhere gives the same or is a fault of the handle.
import { canonicalJson, parseJson } from '#base/json.ts';
import type { PartedSource } from '../source/parted-source.ts';
import { ApiFault } from './api-fault.ts';
import { contextOps } from './context-ops.ts';
import type { Engine } from './engine.ts';
import { SandboxRealm } from './sandbox-realm.ts';

const MOST_CODE = 50_000;
const MOST_OUTPUT = 200_000;

/** A value, or the whole context. */
export type ComputedInput = { readonly v: unknown } | { readonly c: true };

export interface ComputedRun {
  readonly code: string;
  readonly inputs: readonly ComputedInput[];
}

export interface ComputedGround {
  readonly engine: Engine;
  readonly source: PartedSource;
  readonly stop: () => boolean;
}

/** Gives canonical JSON. Throws ApiFault: the code is wrong, or does not give the same twice. */
export function runComputed(run: ComputedRun, ground: ComputedGround): string {
  if (run.code.length > MOST_CODE)
    throw new ApiFault('RangeError', `compute takes at most ${MOST_CODE} characters of code`);
  const first = runOnce(run, ground);
  if (runOnce(run, ground) !== first)
    throw new ApiFault('Error', 'compute: the code does not give the same when it runs again');
  return first;
}

function runOnce({ code, inputs }: ComputedRun, { engine, source, stop }: ComputedGround): string {
  const wantsContext = inputs.some((input) => 'c' in input);
  const ops = wantsContext ? contextOps(source, undefined) : {};
  const realm = new SandboxRealm(engine, { stop, ops, source, full: false, context: wantsContext, print: 0 });
  try {
    const text = realm.compute(code, JSON.stringify(inputs));
    if (text.length > MOST_OUTPUT)
      throw new ApiFault('RangeError', `compute gives at most ${MOST_OUTPUT} characters of JSON`);
    const parsed = parseJson(text);
    if (!parsed.ok) throw new ApiFault('TypeError', 'compute: the code must give a value that JSON can hold');
    return canonicalJson(parsed.value);
  } finally {
    realm.dispose();
  }
}
