// Owns what a model reads of an ask: cited sentences, the sources they rest on, and apart from them what nothing supports. Pure.
// Invariant: a sentence without support never stands among the cited ones; every source named is one of the outcome's handles.
import { oneLine as foldLine } from '#base/text.ts';
import type { AnswerSentence, AskOutcome, Handle } from '../ask/ask-outcome.ts';
import { placeText } from '../run/place-text.ts';
import { block, citedLine, gapLines, isSaid, oneLine, quoted } from './cited-lines.ts';

export function askText(outcome: AskOutcome): string {
  const { sentences, handles, gaps, verdict, detail } = outcome;
  const cited = sentences.filter(({ status }) => status === 'cited');
  const rest = sentences.filter(({ status }) => status !== 'cited');
  const head =
    verdict === 'answered'
      ? cited.map(({ text, handles: ids }) => citedLine(text, ids))
      : [`No supported answer: ${detail ?? NO_ANSWER[verdict]}`];
  return [
    ...head,
    ...block('Sources:', sourcesOf(verdict === 'answered' ? cited : [], handles)),
    ...block(
      'Not supported by the material; do not state it as fact:',
      rest.map(
        ({ text, missing }) =>
          `${oneLine(text)}${missing.length > 0 ? ` (${missing.map((one) => oneLine(one)).join('; ')})` : ''}`,
      ),
    ),
    ...block('Not read or not done:', gapLines(gaps)),
  ].join('\n');
}

const NO_ANSWER: Readonly<Record<Exclude<AskOutcome['verdict'], 'answered'>, string>> = {
  unsupported: 'the material supports nothing of what was answered.',
  no_answer: 'the model never came to an answer.',
  failed: 'the run failed.',
  cancelled: 'the run was stopped.',
};

/** What is cited, and what that in turn rests on, in the order in which it was made. */
function sourcesOf(cited: readonly AnswerSentence[], handles: readonly Handle[]): readonly string[] {
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  const wanted = new Set<string>();
  const want = (id: string): void => {
    const handle = byId.get(id);
    if (handle === undefined || wanted.has(id)) return;
    wanted.add(id);
    for (const inner of restsOn(handle)) want(inner);
  };
  for (const id of cited.flatMap((sentence) => sentence.handles)) want(id);
  const answer = cited.map(({ text }) => foldLine(text)).join('\n');
  return handles.filter(({ id }) => wanted.has(id)).map((handle) => sourceLine(handle, { byId, answer }));
}

function restsOn(handle: Handle): readonly string[] {
  if (handle.kind === 'child') return [handle.over];
  return handle.kind === 'computed' ? handle.inputs : [];
}

interface Shown {
  readonly byId: ReadonlyMap<string, Handle>;
  /** What has been said already. */
  readonly answer: string;
}

function sourceLine(handle: Handle, { byId, answer }: Shown): string {
  switch (handle.kind) {
    case 'span': {
      const place = `[${handle.id}] ${placeText(handle.place)}`;
      return isSaid(handle.quote, answer) ? place : `${place} ${quoted(handle.quote)}`;
    }
    case 'child': {
      const over = byId.get(handle.over);
      const where = over?.kind === 'span' ? placeText(over.place) : handle.over;
      return `[${handle.id}] found in ${where}: ${quoted(handle.text)}`;
    }
    case 'computed':
      return `[${handle.id}] computed by code: ${oneLine(handle.code)} over ${handle.inputs.join(', ')}: ${oneLine(handle.output)}`;
  }
}
