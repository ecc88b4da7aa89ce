// Owns the kinds of slots: what may fill `{name:kind}` at one place of a line.
// Knows no form. Invariant: a reader only looks; values are the owner's own words, never normalised prose.
import { TalariaError } from '#base/errors.ts';
import { COMMON_FOLDERS } from './common-folders.ts';
import { wordList } from './phrases.ts';
import type { Line } from './read-line.ts';
import { readNumber } from './read-number.ts';
import { readFile, readFolder, readPlace, readSureFolder } from './read-path.ts';
import type { Candidate } from './slot-candidate.ts';
import { readTime } from './time-phrase.ts';
import { ABBREVIATION, type Token } from './tokenize.ts';
import { isVagueLink, isVagueName } from './vague-name.ts';

type Reader = (line: Line, at: number) => readonly Candidate[];

const MAX_WORDS = 14;

const READERS: Readonly<Record<string, Reader>> = {
  file: readFile,
  folder: readFolder,
  dir: readSureFolder,
  place: readPlace,
  time: (line, at) => readTime(line, at).map((end) => ({ end, value: wordsOf(line, at, end), quality: 1 })),
  text: (line, at) => readText(line, at, true),
  topic: (line, at) => readText(line, at, false),
  quoted: (line, at) => one(line, at, (token) => token.kind === 'quoted' || token.kind === 'code'),
  code: (line, at) => one(line, at, (token) => token.kind === 'code'),
  glob: readGlob,
  number: readNumber,
  title: (line, at) => one(line, at, (token) => token.kind === 'quoted'),
  ident: (line, at) => one(line, at, isIdentifier),
  range: (line, at) => one(line, at, (token) => token.kind === 'range'),
  word: (line, at) => one(line, at, (token) => token.kind === 'word' && !line.commonWords.has(token.word)),
  name: readName,
  session: (line, at) => one(line, at, (token) => /^@?(session:)?[\w:/]*\d{8}_\d{6}_[0-9a-f]{6}$/.test(token.word)),
  raw: (line, at) => readRest(line, at, line.text.length),
  rest: (line, at) => readRest(line, at, line.tokens.at(-1)?.end ?? 0).map((found) => lessAfterFiller(line, at, found)),
  fact: (line, at) => readRest(line, at, line.end),
};

export function readSlot(kind: string, line: Line, at: number): readonly Candidate[] {
  const reader = READERS[kind];
  if (reader === undefined) throw new TalariaError(`No slot kind ${kind}`, { code: 'reflex-form-invalid' });
  if (at >= line.tokens.length) return [];
  return NAMING.has(kind)
    ? reader(line, at).map((found) => lessWhenVague(line, { at, kind, found }))
    : reader(line, at);
}

/** Kinds whose value must name one thing. */
const NAMING = new Set(['file', 'text', 'word', 'name', 'title']);
/** Multiplies the quality of what names nothing: it can be asked about, never acted on. */
const VAGUE = 0.5;

interface Filled {
  readonly at: number;
  readonly kind: string;
  readonly found: Candidate;
}

/** `the word`, `name of the guy`, `in the list`: said of something that only the owner has in mind. */
function lessWhenVague(line: Line, { at, kind, found }: Filled): Candidate {
  const { language, placeWords, determiners } = line;
  if (found.quoted === true) return found;
  const alone = found.end === at + 1;
  const first = line.tokens[at]?.word ?? '';
  const placed = kind === 'text' && !alone && (placeWords.has(first) || isVagueLink(first, language));
  const before = line.tokens[at - 1]?.word ?? '';
  const bare = kind === 'text' && alone && !determiners.has(before) && !/^(?:many|called|named|titled)$/.test(before);
  const vague = bare ? isVagueLink(found.value, language) : isVagueName(found.value, language);
  return placed || vague ? { ...found, quality: found.quality * VAGUE, sure: false } : found;
}

function one(line: Line, at: number, fits: (token: Token) => boolean): readonly Candidate[] {
  const token = line.tokens[at];
  if (token === undefined || !fits(token)) return [];
  const quoted = token.kind === 'quoted' || token.kind === 'code';
  return [{ end: at + 1, value: token.raw, quality: 1, quoted }];
}

/** A name as only code has it: `initSentry`, `SMTP_HOST`, `0xFF`, `load()`. */
function isIdentifier({ kind, raw }: Token): boolean {
  if (kind === 'quoted' || kind === 'code') return true;
  return kind === 'word' && /[_$]|\p{Ll}\p{Lu}|^\p{Lu}[\p{Lu}\d]{2,}$|\(\)|^0x|::|^[@#]\w|[=<>]/u.test(raw);
}

function wordsOf(line: Line, at: number, end: number): string {
  return line.tokens
    .slice(at, end)
    .map((token) => token.word)
    .join(' ');
}

/** Everything to the end, as typed. */
function readRest(line: Line, at: number, stop: number): readonly Candidate[] {
  const token = line.tokens[at];
  if (token === undefined || token.kind === 'punctuation') return [];
  const alone = at === line.tokens.length - 1 && (token.kind === 'quoted' || token.kind === 'code');
  const value = alone ? token.raw : line.text.slice(token.start, Math.max(stop, token.end)).trim();
  return [{ end: line.tokens.length, value, quality: 0.99, quoted: alone }];
}

/** A command does not begin with an article; a fact may. */
function lessAfterFiller(line: Line, at: number, found: Candidate): Candidate {
  return line.fillers.has(line.tokens[at]?.word ?? '') ? { ...found, quality: 0.97 } : found;
}

/** A quotation, or up to MAX_WORDS words; `strict` ones begin with no determiner and lose a little with every word. */
function readText(line: Line, at: number, strict: boolean): readonly Candidate[] {
  const first = line.tokens[at];
  if (first === undefined || first.kind === 'punctuation' || (strict && line.determiners.has(first.word))) return [];
  const quoted = first.kind === 'quoted' || first.kind === 'code';
  const found: Candidate[] = quoted ? [{ end: at + 1, value: first.raw, quality: 1, quoted: true }] : [];
  if (quoted && strict) return found;
  for (const end of wordEnds(line, quoted ? at + 1 : at)) {
    const quality = strict ? strictQuality(line, at, end) : 0.985;
    found.push({ end, value: line.text.slice(first.start, line.tokens[end - 1]?.end), quality });
  }
  return found;
}

/** Loses a little with every word, and more with words that open a place: `TODO in src` is no phrase. */
function strictQuality(line: Line, at: number, end: number): number {
  const inner = line.tokens.slice(at + 1, end);
  const placed = inner.some((token) => line.placeWords.has(token.word));
  return Math.max(0.7, 0.985 - 0.015 * inner.length) * (placed ? 0.8 : 1);
}

/** Ends of the runs of words from `at`, up to the next full stop. */
function wordEnds(line: Line, at: number): readonly number[] {
  const run = line.tokens.slice(at, at + MAX_WORDS);
  const stop = run.findIndex((token, index) => isBreak(token) && !ABBREVIATION.test(run[index - 1]?.raw ?? ''));
  const words = stop < 0 ? run : run.slice(0, stop);
  return words.flatMap((token, index) => (token.kind === 'punctuation' ? [] : [at + index + 1]));
}

function isBreak(token: Token): boolean {
  return token.kind === 'punctuation' && /[.;?!]/.test(token.word);
}

function readGlob(line: Line, at: number): readonly Candidate[] {
  const token = line.tokens[at];
  if (token === undefined) return [];
  const quoted = token.kind === 'quoted' || token.kind === 'code';
  if (token.kind === 'glob' || (quoted && token.raw.includes('*') && !/(^|\s)\*(\s|$)/.test(token.raw)))
    return [{ end: at + 1, value: token.raw, quality: 1, quoted: true }];
  if (/^(?:\.(?:test|spec|d|tar|min|stories|module|e2e|unit|config|bak))?\.[a-z0-9]{1,8}$/i.test(token.raw))
    return [{ end: at + 1, value: `*${token.raw}`, quality: isKnownEnding(line, at) ? 1 : 0.8 }];
  const kind = token.kind === 'word' ? spokenKind(line, at) : undefined;
  return kind === undefined ? [] : [{ end: at + 1, value: kind, quality: 0.98 }];
}

/** `.ts`, or any ending before a noun: `.foo files`; `.github` alone is a folder. */
function isKnownEnding(line: Line, at: number): boolean {
  const { fileKinds, kindNouns } = line.language.slots;
  const ending = line.tokens[at]?.word ?? '';
  return (
    wordList(kindNouns).includes(line.tokens[at + 1]?.word ?? '') ||
    line.tokens
      .slice(Math.max(0, at - 2), at)
      .some((token) => /^(?:end|ends|ending|extension|suffix|type)$/.test(token.word)) ||
    ending.slice(1) in fileKinds ||
    /\..*\./.test(ending)
  );
}

/** `markdown` before `files`, or `pdfs` by itself. */
function spokenKind(line: Line, at: number): string | undefined {
  const { fileKinds, kindNouns } = line.language.slots;
  const word = line.tokens[at]?.word ?? '';
  const before = wordList(kindNouns).includes(line.tokens[at + 1]?.word ?? '');
  if (before) return fileKinds[word] ?? fileKinds[word.replace(/s$/, '')];
  if (/^(?:all|any|every)$/.test(line.tokens[at - 1]?.word ?? '') && word.length > 2 && fileKinds[word] === `*.${word}`)
    return fileKinds[word];
  const many = word.endsWith('s') && !COMMON_FOLDERS.test(word) && /^[a-z0-9]{3,6}$/.test(word);
  const kind = fileKinds[word.slice(0, -1)];
  return many && kind?.endsWith(`.${word.slice(0, -1)}`) ? kind : undefined;
}

/** A person: one or two words with a capital, or one word that is no common word. */
function readName(line: Line, at: number): readonly Candidate[] {
  const found: Candidate[] = [];
  for (let end = at + 1; end <= at + 2 && end <= line.tokens.length; end += 1) {
    const token = line.tokens[end - 1];
    if (token?.kind !== 'word' || line.commonWords.has(token.word) || !/^\p{L}/u.test(token.raw)) break;
    const capital = /^\p{Lu}/u.test(token.raw);
    if (end > at + 1 && !capital) break;
    found.push({ end, value: line.text.slice(line.tokens[at]?.start, token.end), quality: capital ? 1 : 0.85 });
  }
  return found;
}
