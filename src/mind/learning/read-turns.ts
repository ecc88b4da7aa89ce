// Owns reading a conversation for what can be learned: its turns and the owner's words, the nudge counters and the reasons to propose a skill (seed
// 001 ch 11, 13), plain statements worth keeping.

import type { JsonObject } from '#base/json.ts';
import { sentencesOf } from '#base/text/sentences.ts';
import { contentStems } from '#base/text/words.ts';
import { isText, type Message, startsTurn, toolCalls } from '#core/model/message.ts';
import {
  type DoneCall,
  doneCalls,
  overlap,
  succeeded,
  targetOf,
  textArgument,
  wroteWith,
} from '#mind/memory/kept-entries.ts';
import { isCorrection } from './learning.rules.ts';

/** Messages of one turn; the first one is the line that began it, except in a history that was cut. */
export type Turn = readonly Message[];

export function splitTurns(messages: readonly Message[]): readonly Turn[] {
  const turns: Message[][] = [];
  for (const message of messages) {
    const current = turns.at(-1);
    if (current === undefined || startsTurn(message)) turns.push([message]);
    else current.push(message);
  }
  return turns;
}

/** What the owner typed in this message: no context, no piped text, no words of programs. */
export function ownerWords(message: Message | undefined): string {
  if (message?.role !== 'user') return '';
  return message.parts
    .filter(isText)
    .filter(({ origin, label }) => origin === 'owner' && (label === undefined || label === 'steer'))
    .map(({ text }) => text)
    .join('\n')
    .trim();
}

/** Looking things up in one's own head is no step of a task. */
const HOUSEKEEPING: ReadonlySet<string> = new Set([
  'memory',
  'skill_manage',
  'skill_view',
  'skills_list',
  'session_search',
  'todo',
  'clarify',
]);

/** Calls that ran and belong to the task itself. */
export function workCalls(messages: readonly Message[]): readonly DoneCall[] {
  return doneCalls(messages).filter(
    ({ call, result }) => !HOUSEKEEPING.has(call.name) && result.observed.refused === undefined,
  );
}

/** A line that asks for what was done before. */
const REPEAT =
  /^(?:please\s+)?(?:do|repeat|redo|replay|rerun|run)\b(?:.{0,40}\bdid\b|\s+(?:it|that|this|them|everything|(?:the|those|these) steps|the same(?: thing)?)\s+(?:again|once more)[.!]?$)/i;
const LONGEST_ANSWER = 20;

export function followsSkill(turn: Turn): boolean {
  return doneCalls(turn).some(({ call, result }) => call.name === 'skill_view' && !result.isError);
}

/** In order; those that only replayed something are left out. */
export function ownTurns<Message extends Turn[number]>(messages: readonly Message[]): readonly (readonly Message[])[] {
  let asked = false;
  return (splitTurns(messages) as readonly (readonly Message[])[]).filter((turn) => {
    const line = ownerWords(turn[0]);
    const replays = followsSkill(turn) || REPEAT.test(line.trim()) || (asked && line.length <= LONGEST_ANSWER);
    asked = replays && workCalls(turn).length === 0;
    return !replays;
  });
}

/** Share of the smaller call's words that both must have. */
const SHARED = 0.5;
/** Programs that only run another one. */
const WRAPPERS = /^(?:sudo|doas|time|nohup|env|npx|pnpm exec|python3? -m|bash -c|sh -c|timeout \S+)\s+/;

function sameGoal(first: DoneCall, second: DoneCall): boolean {
  if (first.call.name !== second.call.name) return false;
  const paths = [first, second].map(({ call }) => textArgument(call.arguments, 'path'));
  if (paths[0] !== '' && paths[0] === paths[1]) return true;
  const [a, b] = [wordsOf(first.call.arguments), wordsOf(second.call.arguments)];
  const shared = [...a].filter((word) => b.has(word)).length;
  const smaller = Math.min(a.size, b.size);
  return smaller === 0 ? wayOf(first) === wayOf(second) : shared / smaller >= SHARED;
}

/** The tool, and for a command its program: `terminal npm`, `read_file`. */
function wayOf({ call }: DoneCall): string {
  const command = textArgument(call.arguments, 'command').trim().replace(WRAPPERS, '');
  const program = /^[^\s;&|]+/.exec(command)?.[0] ?? '';
  return `${call.name} ${program}`.trim();
}

function wordsOf(data: JsonObject): ReadonlySet<string> {
  return new Set(
    contentStems(
      Object.values(data)
        .filter((value) => typeof value === 'string')
        .join(' '),
    ),
  );
}

export type CreationTrigger = 'tool-calls' | 'error-recovery' | 'correction' | 'non-obvious';

/** Work calls of one task that make it more than trivial. */
const MANY_CALLS = 5;
/** Different ways that failed before one worked. */
const MANY_WAYS = 2;
/** Under this no way is long enough to be other than obvious. */
const FEW_CALLS = 3;

const ONE_OFF =
  /\b(?:just (?:this )?once|only (?:this )?once|one[- ]off|just for now|throw ?away|don'?t (?:remember|save|learn|keep) (?:this|that|it)|quick question)\b/i;

/** Each met reason once. `acrossTurns`: the steps of one task are spread over several lines, as with a model that only follows commands. */
export function creationTriggers(messages: readonly Message[], acrossTurns = false): readonly CreationTrigger[] {
  const turns = splitTurns(messages).filter((turn) => !isOneOff(turn));
  const tasks = acrossTurns ? [turns.flat()] : turns;
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

export interface NudgeCounters {
  readonly turnsSinceMemory: number;
  readonly iterationsSinceSkill: number;
}

export interface NudgeIntervals {
  /** Turns of the owner; 0: never. */
  readonly memory: number;
  /** Steps with tool calls; 0: never. */
  readonly skills: number;
}

export type NudgeKind = 'memory' | 'skills';

export const FRESH_COUNTERS: NudgeCounters = { turnsSinceMemory: 0, iterationsSinceSkill: 0 };

/** Counters after one more turn. A successful use of the tool by the agent itself starts its counter again. */
export function countTurn(counters: NudgeCounters, turn: Turn): NudgeCounters {
  const calls = turn.some(callsTools) ? doneCalls(turn) : [];
  const memory = calls.some((call) => wroteWith('memory', call));
  const lastSkill = calls.findLast((call) => wroteWith('skill_manage', call))?.at;
  const isOwners = turn.some((message) => ownerWords(message) !== '');
  const steps = isOwners ? turn.slice((lastSkill ?? -1) + 1).filter(callsTools).length : 0;
  return {
    turnsSinceMemory: memory ? 0 : counters.turnsSinceMemory + (isOwners ? 1 : 0),
    iterationsSinceSkill: (lastSkill === undefined ? counters.iterationsSinceSkill : 0) + steps,
  };
}

/** Counters of a stored conversation; `after` is what stands behind the last review of each kind. */
export function rebuildCounters(after: Readonly<Record<NudgeKind, readonly Message[]>>): NudgeCounters {
  const memory = splitTurns(after.memory).reduce(countTurn, FRESH_COUNTERS);
  const skills = splitTurns(after.skills).reduce(countTurn, FRESH_COUNTERS);
  return { turnsSinceMemory: memory.turnsSinceMemory, iterationsSinceSkill: skills.iterationsSinceSkill };
}

export function dueNudges(counters: NudgeCounters, intervals: NudgeIntervals): readonly NudgeKind[] {
  const due: NudgeKind[] = [];
  if (intervals.memory > 0 && counters.turnsSinceMemory >= intervals.memory) due.push('memory');
  if (intervals.skills > 0 && counters.iterationsSinceSkill >= intervals.skills) due.push('skills');
  return due;
}

/** What fired starts again. */
export function afterReview(counters: NudgeCounters, fired: readonly NudgeKind[]): NudgeCounters {
  return {
    turnsSinceMemory: fired.includes('memory') ? 0 : counters.turnsSinceMemory,
    iterationsSinceSkill: fired.includes('skills') ? 0 : counters.iterationsSinceSkill,
  };
}

function callsTools(message: Message): boolean {
  return toolCalls(message).length > 0;
}

interface OwnerStatement {
  readonly text: string;
  readonly target: 'memory' | 'user';
  /** Place of its message. */
  readonly at: number;
}

const FORMS: readonly RegExp[] = [
  /^(?:remember|note|keep in mind|don['’]?t forget)\b(?: that|:)? \S+ \S+/i,
  /^(?:my|our) [\p{L}\p{N}' -]{2,60}? (?:is|are|runs?|lives?|uses?|hosts?|deploys?) \S/iu,
  /^(?:i|we) (?:(?:always|usually|never) )?(?:prefer|use|like|deploy|host)\b/i,
  /^(?:always|never|from now on|call me)\b \S/i,
];
/** About this moment, or open: no entry, whatever its form. */
const PASSING =
  /\b(?:now|today|again|currently|yesterday|tomorrow|tonight|this (?:time|once)|at the moment|if|maybe|perhaps)\b/i;
/** What was ordered is kept without the order. */
const ORDER = /^(?:remember|note|keep in mind|don['’]?t forget)\b(?: that|:)?/i;
const LONGEST = 200;
/** How much of it an entry already says. */
const KNOWN = 0.8;

/** Those that no entry says already; each once. */
export function ownerStatements(messages: readonly Message[], kept: readonly string[]): readonly OwnerStatement[] {
  const found: OwnerStatement[] = [];
  for (const [at, message] of messages.entries()) {
    for (const text of sentences(ownerWords(message))) {
      const known = [...kept, ...found.map((one) => one.text)];
      const isStatement = text.length <= LONGEST && !PASSING.test(text) && FORMS.some((form) => form.test(text));
      const told = text.replace(ORDER, '');
      if (isStatement && !known.some((entry) => overlap(told, entry) > KNOWN))
        found.push({ text, target: targetOf(text), at });
    }
  }
  return found;
}

/** Without the mark at their end, but for a question's. */
function sentences(text: string): readonly string[] {
  const said = sentencesOf(text, 'said').map((sentence) => sentence.replace(/[.!]+$/, '').trim());
  return said.filter((plain) => !plain.endsWith('?'));
}
