// Owns the kinds of slots: by its shape, what may fill `{name:kind}` at one place of a line.
// Knows no form. Invariant: a value is the owner's own words, or a name that the folder really holds.
import { TalariaError } from '#base/errors.ts';
import { SAME_FILE } from '#core/agent/reflex-rule.ts';
import type { Line, Token } from './read-line.ts';
import { timeWindow } from './time-phrase.ts';
import { DETERMINERS, POINTING, SMALL } from './words.ts';

/** What a line is read against beside its words. */
export interface Around {
  /** Names in the folder; a folder's ends with `/`. */
  readonly entries: readonly string[];
}

export interface Candidate {
  /** Index of the token behind it. */
  readonly end: number;
  readonly value: string;
  readonly quoted?: boolean;
  /** A word that may be meant, and that the folder does not hold. */
  readonly loose?: boolean;
}

type Reader = (line: Line, at: number, around: Around) => readonly Candidate[];

const MOST_WORDS = 12;

const READERS: Readonly<Record<string, Reader>> = {
  file: readFile,
  folder: readFolder,
  place: (line, at, around) => [
    ...readFolder(line, at, around),
    ...readFile(line, at, around),
    ...one(line, at, (token) => isName(token) && /^[\w-]+$/.test(token.raw)).map((found) => ({
      ...found,
      loose: true,
    })),
  ],
  glob: readGlob,
  name: (line, at) => one(line, at, (token) => isName(token) && /^[\p{L}\p{N}][\w.@-]{0,63}$/u.test(token.raw)),
  title: (line, at) =>
    one(line, at, (token) => isQuoted(token) || (isName(token) && /^[\p{L}\p{N}][\w.-]{0,63}$/u.test(token.raw))),
  number: (line, at) => one(line, at, (token) => /^\d{1,7}$/.test(token.raw)),
  range: (line, at) => one(line, at, (token) => /^\d+(?:-|–|\.\.|:)\d+$/.test(token.raw)),
  quoted: (line, at) => one(line, at, (token) => isQuoted(token)),
  ident: (line, at) => one(line, at, (token) => isQuoted(token) || CODE_NAME.test(token.raw)),
  words: readWords,
  time: readTime,
  session: (line, at) => one(line, at, (token) => /^@?(?:session:)?[\w:/]*\d{8}_\d{6}_[0-9a-f]{6}$/.test(token.word)),
  rest,
};

export function readSlot(kind: string, line: Line, at: number, around: Around): readonly Candidate[] {
  const reader = READERS[kind];
  if (reader === undefined) throw new TalariaError(`No slot kind ${kind}`, { code: 'reflex-form-invalid' });
  return at >= line.tokens.length ? [] : reader(line, at, around);
}

/** A name as only code has it: `initSentry`, `SMTP_HOST`, `load()`. */
const CODE_NAME = /[_$#@]|\p{Ll}\p{Lu}|^\p{Lu}[\p{Lu}\d]{2,}$|\(\)?$|::/u;
const FILE_NOUNS = new Set('file document script doc page'.split(' '));
const FOLDER_NOUNS = new Set('folder directory dir subfolder repo project'.split(' '));
const HERE =
  /^(?:here|cwd|pwd|(?:this|the|current|the current|this very|the working|my|our) (?:folder|directory|dir|project|repo|place))$/;
const PRONOUN = /^(?:it|that|this|that file|this file|the file|the same file|this text|stdin|the input)$/;
const BARE_FILE =
  /^(?:readme|license|licence|makefile|dockerfile|changelog|gemfile|procfile|jenkinsfile|notice|authors|codeowners)$/i;
const NO_FILE =
  /^(?:e\.g|i\.e|etc|vs|a\.m|p\.m|node\.js|next\.js|vue\.js|and\/or|n\/a|w\/o|he\/she|on\/off|yes\/no|i\/o|ci\/cd|24\/7|tcp\/ip)$/i;
const KINDS = new Map(
  'typescript:ts javascript:js python:py markdown:md text:txt shell:sh bash:sh rust:rs ruby:rb yaml:y*ml log:log image:{png,jpg,jpeg,gif,svg} excel:xls* word:doc*'
    .split(' ')
    .map((row) => row.split(':') as [string, string]),
);
/** No ending, and none of the files that begin with a dot. */
const FOLDER_LIKE = /(?:^|\/)(?:~|\.{1,2}|(?!\.env|\.git[ai]|\.\w*rc$|\.\w*ignore$)\.?[^./]*)\/?$/;
const ENDINGS = new Set(
  'ts tsx js jsx mjs py md json txt csv log html css scss sh sql rs go java c h cpp rb php xml yml yaml toml ini pdf png jpg gif svg zip tar lock env ipynb tf vue'.split(
    ' ',
  ),
);

/** Does one word look like the name of a file or folder? */
function isPath(raw: string): boolean {
  if (/^(?:\.{1,2}|~|\/)$/.test(raw)) return true;
  if (/^[a-z][a-z+.-]*:\/\//i.test(raw) || /@.*\.|^\d+(?:[./]\d+)*$/.test(raw) || NO_FILE.test(raw)) return false;
  if (/^[\p{L}\p{N}_.@+~-]*(?:\/[\p{L}\p{N}_.@+~-]*)+$/u.test(raw))
    return /[\p{L}.~]/u.test(raw) && !/^\/\w+$/.test(raw);
  return (
    /^[\p{L}\p{N}_@+-][\p{L}\p{N}_@+.-]*\.[a-z][a-z0-9]{0,9}$/iu.test(raw) ||
    BARE_FILE.test(raw) ||
    /^\.[a-z][\w.-]+$/i.test(raw)
  );
}

/** No small word, and none that only points. */
function isName({ word }: Token): boolean {
  return !SMALL.has(word) && !POINTING.has(word);
}

function isQuoted({ kind }: Token): boolean {
  return kind === 'quoted' || kind === 'code';
}

function one(line: Line, at: number, fits: (token: Token) => boolean): Candidate[] {
  const token = line.tokens[at];
  if (token === undefined || token.kind === 'mark' || !fits(token)) return [];
  return [{ end: at + 1, value: token.raw, quoted: isQuoted(token) }];
}

/** Words from `at` on, joined; a mark ends them. */
function joined(line: Line, at: number, length: number): string {
  const run = line.tokens.slice(at, at + length);
  return run.length < length || run.some(({ kind }) => kind !== 'word') ? '' : run.map(({ word }) => word).join(' ');
}

/** `README.md`, `the file a.ts`, `"my notes.txt"`, `it`, or the stem of a file that is there. */
function readFile(line: Line, at: number, around: Around): readonly Candidate[] {
  const found: Candidate[] = [3, 2, 1].flatMap((length) =>
    PRONOUN.test(joined(line, at, length)) ? [{ end: at + length, value: SAME_FILE }] : [],
  );
  const { place, noun } = lead(line, at, FILE_NOUNS);
  const token = line.tokens[place];
  if (token === undefined || token.kind === 'mark') return found;
  const after = FILE_NOUNS.has(line.tokens[place + 1]?.word ?? '') ? 2 : 1;
  const named = fileNamed(token, noun || after === 2, around);
  return named === undefined ? found : [{ end: place + after, value: named, quoted: isQuoted(token) }, ...found];
}

function fileNamed(token: Token, noun: boolean, { entries }: Around): string | undefined {
  if (isQuoted(token)) return noun || isPath(token.raw.replaceAll(' ', '_')) ? token.raw : undefined;
  const files = entries.filter((entry) => !entry.endsWith('/'));
  const exact = files.find((entry) => entry.toLowerCase() === token.word);
  if (exact !== undefined) return exact;
  const stem = files.filter((entry) => entry.replace(/\.\w+$/, '').toLowerCase() === token.word);
  if (stem.length === 1) return stem[0];
  if (token.word === 'readme') return 'README.md';
  const isFile = isPath(token.raw.replace(/:\d+(?:-\d+)?$/, '')) && !/\/$|^[.~/]{1,2}$/.test(token.raw);
  return isFile && !entries.includes(`${token.raw}/`) ? token.raw : undefined;
}

/** `src/`, `the src folder`, `here`, `..`: a plain word only with its noun, or where the folder holds it. */
function readFolder(line: Line, at: number, { entries }: Around): readonly Candidate[] {
  const spoken = [3, 2, 1].flatMap((length) =>
    HERE.test(joined(line, at, length)) ? [{ end: at + length, value: '.' }] : [],
  );
  if (spoken.length > 0) return spoken;
  const { place, noun } = lead(line, at, FOLDER_NOUNS);
  const token = line.tokens[place];
  if (token === undefined || token.kind === 'mark' || (token.kind === 'word' && !isName(token))) return [];
  const isNamed = FOLDER_NOUNS.has(line.tokens[place + 1]?.word ?? '');
  const end = place + (isNamed ? 2 : 1);
  const there = entries.find((entry) => entry.toLowerCase() === `${token.word}/`);
  if (there !== undefined) return [{ end, value: there.slice(0, -1) }];
  const isSaid = noun || isNamed || isQuoted(token) || isFolderPath(token.raw);
  return isSaid && !/\s/.test(token.raw) ? [{ end, value: token.raw, quoted: isQuoted(token) }] : [];
}

function isFolderPath(raw: string): boolean {
  return isPath(raw) && FOLDER_LIKE.test(raw) && !BARE_FILE.test(raw);
}

/** Skips `the file called` before the name itself. */
function lead(line: Line, at: number, nouns: ReadonlySet<string>): { readonly place: number; readonly noun: boolean } {
  let place = at;
  while (DETERMINERS.has(line.tokens[place]?.word ?? '')) place += 1;
  const noun = nouns.has(line.tokens[place]?.word ?? '');
  if (noun) place += 1;
  if (noun && /^(?:called|named)$/.test(line.tokens[place]?.word ?? '')) place += 1;
  return { place, noun };
}

/** `*.ts`, `.ts`, `ts` or `typescript` before `files`. */
function readGlob(line: Line, at: number): readonly Candidate[] {
  const token = line.tokens[at];
  if (token === undefined || token.kind === 'mark') return [];
  if (/[*?]/.test(token.raw) && /^[^\s|&;<>]+$/.test(token.raw))
    return [{ end: at + 1, value: token.raw, quoted: true }];
  if (/^\.[a-z0-9]{1,8}$/i.test(token.raw)) return [{ end: at + 1, value: `*${token.raw}`, quoted: true }];
  const before = /^(?:files?|scripts?|documents?|sources?|images?)$/.test(line.tokens[at + 1]?.word ?? '');
  const kind = KINDS.get(token.word) ?? (ENDINGS.has(token.word) ? token.word : undefined);
  return before && kind !== undefined && token.kind === 'word' ? [{ end: at + 1, value: `*.${kind}` }] : [];
}

/** A quotation, or some words, the fewest first, that neither begin nor end with a small one; a mark other than a comma ends them. */
function readWords(line: Line, at: number): readonly Candidate[] {
  const first = line.tokens[at];
  if (first === undefined || first.kind === 'mark') return [];
  if (isQuoted(first)) return [{ end: at + 1, value: first.raw, quoted: true }];
  const run = line.tokens.slice(at, at + MOST_WORDS);
  const stop = run.findIndex((token) => token.kind === 'mark' && token.word !== ',');
  if (SMALL.has(first.word) || first.raw.startsWith('-')) return [];
  return (stop < 0 ? run : run.slice(0, stop)).flatMap((token, index) =>
    token.kind === 'mark' || SMALL.has(token.word)
      ? []
      : [{ end: at + index + 1, value: line.text.slice(first.start, token.end) }],
  );
}

/** Everything to the end, as typed; a quotation that is all of it without its quotes. */
function rest(line: Line, at: number): readonly Candidate[] {
  const token = line.tokens[at];
  if (token === undefined || token.kind === 'mark') return [];
  const alone = at === line.tokens.length - 1 && isQuoted(token);
  const value = alone ? token.raw : line.text.slice(token.start, line.tokens.at(-1)?.end).trim();
  return [{ end: line.tokens.length, value, quoted: alone }];
}

function readTime(line: Line, at: number): readonly Candidate[] {
  return [4, 3, 2, 1].flatMap((length) => {
    const said = joined(line, at, length);
    return said !== '' && timeWindow(said, 0) !== undefined ? [{ end: at + length, value: said }] : [];
  });
}
