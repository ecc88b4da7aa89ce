// Owns the calls of a replay: each is answered from the record, none is made. Invariant: no model; a call that is asked with other words than
// recorded has diverged; a call that a killed run never had an answer to ends the replay there.
import { TalariaError } from '#base/errors.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { CallAsk, Calls } from '../../call/calls.ts';
import type { Difference } from '../event-difference.ts';
import { textHash } from '../text-hash.ts';

export interface RecordedCalls extends Calls {
  /** Calls that were answered. */
  readonly answered: number;
  readonly difference: Difference | null;
  /** The first call without a record. */
  readonly missing: string | null;
}

export function recordedCalls(recorded: (call_id: string) => CallRecord | undefined): RecordedCalls {
  return new AnsweredCalls(recorded);
}

class AnsweredCalls implements RecordedCalls {
  answered = 0;
  difference: Difference | null = null;
  missing: string | null = null;
  readonly #recorded: (call_id: string) => CallRecord | undefined;

  constructor(recorded: (call_id: string) => CallRecord | undefined) {
    this.#recorded = recorded;
  }

  async ask(ask: CallAsk): Promise<CallRecord> {
    const known = this.#recorded(ask.call_id);
    if (known === undefined) {
      this.missing ??= ask.call_id;
      throw new TalariaError(`The run has no answer to the call ${ask.call_id}.`, { code: 'replay-cut' });
    }
    this.difference ??= callDifference(known, ask);
    if (this.difference !== null)
      throw new TalariaError(`The call ${ask.call_id} was asked with other words.`, { code: 'trace-diverged' });
    this.answered += 1;
    return known;
  }
}

function callDifference(known: CallRecord, ask: CallAsk): Difference | null {
  const where = { seq: null, field: `call ${ask.call_id}` };
  if (textHash(known.prompt) !== textHash(ask.prompt))
    return { ...where, field: `${where.field}, prompt`, ...firstDifference(known.prompt, ask.prompt) };
  if (textHash(known.system_prompt) !== textHash(ask.system))
    return { ...where, field: `${where.field}, system prompt`, ...firstDifference(known.system_prompt, ask.system) };
  return null;
}

/** From a little before the first character that differs. */
function firstDifference(stored: string, replayed: string) {
  let at = 0;
  while (at < stored.length && stored[at] === replayed[at]) at += 1;
  const from = Math.max(0, at - 20);
  const cut = (text: string) => text.slice(from, from + 80).toWellFormed();
  return { stored: cut(stored), replayed: cut(replayed) };
}
