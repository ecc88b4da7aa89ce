// Owns the questions that reflex refused in a conversation: what it offers to a model as soon as there is one (reflex 9).
// Invariant: read from the messages alone, so that it survives a restart.
import type { Message } from '#core/model/message.ts';
import { ownerLine, REFLEX_ID } from './decide-turn.ts';
import { english } from './english/english.ts';
import { isRefusal } from './is-refusal.ts';
import type { Language } from './language.ts';

/** Oldest first, each once; what a later answer of a real model followed is no longer kept. */
export function keptQuestions(messages: readonly Message[], language: Language = english): readonly string[] {
  let kept: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    if (message.model !== REFLEX_ID) kept = [];
    else if (isRefusal(message, language)) kept.push(lineBefore(messages, index));
  }
  return [...new Set(kept.filter((line) => line !== ''))];
}

function lineBefore(messages: readonly Message[], index: number): string {
  return ownerLine(messages.slice(0, index).findLast((message) => message.role === 'user'));
}
