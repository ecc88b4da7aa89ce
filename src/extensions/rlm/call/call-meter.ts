// Owns what the calls of a run have used and may still use: number, tokens, money, time (calls.ts, CallBudget). Asks nobody.
// Where a model does not tell its tokens, the budget counts an estimate, so that it holds; a record never does.
// Invariant: decisions are made one after the other, in the order of asking; while calls that are under way could decide it, one waits for
// them, so that a window of calls spends no more than calls one by one.
import type { Clock } from '#base/clock.ts';
import { refuse } from '#base/result.ts';
import type { CallFailure, CallRecord } from './call-record.ts';
import type { CallAsk, CallBudget } from './calls.ts';

export type BudgetFailure = Extract<CallFailure, `budget_${string}`>;

export interface Grant {
  readonly ok: true;
  readonly max_output_tokens: number;
  /** Of the monotonic clock, when the run's time is up; infinite: not limited. */
  readonly until: number;
  /** Must be called once, when the call is over. */
  readonly settle: (record: CallRecord) => void;
}

export type Admission = Grant | { readonly ok: false; readonly reason: BudgetFailure; readonly detail: string };

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

export class CallMeter {
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
    if (wasNotSent(record)) return;
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

/** Refused by a budget: nothing was used. */
export function wasNotSent({ adapter_error }: Pick<CallRecord, 'adapter_error'>): boolean {
  return adapter_error?.type.startsWith('budget_') === true;
}
