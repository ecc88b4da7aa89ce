// Owns the first look at a line: its tokens, and where its words begin and end once manners are taken off.
// Knows no rule. Invariant: pure and linear; `text.slice(start, end)` of a token is what was typed; never throws.
import { ASKING, CLOSINGS, CONTRACTIONS, OPENINGS, QUESTION } from './words.ts';

export interface Token {
  readonly kind: 'word' | 'quoted' | 'code' | 'mark';
  /** Lower case, without quotes; what forms compare. */
  readonly word: string;
  /** As typed, without quotes or back-ticks. */
  readonly raw: string;
  readonly start: number;
  readonly end: number;
}

export interface Line {
  readonly text: string;
  /** Without manners. */
  readonly tokens: readonly Token[];
  /** Ends with a question mark that is no manners: an order in it is at most asked about. */
  readonly isQuestion: boolean;
}

/** Longer lines are pastes: nobody types an order of that length. */
const LONGEST = 4000;
const CHUNK = /```[a-z]*\n?[^`]*```|`[^`\n]+`|"[^"\n]*"|“[^”\n]*”|„[^“\n]*“|'[^'\n]+'(?![\p{L}\p{N}])|[^\s`]+|`/gu;
const FENCE = /^```[a-z]*\n?([\s\S]*?)```$/;

export function readLine(text: string): Line {
  const tokens = text.length > LONGEST ? [] : withoutManners(tokenize(text));
  const isAsked = /^["')\s]*\?/.test(text.slice(tokens.at(-1)?.end ?? 0));
  const isQuestion = isAsked && !ASKING.test(text) && !QUESTION.test(text);
  return { text, tokens, isQuestion };
}

function tokenize(text: string): readonly Token[] {
  return [...text.matchAll(CHUNK)].flatMap((found) => tokensOf(found[0], found.index, text[found.index - 1]));
}

function tokensOf(chunk: string, start: number, before: string | undefined): readonly Token[] {
  const end = start + chunk.length;
  const fenced = FENCE.exec(chunk)?.[1];
  if (fenced !== undefined || /^`.+`$/s.test(chunk)) return [quoted('code', fenced ?? chunk.slice(1, -1), start, end)];
  if (/^["“„'].+["”“']$/.test(chunk)) return [quoted('quoted', chunk.slice(1, -1), start, end)];
  const tail = tailOf(chunk, before);
  const lead = /^[([]+(?=.)/.exec(chunk)?.[0].length ?? 0;
  const cut = end - tail.length;
  const raw = chunk.slice(lead, chunk.length - tail.length);
  if (/^["'`“”]+$/.test(raw)) return [];
  const marks: readonly Token[] = tail === '' ? [] : [{ kind: 'mark', word: tail, raw: tail, start: cut, end }];
  return raw === '' ? marks : [...wordsOf(raw, start + lead, cut), ...marks];
}

/** Marks at the end; `..` and `./...` are places, but for the stop behind a quotation. */
function tailOf(chunk: string, before = ' '): string {
  const isPlace = (/^[.~/]*$/.test(chunk) && !/[`"”']/.test(before)) || /\/\.{1,3}$/.test(chunk);
  return isPlace ? '' : (/[,;:!?)\]]+$|\.+[!?)]*$|…+$/.exec(chunk)?.[0] ?? '');
}

function quoted(kind: 'quoted' | 'code', inner: string, start: number, end: number): Token {
  const raw = inner.trim();
  return { kind, word: raw.toLowerCase(), raw, start, end };
}

function wordsOf(raw: string, start: number, end: number): readonly Token[] {
  const word = raw.toLowerCase().replaceAll('’', "'");
  const parts = CONTRACTIONS.get(word);
  if (parts === undefined) return [{ kind: 'word', word, raw, start, end }];
  return parts.map((part) => ({ kind: 'word', word: part, raw: part, start, end }));
}

function withoutManners(tokens: readonly Token[]): readonly Token[] {
  let from = 0;
  let to = tokens.length;
  for (let size = 1; size > 0; from += size) {
    while (from < to && tokens[from]?.kind === 'mark' && from > 0) from += 1;
    size = OPENINGS.find((phrase) => phrase.length < to - from && stands(tokens, from, phrase))?.length ?? 0;
  }
  for (let size = 1; size > 0; to -= size) {
    while (to > from && tokens[to - 1]?.kind === 'mark') to -= 1;
    size =
      CLOSINGS.find((phrase) => phrase.length < to - from && stands(tokens, to - phrase.length, phrase))?.length ?? 0;
  }
  return tokens.slice(from, to);
}

function stands(tokens: readonly Token[], at: number, phrase: readonly string[]): boolean {
  return phrase.every((word, index) => tokens[at + index]?.kind === 'word' && tokens[at + index]?.word === word);
}

/** One slip of the hand: two letters that changed places, or one that is too many, too few or wrong; short words only change places. */
export function slipOf(typed: string, meant: string): 'swapped' | 'near' | undefined {
  const shortest = Math.min(typed.length, meant.length);
  if (shortest < 3 || Math.abs(typed.length - meant.length) > 1 || !/^\p{L}+$/u.test(typed)) return undefined;
  let at = 0;
  while (at < shortest && typed[at] === meant[at]) at += 1;
  const [longer, shorter] = typed.length > meant.length ? [typed, meant] : [meant, typed];
  const isSwapped =
    typed[at] === meant[at + 1] && typed[at + 1] === meant[at] && typed.slice(at + 2) === meant.slice(at + 2);
  if (typed.length === meant.length && isSwapped) return 'swapped';
  const rest = shorter.slice(typed.length === meant.length ? at + 1 : at);
  return shortest > 3 && at > 0 && rest === longer.slice(at + 1) ? 'near' : undefined;
}
