// Owns reading a procedure out of what was done: the calls that worked, in order, dead ends left out. Pure; knows no store.
// Invariant: every step is a call that ran and succeeded, with exactly its arguments.
import { canonicalJson } from '#base/json.ts';
import type { Message } from '#core/model/message.ts';
import { type DoneCall, succeeded, textArgument, workCalls } from '../../counters/done-calls.ts';
import { ownerWords, splitTurns } from '../../counters/split-turns.ts';
import type { CallStep } from './step.ts';

export interface Trace {
  readonly steps: readonly CallStep[];
  /** The call behind each step. */
  readonly calls: readonly DoneCall[];
  /** Calls that failed and were not made again with success. */
  readonly deadEnds: readonly DoneCall[];
  /** The owner's lines of the turns with calls, in order. */
  readonly lines: readonly TraceLine[];
}

export interface TraceLine {
  readonly text: string;
  /** Place in the messages. */
  readonly at: number;
  /** A call of its turn succeeded. */
  readonly worked: boolean;
}

const MOST_STEPS = 25;

export function traceOf(messages: readonly Message[]): Trace {
  const done = workCalls(messages);
  const worked = done.filter(succeeded);
  const calls = worked
    .filter((one, index) => index === 0 || keyOf(one) !== keyOf(worked[index - 1] as DoneCall))
    .slice(-MOST_STEPS);
  const keys = new Set(worked.map(keyOf));
  const deadEnds = done.filter((one) => !succeeded(one) && !keys.has(keyOf(one)));
  return { steps: calls.map(stepOf), calls, deadEnds, lines: linesOf(messages) };
}

export function stepOf({ call }: DoneCall): CallStep {
  return { kind: 'call', tool: call.name, arguments: call.arguments };
}

/** Equal for calls that do the same. */
export function keyOf({ call }: DoneCall): string {
  return `${call.name} ${canonicalJson(call.arguments)}`;
}

/** A step in a few words: the command, the path. */
export function shortStep({ tool, arguments: given }: CallStep): string {
  const text = textArgument(given, 'command') || textArgument(given, 'path') || textArgument(given, 'pattern');
  return tool === 'terminal' ? `$ ${text}` : `${tool} ${text}`.trim();
}

function linesOf(messages: readonly Message[]): Trace['lines'] {
  let at = 0;
  return splitTurns(messages).flatMap((turn) => {
    const place = at;
    at += turn.length;
    const text = ownerWords(turn[0]);
    const calls = workCalls(turn);
    return text !== '' && calls.length > 0 ? [{ text, at: place, worked: calls.some(succeeded) }] : [];
  });
}
