// Owns telling the refusal of `reflex/1` from its answers: only this one text means that no rule fits and a model is needed.
// Knows no surface. Invariant: compared with the template itself, so that new words for the refusal need no change elsewhere.
import { type Message, messageText } from '#core/model/message.ts';
import { REFLEX_ID } from './decide-turn.ts';
import { english } from './english/english.ts';
import type { Language } from './language.ts';

export function isRefusal(message: Message, language: Language = english): boolean {
  const isOurs = message.role === 'assistant' && message.model === REFLEX_ID;
  return isOurs && messageText(message) === language.templates.refusal;
}
