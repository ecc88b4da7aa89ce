// Owns the outer bound of an inner call: whatever the other side does, a call is over soon after its time or its abort.
// Invariant: settles once; what comes later is heard by nobody; a bug (a rejection) is passed on.
import type { Clock } from '#base/clock.ts';
import type { Ok } from '#base/result.ts';
import { ok, refuse } from '#base/result.ts';
import type { InnerCall, InnerFailure, InnerReply, InnerRequest } from './inner-call.ts';
import { longestReply, tooLong } from './reply-size.ts';

export type InnerOutcome = Ok<InnerReply> | InnerFailure;

/** What an inner call has to end by itself, beyond what its contract says, ms. */
const GRACE_MS = 2_000;

export async function settleCall(
  { inner, clock }: { readonly inner: InnerCall; readonly clock: Clock },
  request: InnerRequest,
  signal: AbortSignal,
): Promise<InnerOutcome> {
  const outcome = await bounded({ inner, clock }, request, signal);
  if (!outcome.ok) return outcome;
  const longest = longestReply(request.max_output_tokens);
  const { completion } = outcome.value;
  if (completion.length <= longest) return ok({ ...outcome.value, completion: completion.toWellFormed() });
  return refuse('reply_too_large', tooLong(longest, request.max_output_tokens));
}

function bounded(
  { inner, clock }: { readonly inner: InnerCall; readonly clock: Clock },
  request: InnerRequest,
  signal: AbortSignal,
): Promise<InnerOutcome> {
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
