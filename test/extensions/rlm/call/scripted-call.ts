/**
 * An InnerCall that answers with the steps it was given, in the order of asking, and fails loudly on anything else. It keeps the
 * contract: size, time and abort end it as they end the real ones.
 */
import { systemClock } from '#base/clock.ts';
import { ok, refuse } from '#base/result.ts';
import {
  type InnerCall,
  type InnerFailure,
  type InnerRefusal,
  type InnerReply,
  type InnerRequest,
  longestReply,
  tooLong,
} from '#extensions/rlm/call/inner-call.ts';

export type ScriptedInner =
  | string
  | (Partial<InnerReply> & { readonly completion: string })
  | { readonly refuse: InnerRefusal; readonly detail?: string }
  | { readonly hang: true }
  | ((request: InnerRequest) => ScriptedInner);

export interface ScriptedCall extends InnerCall {
  readonly requests: readonly InnerRequest[];
  /** Steps not used yet. */
  readonly left: () => number;
}

/** One function instead of a list answers every call. Without `after` a leftover step is the test's to check. */
export function createScriptedCall(
  steps: readonly ScriptedInner[] | ((request: InnerRequest) => ScriptedInner),
  { family = 'default' }: { readonly family?: string } = {},
): ScriptedCall {
  const queue = typeof steps === 'function' ? undefined : [...steps];
  const requests: InnerRequest[] = [];
  return {
    family,
    requests,
    left: () => queue?.length ?? 0,
    call: async (request, signal) => {
      if (signal.aborted) return refuse('cancelled', 'the call was stopped on request');
      requests.push(request);
      const step = queue === undefined ? (steps as (request: InnerRequest) => ScriptedInner) : queue.shift();
      if (step === undefined) throw new Error(`scripted call: ${request.call_id} was not expected`);
      return play(step, request, signal);
    },
  };
}

async function play(
  step: ScriptedInner,
  request: InnerRequest,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly value: InnerReply } | InnerFailure> {
  if (typeof step === 'function') return play(step(request), request, signal);
  await Promise.resolve();
  if (typeof step === 'string') return play({ completion: step }, request, signal);
  if ('refuse' in step) return refuse(step.refuse, step.detail ?? 'scripted');
  if ('hang' in step) return waitOut(request, signal);
  const longest = longestReply(request.max_output_tokens);
  if (step.completion.length > longest) return refuse('reply_too_large', tooLong(longest, request.max_output_tokens));
  if (step.completion.trim() === '') return refuse('runtime_error', 'the script answered with nothing');
  const usage = { input_tokens: 100, output_tokens: 10 };
  return ok({ model: 'scripted/inner', usage, cost: 0, elapsed_ms: 0, exit_code: null, ...step });
}

async function waitOut({ timeout_ms }: InnerRequest, signal: AbortSignal): Promise<InnerFailure> {
  try {
    await systemClock.sleep(timeout_ms, signal);
    return refuse('timeout', 'no whole reply');
  } catch (error) {
    if (!signal.aborted) throw error;
    return refuse('cancelled', 'the call was stopped on request');
  }
}
