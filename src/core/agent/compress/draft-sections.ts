// Owns the part of a summary that needs no model: exact values, files, errors, tasks, and plain lines in place of worded sections.
// Pure. Invariant: every line is a quotation or our own record, with the id of its message behind it.
import { ellipsize, sliceText } from '#base/text.ts';
import { messageText } from '#core/model/message.ts';
import { isTurnStart } from '../count-turns.ts';
import type { StoredMessage } from '../session-store.ts';
import { gatherSaid } from './anchors/gather-said.ts';
import { gatherValues } from './anchors/gather-values.ts';
import { gatherWork, latestTasks } from './anchors/gather-work.ts';
import type { Sections } from './summary.ts';

/** Characters of one quotation. */
const QUOTE = 200;
const MOST_ASKED = 60;

/** True whoever words the rest. @param kept what stays in the context */
export function exactSections(middle: readonly StoredMessage[], kept: readonly StoredMessage[]): Sections {
  const gone = middle.map((stored) => stored.message);
  const { files, errors } = gatherWork(middle);
  const values = gatherValues(
    gone,
    kept.map((stored) => stored.message),
  );
  return { ...values, Files: files, Errors: errors, Said: gatherSaid(middle), Tasks: latestTasks(gone) ?? [] };
}

/** Stand in for what a model would have worded. */
export function plainSections(middle: readonly StoredMessage[]): Sections {
  return { Goal: asked(middle), Done: gatherWork(middle).done, 'Active state': lastAnswer(middle) };
}

/** The first and the latest: a section keeps no more. */
function asked(messages: readonly StoredMessage[]): readonly string[] {
  const turns = messages.filter(({ message }) => isTurnStart(message));
  return [...turns.slice(0, 1), ...turns.slice(1).slice(-MOST_ASKED)].map(quote);
}

function lastAnswer(messages: readonly StoredMessage[]): readonly string[] {
  const last = messages.findLast(({ message }) => message.role === 'assistant' && messageText(message) !== '');
  return last === undefined ? [] : [quote(last)];
}

function quote({ id, message }: StoredMessage): string {
  return `${message.role}: ${ellipsize(sliceText(messageText(message), QUOTE * 2).replace(/\s+/g, ' '), QUOTE)} #${id}`;
}
