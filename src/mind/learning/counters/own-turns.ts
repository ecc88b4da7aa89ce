// Owns telling what was newly done from what only repeated something: a skill that was followed, earlier steps played again. Pure.
// Invariant: the answer to the question before a replay belongs to the replay.
import { doneCalls, workCalls } from './done-calls.ts';
import { ownerWords, splitTurns, type Turn } from './split-turns.ts';

const REPEAT =
  /^(?:please\s+)?(?:do|repeat|redo|replay|rerun|run)\b(?:.{0,40}\bdid\b|\s+(?:it|that|this|them|everything|(?:the|those|these) steps|the same(?: thing)?)\s+(?:again|once more)[.!]?$)/i;
const LONGEST_ANSWER = 20;

/** Does the line ask for what was done before? */
function isRepeat(line: string): boolean {
  return REPEAT.test(line.trim());
}

export function followsSkill(turn: Turn): boolean {
  return doneCalls(turn).some(({ call, result }) => call.name === 'skill_view' && !result.isError);
}

/** In order; those that only replayed something are left out. */
export function ownTurns<Message extends Turn[number]>(messages: readonly Message[]): readonly (readonly Message[])[] {
  let asked = false;
  return (splitTurns(messages) as readonly (readonly Message[])[]).filter((turn) => {
    const line = ownerWords(turn[0]);
    const replays = followsSkill(turn) || isRepeat(line) || (asked && line.length <= LONGEST_ANSWER);
    asked = replays && workCalls(turn).length === 0;
    return !replays;
  });
}
