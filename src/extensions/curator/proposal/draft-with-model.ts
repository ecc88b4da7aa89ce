// Owns asking a model for the draft of a proposal (seed 002, propose --draft-with-model; curator notes 13). Knows the cascade by `runTurn`
// alone. Invariants: one step, no tool; it ends within its time; every failure but the person's own stop is data for the proposal.
import { deadline, isAborted, raceAbort, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { redactSecrets } from '#base/secrets.ts';
import { cutPoints } from '#base/text/code-points.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { CuratorMind } from '../curator-ground.ts';

export type Draft = { readonly text: string } | { readonly error: string };

export interface DraftQuestion {
  readonly prompt: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

type TurnEnd = Extract<TurnEvent, { type: 'turn-end' }>;

const NO_MODEL = 'There is no language model to ask: `talaria setup` adds one.';
/** Characters of a draft that are kept. */
const LONGEST_DRAFT = 40_000;

/** @throws AbortedError when `signal` aborts. */
export async function draftWithModel(
  mind: Pick<CuratorMind, 'answering' | 'runTurn'>,
  { prompt, timeoutMs, clock }: DraftQuestion,
  signal: AbortSignal,
): Promise<Draft> {
  if (mind.answering() === 'T0') return { error: NO_MODEL };
  const late = () => new TalariaError(`no draft within ${timeoutMs / 1000} s`, { code: 'model-timeout' });
  const limit = deadline(clock, signal, timeoutMs, late);
  try {
    const request = { text: prompt, purpose: 'curate', tier: 'T1', tools: [], maxSteps: 1 } as const;
    return draftOf(await raceAbort(endOf(mind.runTurn(request, limit.signal)), limit.signal));
  } catch (error) {
    throwIfAborted(signal);
    if (isAborted(error) && !limit.signal.aborted) throw error;
    return { error: redactSecrets(errorText(limit.signal.aborted ? limit.signal.reason : error)) };
  } finally {
    limit.clear();
  }
}

async function endOf(events: AsyncIterable<TurnEvent>): Promise<TurnEnd | undefined> {
  let end: TurnEnd | undefined;
  for await (const event of events) if (event.type === 'turn-end') end = event;
  return end;
}

function draftOf(end: TurnEnd | undefined): Draft {
  if (end === undefined) return { error: 'the turn had no end' };
  if (end.outcome !== 'done' && end.text.trim() === '')
    return { error: redactSecrets(end.error?.message ?? `the turn ${end.outcome}`) };
  if (end.tier === 'T0') return { error: NO_MODEL };
  if (end.text.trim() === '') return { error: 'the model answered nothing' };
  return { text: cutPoints(redactSecrets(end.text.toWellFormed()), LONGEST_DRAFT) };
}
