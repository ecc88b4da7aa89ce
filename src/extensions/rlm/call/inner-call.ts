// Owns the InnerCall seam: one bounded request to a model, and its whole reply. Implemented by the turn (turn-call.ts), by a program of
// another agent (process-call.ts) and by scripts of tests. Contract suite: test/extensions/rlm/call/inner-call.contract.ts.
import { type Ok, type Refusal, refuse } from '#base/result.ts';

export interface InnerRequest {
  /** Unique within the run. */
  readonly call_id: string;
  /** What holds for every call of its kind: the rules of a reply. */
  readonly system: string;
  /** One JSON object or a text, as text. */
  readonly prompt: string;
  /** Hard: what streams beyond about eight characters for each token is cut off as `reply_too_large`. */
  readonly max_output_tokens: number;
  /** From request to whole reply. */
  readonly timeout_ms: number;
}

export interface InnerReply {
  readonly completion: string;
  /** `<provider>/<model>`, or the program that answered. */
  readonly model: string;
  /** Null: it was not told. Never guessed. */
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
  /** US dollars; null: not known. */
  readonly cost: number | null;
  readonly elapsed_ms: number;
  /** Of a program; null for a turn. */
  readonly exit_code: number | null;
}

export type InnerRefusal =
  | 'runtime_error' // the provider or the program failed; the detail says how
  | 'runtime_unsuccessful' // a program ended with another exit code than 0
  | 'no_model' // nothing is there that could answer
  | 'timeout'
  | 'reply_too_large'
  | 'cancelled';

export interface InnerFailure extends Refusal<InnerRefusal> {
  /** Of a program that ended by itself. */
  readonly exit_code?: number;
}

export type InnerOutcome = Ok<InnerReply> | InnerFailure;

/**
 * Contract. Settles once with a reply or a refusal, never throws for anything that the other side did; after an abort within a second, as
 * `cancelled`, with nothing left alive. May be called many times at once. No tool is ever runnable in it.
 */
export interface InnerCall {
  /** Name of the family in traces and memory: `default`, or a key of `rlm.families`. */
  readonly family: string;
  call(request: InnerRequest, signal: AbortSignal): Promise<InnerOutcome>;
}

/** UTF-16 units that a reply may have, whoever answers. */
export function longestReply(max_output_tokens: number): number {
  return Math.max(1, max_output_tokens) * 8;
}

export function tooLong(chars: number, max_output_tokens: number): string {
  return `the reply has more than ${chars} characters; ${max_output_tokens} tokens were granted`;
}

export function cancelledCall(): InnerFailure {
  return refuse('cancelled', 'the call was stopped on request');
}
