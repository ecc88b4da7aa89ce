// Owns the two nudge counters of seed 001 ch 13: turns of the owner since memory was used, steps with tool calls since a skill was.
// Pure: a fold over turns, so that counters of a resumed session are those of the live one. Knows no clock and no review.
// Invariants: an interval of 0 is never due; a turn without a word of the owner counts nothing.
import type { Message } from '#core/model/message.ts';
import { doneCalls, wroteWith } from './done-calls.ts';
import { ownerWords, splitTurns, type Turn } from './split-turns.ts';

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

export const DEFAULT_INTERVALS: NudgeIntervals = { memory: 10, skills: 10 };
export const FRESH_COUNTERS: NudgeCounters = { turnsSinceMemory: 0, iterationsSinceSkill: 0 };

/** Counters after one more turn. A successful use of the tool by the agent itself starts its counter again. */
export function countTurn(counters: NudgeCounters, turn: Turn): NudgeCounters {
  const calls = doneCalls(turn);
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
  return message.role === 'assistant' && message.parts.some((part) => part.type === 'tool-call');
}
