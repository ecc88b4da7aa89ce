// Owns what a model reads of an ask: the answer in its order, each sentence with its grade, and the sources it cites. Pure.
// Invariant: no sentence is without its grade; every source named is one of the outcome's handles.
import { oneLine as foldLine } from '#base/text.ts';
import type { AnswerSentence, AskOutcome, Handle } from '../ask/ask-outcome.ts';
import { placeText } from '../run/place-text.ts';
import { block, gapLines, isSaid, oneLine, quoted, SENTENCE } from './cited-lines.ts';

export function askText(outcome: AskOutcome): string {
  const { sentences, handles, gaps, verdict, detail } = outcome;
  const isBare = verdict !== 'answered' && sentences.length === 0;
  const head = isBare
    ? [`No answer: ${detail ?? NO_ANSWER[verdict]}`]
    : [LEGEND, '', ...sentences.slice(0, MOST).map(gradedLine)];
  const more = sentences.length > MOST ? [`and ${sentences.length - MOST} sentences more`] : [];
  return [
    ...head,
    ...more,
    ...block('Sources:', sourcesOf(sentences, handles)),
    ...block('Not read or not done:', gapLines(gaps)),
  ].join('\n');
}

const MOST = 40;

/** In words that keep apart what is proved, what a model says, and what nobody checked. */
const LEGEND =
  'Each sentence with its grade. quoted: it stands in the material word for word. supported: a model read its lines and says that they carry it. computed: the values are those of the code. not supported: not shown by its lines, which does not make it untrue; check it before you state it.';

function gradedLine({ text, grade, place, why, model, handles }: AnswerSentence): string {
  const where = place === null ? '' : ` ${placeText(place)}`;
  const by = model === '' ? '' : ` by ${model}`;
  const reason = why === '' ? '' : `: ${oneLine(why)}`;
  const ids = handles.length === 0 ? '' : ` [${handles.join(', ')}]`;
  return `${oneLine(text, SENTENCE)}${ids} (${grade.replace('-', ' ')}${where}${by}${reason})`;
}

const NO_ANSWER: Readonly<Record<AskOutcome['verdict'], string>> = {
  answered: '',
  unsupported: 'nothing of what was answered is quoted or supported.',
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
