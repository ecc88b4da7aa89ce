// Owns what a model reads of an ask: cited sentences, the sources they rest on, and apart from them what nothing supports. Pure.
// Invariant: a sentence without support never stands among the cited ones; every source named is one of the outcome's handles.
import type { AskOutcome, Handle } from '../ask/ask-outcome.ts';
import { block, gapLines, oneLine, placeText, quoted } from './cited-lines.ts';

export function askText(outcome: AskOutcome): string {
  const { sentences, handles, gaps, verdict, detail } = outcome;
  const cited = sentences.filter(({ status }) => status === 'cited');
  const rest = sentences.filter(({ status }) => status !== 'cited');
  const head =
    verdict === 'answered'
      ? cited.map(({ text, handles: ids }) => `${oneLine(text)} [${ids.join(', ')}]`)
      : [`No supported answer: ${detail ?? NO_ANSWER[verdict]}`];
  return [
    ...head,
    ...block('Sources:', sourcesOf(new Set(cited.flatMap((sentence) => sentence.handles)), handles)),
    ...block(
      'Not supported by the material; do not state it as fact:',
      rest.map(
        ({ text, missing }) => `${oneLine(text)}${missing.length > 0 ? ` (${missing.map(oneLine).join('; ')})` : ''}`,
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
function sourcesOf(cited: ReadonlySet<string>, handles: readonly Handle[]): readonly string[] {
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  const wanted = new Set<string>();
  const want = (id: string): void => {
    const handle = byId.get(id);
    if (handle === undefined || wanted.has(id)) return;
    wanted.add(id);
    for (const inner of restsOn(handle)) want(inner);
  };
  for (const id of cited) want(id);
  return handles.filter(({ id }) => wanted.has(id)).map((handle) => sourceLine(handle, byId));
}

function restsOn(handle: Handle): readonly string[] {
  if (handle.kind === 'child') return [handle.over];
  return handle.kind === 'computed' ? handle.inputs : [];
}

function sourceLine(handle: Handle, byId: ReadonlyMap<string, Handle>): string {
  switch (handle.kind) {
    case 'span':
      return `[${handle.id}] ${placeText(handle.place)} ${quoted(handle.quote)}`;
    case 'child': {
      const over = byId.get(handle.over);
      const where = over?.kind === 'span' ? placeText(over.place) : handle.over;
      return `[${handle.id}] found in ${where}: ${quoted(handle.text)}`;
    }
    case 'computed':
      return `[${handle.id}] computed from ${handle.inputs.join(', ')}: ${oneLine(handle.output)}`;
  }
}
