// Owns the reasons to propose a skill (seed 001 ch 11), as pure predicates over the messages of a stretch of conversation.
// Knows no model and no store. Invariant: a simple one-off meets none of them.
import type { Message } from '#core/model/message.ts';
import { isCorrection } from './correction-line.ts';
import { type DoneCall, succeeded, workCalls } from './done-calls.ts';
import { sameGoal, wayOf } from './same-goal.ts';
import { ownerWords, splitTurns, type Turn } from './split-turns.ts';

export type CreationTrigger = 'tool-calls' | 'error-recovery' | 'correction' | 'non-obvious';

/** Work calls of one task that make it more than trivial. */
const MANY_CALLS = 5;
/** Different ways that failed before one worked. */
const MANY_WAYS = 2;
/** Under this no way is long enough to be other than obvious. */
const FEW_CALLS = 3;

const ONE_OFF =
  /\b(?:just (?:this )?once|only (?:this )?once|one[- ]off|just for now|throw ?away|don'?t (?:remember|save|learn|keep) (?:this|that|it)|quick question)\b/i;

export interface TriggerOptions {
  /** The steps of one task are spread over several lines of the owner, as with a model that only follows commands. */
  readonly acrossTurns?: boolean;
}

/** Each met reason once. */
export function creationTriggers(
  messages: readonly Message[],
  options: TriggerOptions = {},
): readonly CreationTrigger[] {
  const turns = splitTurns(messages).filter((turn) => !isOneOff(turn));
  const tasks = options.acrossTurns === true ? [turns.flat()] : turns;
  const met = new Set<CreationTrigger>();
  for (const task of tasks) for (const trigger of ofTask(task)) met.add(trigger);
  if (hasCorrection(turns)) met.add('correction');
  return [...met];
}

/** The owner said that it will not come again. */
function isOneOff(turn: Turn): boolean {
  return turn.some((message) => ONE_OFF.test(ownerWords(message)));
}

function ofTask(messages: readonly Message[]): readonly CreationTrigger[] {
  const calls = workCalls(messages);
  const met: CreationTrigger[] = [];
  if (isLong(calls)) met.push('tool-calls');
  if (recovered(calls)) met.push('error-recovery');
  if (wentRound(calls)) met.push('non-obvious');
  return met;
}

/** The same look-up again and again is no procedure. */
function isLong(calls: readonly DoneCall[]): boolean {
  const distinct = new Set(calls.map(({ call }) => `${call.name} ${JSON.stringify(call.arguments)}`));
  return calls.length >= MANY_CALLS && distinct.size > 1 && calls.some(succeeded);
}

/** A failed call, then one for the same goal that worked. */
function recovered(calls: readonly DoneCall[]): boolean {
  return calls.some(
    (failed, index) =>
      !succeeded(failed) && calls.slice(index + 1).some((later) => succeeded(later) && sameGoal(failed, later)),
  );
}

/** Several ways were tried, or one led nowhere and another one did it. */
function wentRound(calls: readonly DoneCall[]): boolean {
  if (calls.length < FEW_CALLS) return false;
  const last = calls.findLastIndex(succeeded);
  const failed = calls.slice(0, Math.max(0, last)).filter((call) => !succeeded(call));
  const deadEnds = failed.filter((one) => !calls.some((other) => succeeded(other) && wayOf(other) === wayOf(one)));
  const ways = new Set(failed.map(wayOf));
  return deadEnds.length > 0 || ways.size >= MANY_WAYS;
}

/** A line that sets right what the turn before it did. */
function hasCorrection(turns: readonly Turn[]): boolean {
  return turns.some((turn, index) => {
    const before = turns[index - 1];
    return before !== undefined && workCalls(before).length > 0 && isCorrection(ownerWords(turn[0]));
  });
}
