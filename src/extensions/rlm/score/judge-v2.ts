// Owns the second judgement of a completion (notes 22.6): a guard holds for its own sentence, ids end where words end, every field is seen.
// Does not know weights. Invariant: what the first judgement finds claimed under an id, this one finds too.
import type { JsonObject } from '#base/json.ts';
import { type CompletionText, completionTexts } from './completion-texts.ts';
import { foldText } from './fold-text.ts';
import { GUARD_PHRASES } from './guard-phrases.ts';
import type { Judgement } from './judgement.ts';
import { type Entry, readEntries, withoutClaims } from './read-entries.ts';
import type { Boundary, ScoreFact, ScoreFixture } from './score-fixture.ts';

export function judgeV2(fixture: ScoreFixture, completion: JsonObject): Judgement {
  const entries = readEntries(completion);
  const texts = completionTexts(completion);
  const cited = new Set(entries.filter((entry) => entry.isReference).map((entry) => entry.chunkId));
  const named = namedOutsideClaims(fixture, completion);
  return {
    supported: (fact) =>
      entries.some((entry) => fact.chunk_id !== null && entry.chunkId === fact.chunk_id && supports(entry, fact)),
    claimed: (fact) => {
      const pattern = factPattern(fact);
      return (
        entries.some((entry) => entry.factIds.includes(fact.fact_id)) || texts.some((item) => statesFact(item, pattern))
      );
    },
    cited: (chunkId) => cited.has(chunkId),
    citedOmitted: (chunkId) => named.has(chunkId),
    reportsBoundary: reportsBoundary(fixture.boundary, texts),
  };
}

/** A claim on an omitted fact counts as that claim; the chunk that it names is not counted a second time. */
function namedOutsideClaims(fixture: ScoreFixture, completion: JsonObject): ReadonlySet<string> {
  const omitted = new Set(fixture.omittedFacts.map((fact) => fact.fact_id));
  const rest = withoutClaims(completion, omitted);
  return new Set(
    completionTexts(rest)
      .filter((item) => !item.isGap)
      .map((item) => item.text),
  );
}

function supports(entry: Entry, fact: ScoreFact): boolean {
  return entry.factIds.includes(fact.fact_id) || statesFact({ text: entry.text, isGap: false }, factPattern(fact));
}

const MARK = '\ue000';
const SENTENCE_END = /(?<=[.!?])\s+|[\n;]+/u;
const GUARD = new RegExp(`(?<![\\p{L}\\p{N}])(?:${GUARD_PHRASES.join('|')})(?![\\p{L}\\p{N}])`, 'u');
/** Where gaps are listed these words, too, say that nothing is claimed. */
const GAP_WORD =
  /(?<!\p{L})(?:omitted|beyond|outside|truncat\p{L}*|missing|unread|unseen|unknown|unavailable|excluded|not|cannot)(?!\p{L})/u;
const WORD = /[\p{L}\p{N}]/u;

export interface StatedIn {
  readonly text: string;
  readonly isGap: boolean;
}

function statesFact({ text, isGap }: StatedIn, pattern: RegExp): boolean {
  const marked = text.replaceAll(MARK, ' ').replace(pattern, MARK);
  if (!marked.includes(MARK)) return false;
  return marked.split(SENTENCE_END).some((sentence) => sentence.includes(MARK) && isStated(foldText(sentence), isGap));
}

function isStated(sentence: string, isGap: boolean): boolean {
  if (GUARD.test(sentence)) return false;
  return !isGap || (WORD.test(sentence) && !GAP_WORD.test(sentence));
}

/** Matches the id as a whole word, with or without its tag, and the wording without tag and closing mark; case and white space do not count. */
function factPattern(fact: ScoreFact): RegExp {
  const id = escaped(fact.fact_id);
  const named = `(?:FACT:)?(?<![\\p{L}\\p{N}_])(?<![\\p{L}\\p{N}_]-)${id}(?!-?[\\p{L}\\p{N}_])`;
  const wording = fact.text
    .replace(new RegExp(`^\\s*FACT:${id}\\s+`, 'iu'), '')
    .replace(/[.!?\s]+$/u, '')
    .split(/\s+/u)
    .filter((word) => word !== '')
    .map(escaped)
    .join('\\s+');
  return new RegExp(wording === '' ? named : `(?<![\\p{L}\\p{N}_])${wording}(?![\\p{L}\\p{N}_])|${named}`, 'giu');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

const MARKER =
  /truncation[ _]boundary|last[ _]retained[ _]line|omitted[ _]lines?|lines? omitted|lines [^.]{0,40}omitted/u;

function reportsBoundary(boundary: Boundary, texts: readonly CompletionText[]): boolean {
  const wanted = Object.entries(boundary).filter(([, number]) => number !== null);
  if (wanted.length === 0) return texts.some(isReport);
  return wanted.every(([key, number]) =>
    texts.some((item) => (item.key === key ? item.text === String(number) : isReport(item) && hasNumber(item, number))),
  );
}

function isReport(item: CompletionText): boolean {
  return MARKER.test(foldText(item.text));
}

/** Not after a letter's hyphen (an id), not in `path.ext:7-8` (a chunk), not as the start of a range. */
function hasNumber(item: CompletionText, number: number): boolean {
  const before = '(?<![\\p{L}\\p{N}_.])(?<!:\\d+-)(?<![\\p{L}_]-)(?<!\\.[\\p{L}\\p{N}_]*:)';
  return new RegExp(`${before}${number}(?!\\.?\\d|[\\p{L}_]|-\\d)`, 'u').test(item.text);
}
