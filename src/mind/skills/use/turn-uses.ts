// Owns which skills a turn truly used: seen in one step, and a call made in a later one. Pure; knows no store.
// Invariant: looking a skill up, or writing it, is no use of it.
import type { Message } from '#core/model/message.ts';
import { toolCalls } from '#core/model/message.ts';

const ABOUT_SKILLS: readonly string[] = ['skills_list', 'skill_view', 'skill_manage'];

/** Names among `viewed` and `injected` that a later call followed. `messages` may begin long before the turn. */
export function usedSkills(
  messages: readonly Message[],
  { viewed, injected }: { readonly viewed: ReadonlySet<string>; readonly injected: ReadonlySet<string> },
): readonly string[] {
  const turn = messages.slice(messages.findLastIndex(startsTurn) + 1);
  const working = (message: Message) => toolCalls(message).some(({ name }) => !ABOUT_SKILLS.includes(name));
  const lastWork = turn.findLastIndex(working);
  const seen = [...viewed].filter((name) => {
    const at = turn.findIndex((message) => views(message, name));
    return at >= 0 && at < lastWork;
  });
  return [...new Set([...seen, ...(lastWork >= 0 ? injected : [])])];
}

function views(message: Message, skill: string): boolean {
  return toolCalls(message).some(
    ({ name, arguments: given }) =>
      name === 'skill_view' && typeof given.name === 'string' && given.name.trim() === skill,
  );
}

/** A steer or a notice in mid-turn does not begin a new turn. */
function startsTurn(message: Message): boolean {
  return message.role === 'user' && message.parts.some(({ label }) => label === undefined || label === 'stdin');
}
