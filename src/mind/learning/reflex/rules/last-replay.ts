// Owns finding the replay that the owner's line may be about: the newest turn with calls, when it played a skill. Pure.
import type { Message } from '#core/model/message.ts';
import { doneCalls, textArgument, workCalls } from '../../counters/done-calls.ts';
import { splitTurns } from '../../counters/split-turns.ts';

/** The skill that was viewed and followed in the newest turn that did anything, or was changed since; undefined otherwise. */
export function lastReplay(history: readonly Message[]): string | undefined {
  for (const turn of splitTurns(history).toReversed()) {
    const calls = doneCalls(turn);
    const viewed = calls.find(({ call, result }) => call.name === 'skill_view' && !result.isError);
    const patched = calls.find(({ call, result }) => call.name === 'skill_manage' && !result.isError);
    const skill = viewed ?? patched;
    if (skill !== undefined && (patched !== undefined || workCalls(turn).length > 0))
      return textArgument(skill.call.arguments, 'name');
    if (workCalls(turn).length > 0) return undefined;
  }
  return undefined;
}
