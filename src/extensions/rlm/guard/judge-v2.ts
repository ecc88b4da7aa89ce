// Owns the second judgement of a completion (notes 22.6): a guard holds for its own sentence, ids end where words end, every field is seen.
// Does not know weights. Invariant: what the first judgement finds claimed under an id, this one finds too.

import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { foldText } from '#base/text/fold.ts';
import { sentencesOf } from '#base/text/sentences.ts';
import { escapeRegExp } from '#base/text.ts';
import {
  type Boundary,
  type Entry,
  GUARD_PHRASES,
  type Judgement,
  readEntries,
  type ScoreFact,
  type ScoreFixture,
  withoutClaims,
} from './score-fixture.ts';

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
  return sentencesOf(marked, 'scored').some((said) => said.includes(MARK) && isStated(foldText(said, 'scored'), isGap));
}

function isStated(sentence: string, isGap: boolean): boolean {
  if (GUARD.test(sentence)) return false;
  return !isGap || (WORD.test(sentence) && !GAP_WORD.test(sentence));
}

/** Matches the id as a whole word, with or without its tag, and the wording without tag and closing mark; case and white space do not count. */
function factPattern(fact: ScoreFact): RegExp {
  const id = escapeRegExp(fact.fact_id);
  const named = `(?:FACT:)?(?<![\\p{L}\\p{N}_])(?<![\\p{L}\\p{N}_]-)${id}(?!-?[\\p{L}\\p{N}_])`;
  const wording = fact.text
    .replace(new RegExp(`^\\s*FACT:${id}\\s+`, 'iu'), '')
    .replace(/[.!?\s]+$/u, '')
    .split(/\s+/u)
    .filter((word) => word !== '')
    .map(escapeRegExp)
    .join('\\s+');
  return new RegExp(wording === '' ? named : `(?<![\\p{L}\\p{N}_])${wording}(?![\\p{L}\\p{N}_])|${named}`, 'giu');
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
  return MARKER.test(foldText(item.text, 'scored'));
}

/** Not after a letter's hyphen (an id), not in `path.ext:7-8` (a chunk), not as the start of a range. */
function hasNumber(item: CompletionText, number: number): boolean {
  const before = '(?<![\\p{L}\\p{N}_.])(?<!:\\d+-)(?<![\\p{L}_]-)(?<!\\.[\\p{L}\\p{N}_]*:)';
  return new RegExp(`${before}${number}(?!\\.?\\d|[\\p{L}_]|-\\d)`, 'u').test(item.text);
}

interface CompletionText {
  /** The nearest key above; empty at the top. */
  readonly key: string;
  /** A number is given in digits. */
  readonly text: string;
  /** It stands under a key that lists what was not read: naming a fact there states nothing. */
  readonly isGap: boolean;
}

const GAP_KEY = /^(?:residual_gaps?|truncation_report|truncation_boundary|omitted_\w+)$/;
const FIELD_NAME = /^[a-z_]*$/;

function completionTexts(value: JsonValue | undefined, key = '', isGap = false): readonly CompletionText[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ key, text: String(value), isGap }];
  if (Array.isArray(value)) return value.flatMap((item) => completionTexts(item, key, isGap));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const inGap = isGap || GAP_KEY.test(name);
    return [...keyTexts(name, item, inGap), ...completionTexts(item, name, inGap)];
  });
}

/** A key that is no field name may be an id: with its value it is a sentence, before a list or an object a heading. */
function keyTexts(name: string, value: JsonValue | undefined, isGap: boolean): readonly CompletionText[] {
  if (FIELD_NAME.test(name) || !value) return [];
  return [{ key: name, text: typeof value === 'string' ? `${name}: ${value}` : name, isGap }];
}
