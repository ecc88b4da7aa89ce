// Owns cutting an answer into the sentences that are judged, each with the handles of its part. Knows no handle.
// Invariant: total for whatever a sandbox or a model gave; linear; what is left out because it is too much is counted.
import { foldSentences } from '#mind/evidence/trace-guard/fold-text.ts';

export interface CitingSentence {
  readonly text: string;
  /** Each once, in the order cited. */
  readonly handles: readonly string[];
}

export interface CutAnswer {
  readonly sentences: readonly CitingSentence[];
  /** Sentences beyond the limits. */
  readonly left_out: number;
}

const MOST_SENTENCES = 500;
/** Characters that are looked at of one part. */
const MOST_TEXT = 200_000;
const MOST_HANDLES = 100;

/** `parts`: should be AnswerPart[]; what is none is passed over. */
export function answerSentences(parts: unknown): CutAnswer {
  const all = (Array.isArray(parts) ? parts : []).flatMap(sentencesOf);
  return { sentences: all.slice(0, MOST_SENTENCES), left_out: Math.max(0, all.length - MOST_SENTENCES) };
}

function sentencesOf(part: unknown): readonly CitingSentence[] {
  if (typeof part !== 'object' || part === null || !('text' in part) || typeof part.text !== 'string') return [];
  const given: readonly unknown[] = 'handles' in part && Array.isArray(part.handles) ? part.handles : [];
  const ids = given.flatMap((id) => (typeof id === 'string' && id.trim() !== '' ? [id.trim()] : []));
  const handles = [...new Set(ids)].slice(0, MOST_HANDLES);
  return joinShort(foldSentences(part.text.slice(0, MOST_TEXT)).sentences.map(({ raw }) => raw.trim())).map((text) => ({
    text,
    handles,
  }));
}

/** A full stop after these ends no sentence. */
const ABBREVIATED =
  /(?:^|[\s(])(?:\p{L}|e\.g|i\.e|etc|vs|cf|ca|approx|dr|mr|mrs|ms|prof|st|no|nr|fig|sec|inc|ltd|jr|sr|bzw|z\.b)\.$/iu;

function joinShort(sentences: readonly string[]): readonly string[] {
  const joined: string[] = [];
  let open = '';
  for (const sentence of sentences) {
    open = open === '' ? sentence : `${open} ${sentence}`;
    if (ABBREVIATED.test(sentence)) continue;
    joined.push(open);
    open = '';
  }
  if (open !== '') joined.push(open);
  return joined.filter((one) => one !== '');
}
