// Owns the one way in which a run asks a model: what is recorded already is given back, what a budget forbids is refused, the rest is asked of
// the families in their order, and its record is durable before anybody sees it. All that is not deterministic about a run happens here.
// Invariant: the same call id is asked at most once in a run's life; a refusal is an outcome and is recorded like a reply; a record whose prompt
// is another's is a diverged trace; a call is over soon after its time or its abort, whatever the other side does. Seed 003, notes 13.1, 16.
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { type Ok, ok, refuse } from '#base/result.ts';
import type { RunTrace } from '../trace/live-trace.ts';
import { textHash } from '../trace/run-record.ts';
import {
  type CallAsk,
  type CallBudget,
  type CallFailure,
  type CallRecord,
  type Calls,
  traceId,
} from './call-record.ts';
import {
  type InnerCall,
  type InnerOutcome,
  type InnerReply,
  type InnerRequest,
  longestReply,
  tooLong,
} from './inner-call.ts';

type Outcome =
  | Ok<InnerReply>
  | { readonly ok: false; readonly reason: CallFailure; readonly detail: string; readonly exit_code?: number };

interface CallEnd {
  /** Family that answered, or was asked last. */
  readonly runtime: string;
  readonly outcome: Outcome;
  /** Epoch ms. */
  readonly started_at: number;
  readonly elapsed_ms: number;
}

function callRecord(ask: CallAsk, run: string, { runtime, outcome, started_at, elapsed_ms }: CallEnd): CallRecord {
  const { system, max_output_tokens: _granted, families: _asked, keep_back: _kept, ...told } = ask;
  const reply = outcome.ok ? outcome.value : null;
  return {
    schema_version: 'rlm.trace.v1',
    trace_id: traceId(ask.call_id),
    subcall_id: `rlm_subcall_${sha256(JSON.stringify([run, ask.call_id])).slice(0, 32)}`,
    parent_trace_id: ask.parent_call_id === null ? null : traceId(ask.parent_call_id),
    ...told,
    runtime,
    generation_id: run,
    generated_child_ac_node_ids: [],
    resume_handle_id: null,
    runtime_handle_id: null,
    completion: reply?.completion ?? null,
    prompt_hash: textHash(ask.prompt),
    response_hash: reply === null ? null : textHash(reply.completion),
    success: outcome.ok,
    exit_code: (outcome.ok ? outcome.value.exit_code : outcome.exit_code) ?? null,
    elapsed_ms: Math.max(0, Math.round(reply?.elapsed_ms ?? elapsed_ms)),
    adapter_error: outcome.ok ? null : { type: outcome.reason, detail: outcome.detail },
    system_prompt_hash: textHash(system),
    system_prompt: system,
    model: reply?.model ?? null,
    usage: reply?.usage ?? null,
    cost: reply?.cost ?? null,
    started_at,
  };
}

export interface CallsParts {
  /** By family; the default is `default`, else the first. Empty: what is recorded is all there is. */
  readonly inner: ReadonlyMap<string, InnerCall>;
  readonly trace: Pick<RunTrace, 'recorded' | 'saveCall'>;
  readonly budget: CallBudget;
  readonly clock: Clock;
  /** Id of the run. */
  readonly run: string;
  /** Of one call, ms. @default 240000 */
  readonly call_timeout_ms?: number | undefined;
}

const CALL_TIMEOUT_MS = 240_000;

export function createCalls(parts: CallsParts): Calls {
  const { trace, budget, clock, run } = parts;
  const meter = new CallMeter(budget, clock);
  return {
    ask: async (ask, signal) => {
      const known = trace.recorded(ask.call_id);
      if (known !== undefined) {
        if (known.prompt_hash !== textHash(ask.prompt) || known.system_prompt_hash !== textHash(ask.system))
          throw new TalariaError(`The call ${ask.call_id} was recorded with another prompt.`, {
            code: 'trace-diverged',
          });
        meter.count(known);
        return known;
      }
      const record = callRecord(ask, run, await askLive(parts, meter, ask, signal));
      trace.saveCall(record);
      return record;
    },
  };
}

async function askLive(parts: CallsParts, meter: CallMeter, ask: CallAsk, signal: AbortSignal): Promise<CallEnd> {
  const { clock, run } = parts;
  const started_at = clock.now();
  const from = clock.monotonic();
  const families = familiesOf(parts, ask);
  const ended = (runtime: string, outcome: Outcome): CallEnd => {
    return { runtime, outcome, started_at, elapsed_ms: clock.monotonic() - from };
  };
  const runtime = families[0]?.family ?? ask.families?.[0] ?? 'default';
  if (signal.aborted) return ended(runtime, refuse('cancelled', 'the run was stopped before this call'));
  const admitted = await meter.admit(ask);
  if (!admitted.ok) return ended(runtime, admitted);
  let end = ended(runtime, refuse('no_model', 'nothing is set up that could answer'));
  const failures: string[] = [];
  try {
    for (const inner of families) {
      const outcome = await askOne(inner, ask, { ...parts, ...admitted }, signal);
      end = ended(inner.family, outcome);
      if (outcome.ok || !NEXT.has(outcome.reason) || signal.aborted) break;
      failures.push(`${inner.family}: ${outcome.detail}`);
      if (failures.length > 1) end = ended(inner.family, { ...outcome, detail: failures.join('; ') });
    }
    return end;
  } finally {
    admitted.settle(callRecord(ask, run, end));
  }
}

/** After these another family may still answer. */
const NEXT: ReadonlySet<CallFailure> = new Set(['no_model', 'runtime_error', 'runtime_unsuccessful', 'timeout']);

async function askOne(
  inner: InnerCall,
  { call_id, system, prompt }: CallAsk,
  { call_timeout_ms = CALL_TIMEOUT_MS, clock, max_output_tokens, until }: CallsParts & Grant,
  signal: AbortSignal,
): Promise<Outcome> {
  const left_ms = until - clock.monotonic();
  const timeout_ms = Math.max(1, Math.ceil(Math.min(call_timeout_ms, left_ms)));
  const outcome = await bounded(inner, { call_id, system, prompt, max_output_tokens, timeout_ms }, clock, signal);
  if (!outcome.ok)
    return outcome.reason === 'timeout' && left_ms < call_timeout_ms
      ? refuse('budget_time', 'the time of the run was over before the reply')
      : outcome;
  const longest = longestReply(max_output_tokens);
  const { completion } = outcome.value;
  if (completion.length > longest) return refuse('reply_too_large', tooLong(longest, max_output_tokens));
  return ok({ ...outcome.value, completion: completion.toWellFormed() });
}

/** What an inner call has to end by itself, beyond what its contract says, ms. */
const GRACE_MS = 2_000;

/** Settles once; what comes later is heard by nobody; a bug (a rejection) is passed on. */
function bounded(inner: InnerCall, request: InnerRequest, clock: Clock, signal: AbortSignal): Promise<InnerOutcome> {
  return new Promise((resolve, reject) => {
    const timers: (() => void)[] = [];
    const clear = () => {
      for (const cancel of timers) cancel();
      signal.removeEventListener('abort', onAbort);
    };
    const end = (outcome: InnerOutcome) => {
      clear();
      resolve(outcome);
    };
    const onAbort = () => {
      timers.push(clock.after(GRACE_MS, () => end(refuse('cancelled', 'the call did not end when it was stopped'))));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const late = () => end(refuse('timeout', `no reply within ${Math.ceil(request.timeout_ms / 1_000)} seconds`));
    timers.push(clock.after(request.timeout_ms + GRACE_MS, late));
    inner.call(request, signal).then(end, (error: unknown) => {
      clear();
      reject(error);
    });
  });
}

function familiesOf({ inner }: CallsParts, { families = [] }: CallAsk): readonly InnerCall[] {
  if (families.length > 0) return [...new Set(families)].flatMap((name) => inner.get(name) ?? []);
  return [inner.get('default') ?? [...inner.values()].slice(0, 1)].flat();
}

interface Grant {
  readonly ok: true;
  readonly max_output_tokens: number;
  /** Of the monotonic clock, when the run's time is up; infinite: not limited. */
  readonly until: number;
  /** Must be called once, when the call is over. */
  readonly settle: (record: CallRecord) => void;
}

type Admission = Grant | { readonly ok: false; readonly reason: CallFailure; readonly detail: string };

const CHARS_A_TOKEN = 4;
/** Fewer tokens for a reply are no use to anybody. */
const LEAST_OUTPUT = 256;
/** Of tokens, money and time, for each call that is kept back; together half of it at most. */
const KEPT_SHARE = 0.1;
const MOST_KEPT = 0.5;

interface Wanted {
  readonly prompt: number;
  readonly output: number;
  /** What of each budget may be used, 0.5..1. */
  readonly share: number;
}

/**
 * What the calls of a run have used and may still use: number, tokens, money, time. Where a model does not tell its tokens, the budget counts an
 * estimate, so that it holds; a record never does. Decisions are made one after the other, in the order of asking; while calls that are under
 * way could decide it, one waits for them, so that a window of calls spends no more than calls one by one.
 */
class CallMeter {
  readonly #budget: CallBudget;
  readonly #clock: Clock;
  readonly #from: number;
  #calls = 0;
  #tokens = 0;
  #cost = 0;
  #dearest = 0;
  #reserved = 0;
  #inFlight = 0;
  #beforeMs = 0;
  #lastEnd = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #onSettled: (() => void)[] = [];

  constructor(budget: CallBudget, clock: Clock) {
    this.#budget = budget;
    this.#clock = clock;
    this.#from = clock.monotonic();
  }

  /** Counts what an earlier process of the run was answered. */
  count(record: CallRecord): void {
    if (record.adapter_error?.type.startsWith('budget_')) return;
    this.#calls += 1;
    this.#spend(record);
    const begun = Math.max(record.started_at, this.#lastEnd);
    this.#lastEnd = Math.max(this.#lastEnd, record.started_at + record.elapsed_ms);
    this.#beforeMs += Math.max(0, this.#lastEnd - begun);
  }

  admit(ask: CallAsk): Promise<Admission> {
    const admission = this.#queue.then(() => this.#decide(ask));
    this.#queue = admission;
    return admission;
  }

  async #decide(ask: CallAsk): Promise<Admission> {
    const keep_back = ask.keep_back ?? 0;
    const wanted: Wanted = {
      prompt: estimateTokens(ask.system.length + ask.prompt.length),
      output: ask.max_output_tokens,
      share: 1 - Math.min(MOST_KEPT, KEPT_SHARE * keep_back),
    };
    const most = this.#budget.max_calls;
    if (most !== undefined && this.#calls + keep_back >= most)
      return refuse('budget_calls', `${most} calls were granted`);
    while (this.#inFlight > 0 && this.#mustWait(wanted)) await this.#nextSettled();
    return this.#refusal(wanted) ?? this.#grant(wanted);
  }

  #mustWait({ prompt, output, share }: Wanted): boolean {
    const { max_tokens, max_cost } = this.#budget;
    const used = this.#tokens + this.#reserved;
    if (max_tokens !== undefined && used + prompt + output > max_tokens * share) return true;
    if (max_cost === undefined) return false;
    return this.#dearest === 0 || this.#cost + (this.#inFlight + 1) * this.#dearest > max_cost * share;
  }

  #refusal({ prompt, output, share }: Wanted): Admission | null {
    const { max_tokens, max_cost, max_ms } = this.#budget;
    const least = prompt + Math.min(output, LEAST_OUTPUT);
    if (max_tokens !== undefined && this.#tokens + this.#reserved + least > max_tokens * share)
      return refuse('budget_tokens', `${max_tokens} tokens were granted, ${this.#tokens} are used`);
    if (max_cost !== undefined && this.#cost >= max_cost * share)
      return refuse('budget_cost', `$${max_cost} were granted, $${this.#cost} are used`);
    if (max_ms !== undefined && this.#elapsed() >= max_ms * share)
      return refuse('budget_time', `${max_ms} ms were granted, and are over`);
    return null;
  }

  #grant({ prompt, output, share }: Wanted): Grant {
    const { max_tokens, max_ms } = this.#budget;
    const left = max_tokens === undefined ? output : max_tokens * share - this.#tokens - this.#reserved - prompt;
    const max_output_tokens = Math.min(output, Math.floor(left));
    const reserved = prompt + max_output_tokens;
    this.#calls += 1;
    this.#inFlight += 1;
    this.#reserved += reserved;
    const settle = (record: CallRecord) => {
      this.#inFlight -= 1;
      this.#reserved -= reserved;
      this.#spend(record, max_output_tokens);
      for (const wake of this.#onSettled.splice(0)) wake();
    };
    const left_ms = max_ms === undefined ? Number.POSITIVE_INFINITY : max_ms * share - this.#elapsed();
    return { ok: true, max_output_tokens, until: this.#clock.monotonic() + left_ms, settle };
  }

  /** `granted`: what a reply that nobody kept may have used up. */
  #spend({ usage, cost, system_prompt, prompt, completion, adapter_error }: CallRecord, granted = 0): void {
    const told = usage === null ? undefined : usage.input_tokens + usage.output_tokens;
    const sent = adapter_error?.type === 'no_model' ? 0 : system_prompt.length + prompt.length;
    const lost = adapter_error?.type === 'reply_too_large' || adapter_error?.type === 'timeout' ? granted : 0;
    this.#tokens += told ?? estimateTokens(sent + (completion?.length ?? 0)) + lost;
    this.#cost += cost ?? 0;
    this.#dearest = Math.max(this.#dearest, cost ?? 0);
  }

  #elapsed(): number {
    return this.#beforeMs + this.#clock.monotonic() - this.#from;
  }

  #nextSettled(): Promise<void> {
    return new Promise((resolve) => this.#onSettled.push(resolve));
  }
}

function estimateTokens(chars: number): number {
  return Math.ceil(chars / CHARS_A_TOKEN);
}
