// Owns the judge's question and the reading of its answer. Pure; knows no model. Invariants: what is judged stands between lines that hold
// a mark which it cannot know; a claim with no verdict, with two different ones or with an unknown word has none; ids that were not
// asked about count for nothing.
import type { JudgedClaim, JudgedSource, JudgePolicy, Verdict } from './judge.ts';

export interface JudgeQuestion {
  readonly claims: readonly JudgedClaim[];
  readonly sources: readonly JudgedSource[];
  readonly task: JudgePolicy['task'];
  /** Drawn anew for each question. */
  readonly mark: string;
}

const SAYS_WHO = {
  owner: 'typed by the owner',
  observed: 'record of what was run',
  foreign: 'from a file, page, tool or peer; not the owner',
  model: 'written by a model',
} as const;

/** Claims are asked about as c1, c2, …; sources stand as s1, s2, …: ids of ours say nothing to a model. */
export function judgeText({ claims, sources, task, mark }: JudgeQuestion): string {
  const names = new Map(sources.map(({ id }, index) => [id, `s${index + 1}`]));
  const fenced = (head: string, text: string) => `--- ${mark} ${head}\n${text}\n--- ${mark} end`;
  const source = ({ origin, text }: JudgedSource, index: number) =>
    fenced(`source s${index + 1} (${SAYS_WHO[origin]})`, text);
  const claim = ({ text, before, sources: cited }: JudgedClaim, index: number) => {
    const rests = cited.flatMap((id) => names.get(id) ?? []).join(', ') || 'nothing';
    const head = `claim c${index + 1} (to ${task}) rests on ${rests}`;
    return before === undefined
      ? fenced(head, text)
      : `${fenced(`${head}: old text`, before)}\n${fenced('new text', text)}`;
  };
  return [
    `Sources (mark ${mark}):`,
    ...sources.map(source),
    'Claims:',
    ...claims.map(claim),
    `Verdicts, one line each, c1 to c${claims.length}:`,
  ].join('\n');
}

const LINE =
  /^[\s>|*_`"'\-–•]{0,12}c(\d{1,4})\b[\s:*_`|=.)\]–—-]{0,8}(supported|goes-beyond|contradicts|one-off)(.*)$/gim;
/** What may follow a verdict; a hyphen within a word may not. */
const CLOSED = /^(?!-[\p{L}\p{N}])[\s:.|*`–—-]+|^$/u;
/** Another verdict right behind the first; behind `supported`, also with a word or two between. */
const SECOND = /^[^\p{L}\p{N}]*(supported|goes-beyond|contradicts|one-off)\b/iu;
const TAKEN_BACK = /^.{0,24}?\b(goes-beyond|contradicts|one-off)\b/iu;

export interface ReadVerdict {
  readonly verdict: Verdict;
  readonly why: string;
}

/** By the position of the claim. */
export function readVerdicts(answer: string, count: number): readonly (ReadVerdict | undefined)[] {
  const found = new Map<number, ReadVerdict | 'torn'>();
  for (const [, number, word = '', rest = ''] of answer.matchAll(LINE)) {
    const at = Number(number) - 1;
    const read = readLine(word.toLowerCase() as Verdict, rest);
    const known = found.get(at);
    if (known === undefined || read === 'torn') found.set(at, read);
    else if (known !== 'torn' && known.verdict !== read.verdict) found.set(at, 'torn');
  }
  return Array.from({ length: count }, (_, at) => {
    const read = found.get(at);
    return read === 'torn' ? undefined : read;
  });
}

function readLine(verdict: Verdict, rest: string): ReadVerdict | 'torn' {
  const why = rest.replace(CLOSED, '').trim();
  const second = (verdict === 'supported' ? TAKEN_BACK : SECOND).exec(why)?.[1];
  const isTorn = !CLOSED.test(rest) || (second !== undefined && second.toLowerCase() !== verdict);
  return isTorn ? 'torn' : { verdict, why };
}
