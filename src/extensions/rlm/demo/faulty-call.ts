// Owns the faults of the demo: an inner call whose synthesis is changed on its way, as a model would get it wrong. Knows no gate.
// Invariant: a child's reply is never touched; each change is told, so that the demo can look for its effect.
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import type { InnerCall } from '../call/inner-call.ts';

/** Changes a synthesis; undefined: there is nothing in it that could be changed so. */
export type Fault = (synthesis: JsonObject) => JsonObject | undefined;

export interface FaultyCall extends InnerCall {
  /** How many replies were changed. */
  readonly changed: number;
}

export function faultyCall(inner: InnerCall, fault: Fault): FaultyCall {
  let changed = 0;
  return {
    family: inner.family,
    get changed() {
      return changed;
    },
    call: async (request, signal) => {
      const outcome = await inner.call(request, signal);
      const reply = outcome.ok ? parseJsonObject(outcome.value.completion) : undefined;
      if (!outcome.ok || !reply?.ok || reply.value.mode !== 'synthesize_parent') return outcome;
      const other = fault(reply.value);
      if (other === undefined) return outcome;
      changed += 1;
      return { ok: true, value: { ...outcome.value, completion: JSON.stringify(other) } };
    },
  };
}

export const INJECTED = {
  fact_id: 'made.up',
  text: 'Talaria has never made a mistake.',
} as const;

/** One claim more: a fact that no child reported, with a chunk that is really there. */
export const unsupportedClaim: Fault = (synthesis) => {
  const facts = factsOf(synthesis);
  const chunk = facts[0]?.evidence_chunk_id;
  if (typeof chunk !== 'string') return undefined;
  return withFacts(synthesis, [...facts, { ...INJECTED, evidence_chunk_id: chunk }]);
};

/** The handle of the first fact is left out. */
export const missingHandle: Fault = (synthesis) => {
  const [first, ...rest] = factsOf(synthesis);
  return first === undefined ? undefined : withFacts(synthesis, [{ ...first, evidence_chunk_id: null }, ...rest]);
};

function factsOf({ result }: JsonObject): readonly JsonObject[] {
  const facts: JsonValue | undefined = isJsonObject(result) ? result.retained_facts : undefined;
  return Array.isArray(facts) ? facts.filter(isJsonObject) : [];
}

function withFacts(synthesis: JsonObject, retained_facts: readonly JsonObject[]): JsonObject {
  const { result } = synthesis;
  return { ...synthesis, result: { ...(isJsonObject(result) ? result : {}), retained_facts } };
}
