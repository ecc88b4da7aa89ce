// Owns what a person reads of an ask's outcome: the cited sentences with their handles, those that are not supported, what was read. Pure.
// Invariant: a sentence without support is never among the cited ones.
import type { AskOutcome, Handle } from '../ask/ask-outcome.ts';
import { share, size } from '../page/markup/figures.ts';
import { placeText } from '../run/place-text.ts';
import { block, gapLines, oneLine } from './lines.ts';

export function askOutcomeLines(outcome: AskOutcome): readonly string[] {
  const { sentences, handles, bytes_read, bytes_total, steps } = outcome;
  const cited = sentences.filter(({ status }) => status === 'cited');
  const used = new Set(cited.flatMap((sentence) => sentence.handles));
  return [
    ...block(
      'Cited:',
      cited.map(({ text, handles: ids }) => `${oneLine(text, 600)} [${ids.join(', ')}]`),
    ),
    ...block('Rests on:', handles.filter(({ id }) => used.has(id)).map(handleLine)),
    ...block(
      'Not supported:',
      sentences
        .filter(({ status }) => status !== 'cited')
        .map(({ text, missing }) => `${oneLine(text, 400)} (missing: ${oneLine(missing.join(', '), 200)})`),
    ),
    ...block('Gaps:', gapLines(outcome.gaps)),
    '',
    `A model has seen ${size(bytes_read)} of ${size(bytes_total)} (${share(bytes_read, bytes_total)}); ${steps} code blocks ran.`,
  ];
}

function handleLine(handle: Handle): string {
  switch (handle.kind) {
    case 'span':
      return `[${handle.id}] ${placeText(handle.place)} "${oneLine(handle.quote)}"`;
    case 'child':
      return `[${handle.id}] sub-call ${handle.call_id} over ${handle.over}: "${oneLine(handle.text)}"`;
    case 'computed':
      return `[${handle.id}] computed by code: ${oneLine(handle.code)} over ${handle.inputs.join(', ')}: ${oneLine(handle.output)}`;
  }
}
