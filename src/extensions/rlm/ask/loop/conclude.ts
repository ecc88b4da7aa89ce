// Owns turning what a model answered into judged sentences: cut, names looked up in the context, the gate. Asks no model.
// Invariant: equal answer, handles and source, equal sentences.
import type { ContextSource } from '../../repl/context-source.ts';
import type { AnswerPart } from '../../repl/repl-session.ts';
import type { AnswerSentence, Handle } from '../ask-outcome.ts';
import { answerSentences, type CitingSentence } from '../gate/answer-sentences.ts';
import { judgeAnswer } from '../gate/judge-answer.ts';
import { namesToLookUp } from '../gate/names-to-look-up.ts';

export interface Conclusion {
  readonly sentences: readonly AnswerSentence[];
  /** Sentences that were too many, or rest on too much, to be judged. */
  readonly left_out: number;
  readonly cited: number;
}

export function conclude(parts: readonly AnswerPart[], handles: readonly Handle[], source: ContextSource): Conclusion {
  const cut = answerSentences(parts);
  const sentences = sentencesInReach(cut.sentences, handles);
  const left_out = cut.left_out + cut.sentences.length - sentences.length;
  const names = namesToLookUp(sentences, handles);
  const inContext = new Set(names.filter((name) => standsIn(source, name)));
  const judged = judgeAnswer(sentences, { handles, inContext });
  return { sentences: judged, left_out, cited: judged.filter(({ status }) => status === 'cited').length };
}

function standsIn(source: ContextSource, name: string): boolean {
  return source.files.some(({ path }) => path.includes(name)) || source.find(name, 0) >= 0;
}

/** What the model is told of an answer of which nothing was cited. */
export function whyNothingCited({ sentences }: Conclusion): string {
  if (sentences.length === 0)
    return 'Your answer was empty. Answer with sentences and their handles; when the material says nothing of it, end with no sentence again.';
  const shown = sentences
    .slice(0, 5)
    .map(({ text, missing }) => `"${text.slice(0, 120)}" (missing: ${missing.slice(0, 5).join(', ')})`);
  return `No sentence of your answer is supported by its handles: ${shown.join('; ')}. Make handles that hold these words and cite them, or leave the sentence out.`;
}

/** Characters of all that an answer rests on: the gate reads it in one go, and the outcome holds it. */
const MOST_EVIDENCE = 8_000_000;

/** Up to the first that would need more; a long span is read to know its length, so that none behind it is. */
function sentencesInReach(sentences: readonly CitingSentence[], handles: readonly Handle[]): readonly CitingSentence[] {
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  const reached = new Set<string>();
  let room = MOST_EVIDENCE;
  for (const [at, sentence] of sentences.entries())
    for (const handle of newlyReached(sentence.handles, byId, reached)) {
      room -= lengthOf(handle);
      if (room < 0) return sentences.slice(0, at);
    }
  return sentences;
}

function lengthOf(handle: Handle): number {
  switch (handle.kind) {
    case 'span':
      return handle.quote.length;
    case 'child':
      return handle.text.length;
    case 'computed':
      return handle.code.length + handle.output.length;
  }
}

/** The handles of the answer and what they rest on, in the order of making. */
export function reachedHandles(sentences: readonly AnswerSentence[], handles: readonly Handle[]): readonly Handle[] {
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  const cited = sentences.flatMap((sentence) => [...sentence.handles]);
  const found = new Set(newlyReached(cited, byId, new Set()));
  return handles.filter((handle) => found.has(handle));
}

/** Also puts them into `reached`. */
function* newlyReached(
  ids: readonly string[],
  byId: ReadonlyMap<string, Handle>,
  reached: Set<string>,
): Generator<Handle> {
  const open = [...ids];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const handle = byId.get(id);
    if (handle === undefined || reached.has(id)) continue;
    reached.add(id);
    yield handle;
    for (const base of basesOf(handle)) open.push(base);
  }
}

function basesOf(handle: Handle): readonly string[] {
  switch (handle.kind) {
    case 'span':
      return [];
    case 'child':
      return [handle.over];
    case 'computed':
      return handle.inputs;
  }
}
