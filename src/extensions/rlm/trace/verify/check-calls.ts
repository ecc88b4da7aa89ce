// Owns whether the records of calls hold together (notes 16): ids, parents, hashes of the three texts, success and what came of it. Reads
// records of the original as well, which hash nothing and name the parent's call as the cause. Pure.
import type { CallRecord } from '../../call/call-record.ts';
import { textHash } from '../text-hash.ts';
import { type Problem, type ProblemCode, problem } from './problem.ts';

export interface CallGround {
  readonly calls: readonly CallRecord[];
  readonly run_id: string;
  /** May the call above this one never have been asked? A parent is asked after its children. @default never */
  readonly unasked?: (call: CallRecord) => boolean;
}

interface Kin {
  readonly byId: ReadonlyMap<string, CallRecord>;
  readonly unasked: (call: CallRecord) => boolean;
}

export function checkCalls({ calls, run_id, unasked = () => false }: CallGround): readonly Problem[] {
  const byId = new Map(calls.map((call) => [call.call_id, call]));
  const seen = new Set<string>();
  const twice = calls.filter(({ call_id, trace_id }) => {
    const known = seen.has(`id ${call_id}`) || seen.has(`trace ${trace_id}`);
    seen.add(`id ${call_id}`).add(`trace ${trace_id}`);
    return known;
  });
  return [
    ...twice.map(({ call_id }) => problem('call-twice', `call ${call_id}`, 'Its id or its trace id was used before.')),
    ...calls.flatMap((call) => [
      ...checkHashes(call),
      ...checkOutcome(call),
      ...checkParent(call, { byId, unasked }),
      ...(call.generation_id === run_id ? [] : [ofOtherRun(call)]),
    ]),
  ];
}

function ofOtherRun({ call_id, generation_id }: CallRecord): Problem {
  return problem('call-of-other-run', `call ${call_id}`, `It names the run ${generation_id}.`);
}

/** A hash that is null was never made. */
function checkHashes(call: CallRecord): readonly Problem[] {
  const pairs: readonly (readonly [ProblemCode, string | null, string | null | undefined, string])[] = [
    ['prompt-hash', call.prompt, call.prompt_hash, 'prompt'],
    ['response-hash', call.completion, call.response_hash, 'completion'],
    ['system-prompt-hash', call.system_prompt ?? null, call.system_prompt_hash, 'system prompt'],
  ];
  return pairs.flatMap(([code, text, hash, what]) => {
    if (hash === null || hash === undefined || hash === (text === null ? null : textHash(text))) return [];
    return [problem(code, `call ${call.call_id}`, `The ${what} is not the one that was hashed.`)];
  });
}

function checkOutcome(call: CallRecord): readonly Problem[] {
  const { success, completion, adapter_error, elapsed_ms } = call;
  const isHashed = call.prompt_hash !== null;
  const wrong: readonly (readonly [is: boolean, detail: string])[] = [
    [success && completion === null, 'It succeeded without a completion.'],
    [success && adapter_error !== null, 'It succeeded, and names an error.'],
    [!success && adapter_error === null, 'It failed, and names no error.'],
    [completion === null && call.response_hash !== null, 'It hashes a completion that it has not.'],
    [completion !== null && call.response_hash === null && isHashed, 'Its prompt is hashed, its completion is not.'],
    [!(elapsed_ms >= 0), 'It took less than no time.'],
  ];
  return wrong.filter(([is]) => is).map(([, detail]) => problem('call-outcome', `call ${call.call_id}`, detail));
}

function checkParent(call: CallRecord, { byId, unasked }: Kin): readonly Problem[] {
  const where = `call ${call.call_id}`;
  if (call.parent_call_id === null)
    return call.parent_trace_id === null ? [] : [problem('parent-trace', where, 'It names a trace and no call.')];
  const parent = byId.get(call.parent_call_id);
  const trace = parent?.trace_id ?? `rlm_trace_${call.parent_call_id}`;
  const problems: Problem[] = [];
  if (parent === call || (parent === undefined && !unasked(call)))
    problems.push(problem('parent-call-missing', where, `There is no call ${call.parent_call_id} above it.`));
  if (call.parent_trace_id !== trace) problems.push(problem('parent-trace', where, `Its parent's trace is ${trace}.`));
  if (parent !== undefined && call.depth <= parent.depth)
    problems.push(problem('call-depth', where, `Its depth is ${call.depth}, its parent's ${parent.depth}.`));
  return problems;
}
