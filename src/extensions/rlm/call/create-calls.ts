// Owns the one implementation of Calls: what is recorded is given back, what a budget forbids is refused, the rest is asked of the families
// in their order, and its record is durable before anybody sees it. Knows no prompt, no tree, no verdict.
// Invariant: one record for each call id, written once; a record whose prompt is another's is a diverged trace. Seed 003, trace and replay.
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { refuse } from '#base/result.ts';
import { textHash } from '../trace/text-hash.ts';
import type { RunTrace } from '../trace/trace-store.ts';
import { CallMeter, type Grant } from './call-meter.ts';
import type { CallRecord } from './call-record.ts';
import type { CallAsk, CallBudget, Calls } from './calls.ts';
import type { InnerCall, InnerRefusal } from './inner-call.ts';
import { type CallEnd, callRecord } from './open-record.ts';
import { settleCall } from './settle-call.ts';

export interface CallsParts {
  /** By family; the default is `default`, else the first. Empty: what is recorded is all there is. */
  readonly inner: ReadonlyMap<string, InnerCall>;
  readonly trace: Pick<RunTrace, 'recorded' | 'saveCall'>;
  readonly budget: CallBudget;
  readonly clock: Clock;
  /** Id of the run. */
  readonly run: string;
  /** Of one call, ms. @default 240000 */
  readonly call_timeout_ms?: number;
}

const CALL_TIMEOUT_MS = 240_000;

export function createCalls(parts: CallsParts): Calls {
  const meter = new CallMeter(parts.budget, parts.clock);
  return {
    ask: async (ask, signal) => {
      const known = parts.trace.recorded(ask.call_id);
      if (known !== undefined) {
        refuseOther(known, ask);
        meter.count(known);
        return known;
      }
      const record = callRecord(ask, await askLive({ ...parts, meter }, ask, signal));
      parts.trace.saveCall(record);
      return record;
    },
  };
}

type LiveParts = CallsParts & { readonly meter: CallMeter };

async function askLive(parts: LiveParts, ask: CallAsk, signal: AbortSignal): Promise<CallEnd> {
  const { clock, run, meter } = parts;
  const from = { started_at: clock.now(), monotonic: clock.monotonic() };
  const families = familiesOf(parts, ask);
  const ended = (runtime: string, outcome: CallEnd['outcome']): CallEnd => {
    const elapsed_ms = clock.monotonic() - from.monotonic;
    return { run, runtime, outcome, started_at: from.started_at, elapsed_ms };
  };
  const runtime = families[0]?.family ?? ask.families?.[0] ?? 'default';
  if (signal.aborted) return ended(runtime, refuse('cancelled', 'the run was stopped before this call'));
  const admitted = await meter.admit(ask);
  if (!admitted.ok) return ended(runtime, admitted);
  if (families.length === 0) {
    const none = ended(runtime, refuse('no_model', 'nothing is set up that could answer'));
    admitted.settle(callRecord(ask, none));
    return none;
  }
  return askFamilies({ parts, ask, families, grant: admitted, ended }, signal);
}

interface Asking {
  readonly parts: LiveParts;
  readonly ask: CallAsk;
  readonly families: readonly InnerCall[];
  readonly grant: Grant;
  readonly ended: (runtime: string, outcome: CallEnd['outcome']) => CallEnd;
}

/** After these another family may still answer. */
const NEXT: ReadonlySet<InnerRefusal> = new Set(['no_model', 'runtime_error', 'runtime_unsuccessful', 'timeout']);

async function askFamilies(asking: Asking, signal: AbortSignal): Promise<CallEnd> {
  const { ask, families, grant, ended } = asking;
  const failures: string[] = [];
  let end = ended('default', refuse('no_model', 'nothing is set up that could answer'));
  try {
    for (const inner of families) {
      const outcome = await askOne(asking, inner, signal);
      end = ended(inner.family, outcome);
      if (outcome.ok || !NEXT.has(outcome.reason as InnerRefusal) || signal.aborted) break;
      failures.push(`${inner.family}: ${outcome.detail}`);
      if (failures.length > 1) end = ended(inner.family, { ...outcome, detail: failures.join('; ') });
    }
    return end;
  } finally {
    grant.settle(callRecord(ask, end));
  }
}

async function askOne({ parts, ask, grant }: Asking, inner: InnerCall, signal: AbortSignal) {
  const { call_timeout_ms = CALL_TIMEOUT_MS, clock } = parts;
  const left_ms = grant.until - clock.monotonic();
  const timeout_ms = Math.max(1, Math.ceil(Math.min(call_timeout_ms, left_ms)));
  const { call_id, system, prompt } = ask;
  const request = { call_id, system, prompt, max_output_tokens: grant.max_output_tokens, timeout_ms };
  const outcome = await settleCall({ inner, clock }, request, signal);
  const outOfTime = !outcome.ok && outcome.reason === 'timeout' && left_ms < call_timeout_ms;
  return outOfTime ? refuse('budget_time', 'the time of the run was over before the reply') : outcome;
}

function familiesOf({ inner }: CallsParts, { families = [] }: CallAsk): readonly InnerCall[] {
  if (families.length > 0) return [...new Set(families)].flatMap((name) => inner.get(name) ?? []);
  return [inner.get('default') ?? [...inner.values()].slice(0, 1)].flat();
}

function refuseOther(known: CallRecord, ask: CallAsk): void {
  if (known.prompt_hash === textHash(ask.prompt) && known.system_prompt_hash === textHash(ask.system)) return;
  throw new TalariaError(`The call ${ask.call_id} was recorded with another prompt.`, { code: 'trace-diverged' });
}
