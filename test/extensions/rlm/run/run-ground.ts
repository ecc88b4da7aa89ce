/** What tests of runs share: a request over texts, an inner call that answers by rule or by script, a run from begin to end. */
import { systemClock } from '#base/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import type { CallBudget } from '#extensions/rlm/call/call-record.ts';
import { createCalls } from '#extensions/rlm/call/calls.ts';
import type { InnerCall, InnerRefusal, InnerRequest } from '#extensions/rlm/call/inner-call.ts';
import type { RunOutcome } from '#extensions/rlm/outcome.ts';
import { executeRun } from '#extensions/rlm/run/execute-run.ts';
import { PLAIN_RULE } from '#extensions/rlm/run/plain-prompt.ts';
import type { RequestChunk, RunRequest } from '#extensions/rlm/run/run-request.ts';
import { readChunk } from '#extensions/rlm/scaffold/chunks.ts';
import { planChunks } from '#extensions/rlm/scaffold/plan-chunks.ts';
import type { RunTrace } from '#extensions/rlm/trace/live-trace.ts';
import { type RunRecord, readRunRecord, textHash } from '#extensions/rlm/trace/run-record.ts';
import { memoryTraceStore, type TraceStore } from '#extensions/rlm/trace/trace-store.ts';

export const QUESTION = 'List every fact about the harbour with its id.';

/** `count` chunks of two lines, one fact each. */
export function harbour(count: number): string {
  const lines = Array.from({ length: count }, (_, at) => [
    `FACT:HB-${String(at + 1).padStart(3, '0')} The harbour master counted ${at + 11} ships at pier ${at + 1}.`,
    `Gulls circled above pier ${at + 1} all day.`,
  ]);
  return `${lines.flat().join('\n')}\n`;
}

export interface Prepared {
  readonly request: RunRequest;
  readonly texts: readonly string[];
}

export function requestOver(text: string, changes: Partial<RunRequest> = {}, line_limit = 2): Prepared {
  const bytes = new TextEncoder().encode(text);
  const texts: string[] = [];
  const chunks = planChunks('harbour.txt', bytes, { line_limit }).spans.map((span): RequestChunk => {
    const { content, token_estimate, lossy } = readChunk(bytes, span);
    texts.push(content);
    return { ...span, token_estimate, lossy, text_hash: textHash(content) };
  });
  const request: RunRequest = {
    schema_version: 'talaria.rlm.run_request.v1',
    question: QUESTION,
    target: 'harbour.txt',
    target_kind: 'path',
    limits: { max_depth: 5, max_iterations: 1_000, max_in_flight: 1, max_retries: 1 },
    fan_out: 6,
    max_output_tokens: 4_000,
    facts_chars: 20_000,
    chunks,
    omitted: [],
    boundaries: [],
    skipped: [],
    ambiguity: {
      passed: true,
      ambiguity_score: 0,
      ambiguity_threshold: 0.2,
      model_rating: null,
      override: null,
      question: null,
    },
    guard_mode: 'strict',
    memory: { mode: 'off', priors: [], fixture_category: null },
    families: { children: [], synthesis: [] },
    decompose: false,
    budget: {},
    ...changes,
  };
  return { request, texts };
}

/** A reply, a refusal, or undefined: what the honest rule says. */
export type Script = (
  call_id: string,
  prompt: JsonObject,
) => string | { readonly refuse: InnerRefusal } | undefined | Promise<string | undefined>;

export interface Scripted extends InnerCall {
  readonly requests: InnerRequest[];
}

export function scripted(script: Script = () => undefined, family = 'default'): Scripted {
  const requests: InnerRequest[] = [];
  return {
    family,
    requests,
    call: async (request, signal) => {
      requests.push(request);
      if (signal.aborted) return refuse('cancelled', 'stopped');
      const prompt = promptOf(request);
      const said = (await script(request.call_id, prompt)) ?? honest(prompt);
      if (typeof said !== 'string') return refuse(said.refuse, 'scripted');
      const usage = { input_tokens: 100, output_tokens: 20 };
      return ok({ completion: said, model: `scripted/${family}`, usage, cost: 0.001, elapsed_ms: 1, exit_code: 0 });
    },
  };
}

/** Of a plain second try, which is no JSON, an empty object. */
function promptOf({ prompt }: InnerRequest): JsonObject {
  if (prompt.startsWith(PLAIN_RULE)) return {};
  const parsed = parseJsonObject(prompt);
  if (!parsed.ok) throw new Error('a prompt is one JSON object or a plain one');
  return parsed.value;
}

/** Quotes the tagged lines of its chunks; as a parent keeps every fact that it is shown. */
export function honest(prompt: JsonObject): string {
  const context = objectOf(prompt.context);
  if (prompt.mode === 'synthesize_parent') return JSON.stringify(parentReply(shownFacts(context)));
  const facts = listOf(context.chunks).flatMap((chunk) => {
    const { content, chunk_id } = objectOf(chunk);
    const lines = String(content).match(/^FACT:.*$/gm) ?? [];
    return lines.map((text) => ({ fact_id: /^FACT:(\S+)/.exec(text)?.[1], text, evidence_chunk_id: chunk_id }));
  });
  return JSON.stringify(childReply(facts as readonly JsonObject[]));
}

export function childReply(observed_facts: readonly JsonObject[], changes: JsonObject = {}): JsonObject {
  return {
    mode: 'execute_atomic',
    verdict: observed_facts.length > 0 ? 'passed' : 'partial',
    confidence: 0.9,
    result: { summary: 'What the chunk says.', observed_facts },
    evidence_references: [],
    residual_gaps: [],
    ...changes,
  };
}

export function parentReply(facts: readonly JsonObject[], changes: JsonObject = {}): JsonObject {
  return {
    mode: 'synthesize_parent',
    verdict: 'passed',
    confidence: 0.9,
    result: { summary: 'The facts of the harbour.', retained_facts: facts },
    evidence_references: facts.map(({ evidence_chunk_id, fact_id, text }) => ({
      chunk_id: evidence_chunk_id,
      supports_fact_ids: [fact_id ?? ''],
      quoted_evidence: text,
    })),
    residual_gaps: [],
    ...changes,
  };
}

export function shownFacts(context: JsonObject): readonly JsonObject[] {
  return listOf(context.child_results).flatMap((child) => {
    const payload = objectOf(objectOf(child).result_payload);
    return listOf(objectOf(payload.reported_result).observed_facts).map(objectOf);
  });
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

export interface RunOptions {
  readonly inner?: InnerCall | readonly InnerCall[];
  readonly store?: TraceStore;
  readonly run_id?: string;
  readonly budget?: CallBudget;
  readonly signal?: AbortSignal;
  readonly wrap?: (trace: RunTrace) => RunTrace;
}

export interface Done {
  readonly outcome: RunOutcome;
  readonly store: TraceStore;
  readonly run_id: string;
}

export async function run({ request, texts }: Prepared, options: RunOptions = {}): Promise<Done> {
  const { store = memoryTraceStore(), run_id = 'run_test', wrap = (trace) => trace } = options;
  const plain = request as unknown as JsonObject;
  const begun = store.begin({ run_id, kind: 'run', request: plain, root: '/', sources: [] }, texts);
  const outcome = await go(request, wrap(begun), options);
  return { outcome, store, run_id };
}

export function go(request: RunRequest, trace: RunTrace, options: RunOptions = {}): Promise<RunOutcome> {
  const { inner = scripted(), signal = new AbortController().signal } = options;
  const families = Array.isArray(inner) ? inner : [inner as InnerCall];
  const calls = createCalls({
    inner: new Map(families.map((one: InnerCall) => [one.family, one])),
    trace,
    budget: options.budget ?? request.budget,
    clock: systemClock,
    run: trace.run_id,
  });
  return executeRun({ request, trace, calls, signal });
}

/** What the store holds of a run. */
export function recordOf({ store, run_id = 'run_test' }: Pick<Done, 'store'> & Partial<Done>): RunRecord {
  const found = store.find(run_id);
  if (!found.ok) throw new Error(found.detail);
  return readRunRecord(store, found.value);
}

/** Answers so many calls, and then nobody any more. */
export function dying(answers: number, script?: Script): InnerCall {
  const inner = scripted(script);
  let asked = 0;
  return {
    family: 'default',
    call: (request, abort) => {
      asked += 1;
      return asked > answers ? new Promise(() => {}) : inner.call(request, abort);
    },
  };
}
