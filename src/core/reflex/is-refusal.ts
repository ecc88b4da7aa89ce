// Owns telling the refusals of `reflex/1` from its answers: no rule fits and a model is needed, or a rule may not go on.
// Knows no surface. Invariant: compared with the templates themselves, so that new words need no change elsewhere.
import { type Message, messageText } from '#core/model/message.ts';
import { REFLEX_ID } from './decide-turn.ts';
import { english } from './english/english.ts';
import type { Language } from './language.ts';

/** No rule fits the line. */
export function isRefusal(message: Message, language: Language = english): boolean {
  return isOurs(message) && messageText(message) === language.templates.refusal;
}

/** A rule fits, but its tool is not there, or it took too many steps. */
export function isStopped(message: Message, { templates }: Language = english): boolean {
  const text = messageText(message);
  const [before = '', after = ''] = templates.toolMissing.split('{}');
  return isOurs(message) && (text === templates.tooManySteps || (text.startsWith(before) && text.endsWith(after)));
}

function isOurs(message: Message): boolean {
  return message.role === 'assistant' && message.model === REFLEX_ID;
}
