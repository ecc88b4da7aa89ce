// Owns forms: the small notation in which rules say what lines look like, and whether a line is exactly of one.
// Knows no rule. Invariant: a form covers the whole line or does not fit; ends within a fixed number of steps; never throws for any line.
import { TalariaError } from '#base/errors.ts';
import { type ReflexMatch, SAME_FILE } from '#core/agent/reflex-rule.ts';
import { type Line, slipOf, type Token } from './read-line.ts';
import { timeWindow } from './time-phrase.ts';
import { COMMON, DETERMINERS, FILLERS, POINTING, SMALL } from './words.ts';

type Node =
  | { readonly type: 'word'; readonly word: string }
  | { readonly type: 'slot'; readonly name: string; readonly kind: string }
  /** One of several sequences; an empty one makes it optional. */
  | { readonly type: 'choice'; readonly ways: readonly (readonly Node[])[] };

interface Form {
  readonly nodes: readonly Node[];
  readonly weight: number;
  readonly missing?: string;
  readonly preset: Readonly<Record<string, string>>;
}

const MAX_STEPS = 3000;
/** By the slips that a reading allows in words of ours. Letters that changed places are no other word; any other slip may be one, so that
 * what changes something is asked about first. */
const SCORES = { none: 1, swapped: 0.95, near: 0.9 } as const;
type Slips = keyof typeof SCORES;

const compiled = new WeakMap<readonly string[], readonly Form[]>();

/** The first form that the whole line is of: rules write the narrower ones first. */
export function fitForms(forms: readonly string[], line: Line, around: Around): ReflexMatch | undefined {
  let all = compiled.get(forms);
  if (all === undefined) {
    all = forms.map(parseForm);
    compiled.set(forms, all);
  }
  if (line.tokens.length === 0) return undefined;
  for (const slips of ['none', 'swapped', 'near'] as const)
    for (const form of all) {
      const slots = new Walk(line, around, slips).walk({ nodes: form.nodes, from: 0 }, 0, form.preset);
      if (slots === undefined) continue;
      const score = form.weight * SCORES[slips];
      return { score, slots, ...(form.missing === undefined ? {} : { missing: form.missing }) };
    }
  return undefined;
}

/** What of a form is not read yet: `nodes` from there on, and what stands behind them. */
interface Left {
  readonly nodes: readonly Node[];
  readonly from: number;
  readonly behind?: Left | undefined;
}

class Walk {
  #steps = 0;
  readonly #line: Line;
  readonly #around: Around;
  readonly #slips: Slips;

  constructor(line: Line, around: Around, slips: Slips) {
    this.#line = line;
    this.#around = around;
    this.#slips = slips;
  }

  walk(left: Left, at: number, slots: ReflexMatch['slots']): ReflexMatch['slots'] | undefined {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) return undefined;
    let { nodes, from, behind } = left;
    while (from === nodes.length && behind !== undefined) ({ nodes, from, behind } = behind);
    const node = nodes[from];
    if (node === undefined) return this.#skip(at).at(-1) === this.#line.tokens.length ? slots : undefined;
    const rest = { nodes, from: from + 1, behind };
    if (node.type === 'choice')
      return firstOf(node.ways, (way) => this.walk({ nodes: way, from: 0, behind: rest }, at, slots));
    return firstOf(this.#skip(at), (place) =>
      node.type === 'word'
        ? this.#isWord(place, node.word)
          ? this.walk(rest, place + 1, slots)
          : undefined
        : firstOf(readSlot(node.kind, this.#line, place, this.#around), ({ end, value, quoted, loose }) =>
            this.walk(rest, end, {
              ...slots,
              [node.name]: value,
              ...(quoted === true ? { [`${node.name}.quoted`]: 'yes' } : {}),
              ...(loose === true ? { [`${node.name}.loose`]: 'yes' } : {}),
            }),
          ),
    );
  }

  /** Where the next part may begin: here, or after words without meaning. A line that begins with `the` begins with no verb. */
  #skip(at: number): readonly number[] {
    const places = [at];
    for (let token = this.#line.tokens[at]; token !== undefined; token = this.#line.tokens[places.at(-1) ?? at]) {
      const isFiller =
        token.kind === 'mark'
          ? /^[,:;.]+$/.test(token.word)
          : token.kind === 'word' && FILLERS.has(token.word) && (at > 0 || !DETERMINERS.has(token.word));
      if (!isFiller) break;
      places.push((places.at(-1) ?? at) + 1);
    }
    return places;
  }

  #isWord(at: number, word: string): boolean {
    const token = this.#line.tokens[at];
    if (token?.kind !== 'word') return false;
    if (token.word === word) return true;
    if (this.#slips === 'none' || COMMON.has(token.word)) return false;
    const slip = slipOf(token.word, word);
    return slip === 'swapped' || slip === this.#slips;
  }
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `(a|b)`, `[optional]`, `{slot:kind}`, then settings: `@0.5` asks instead of acting, `!slot` is missing, `=slot:value` fills one. */
function parseForm(source: string): Form {
  const parts = source.match(/\{\w+:\w+\}|[[\]()|]|[^\s[\]()|{}]+/g) ?? [];
  const settings = parts.filter((part) => /^(?:@\d|![a-z]|=[a-z])/.test(part));
  const cursor = { parts: parts.filter((part) => !settings.includes(part)), at: 0, source };
  const nodes = sequence(cursor);
  if (cursor.at < cursor.parts.length || nodes.length === 0) throw broken(source);
  const missing = settings.find((part) => part.startsWith('!'))?.slice(1);
  const preset = settings.filter((part) => part.startsWith('=')).map((part) => part.slice(1).split(':'));
  return {
    nodes,
    weight: Number(settings.find((part) => part.startsWith('@'))?.slice(1) ?? 1),
    ...(missing === undefined ? {} : { missing }),
    preset: Object.fromEntries(preset.map(([name, value]) => [name, value ?? ''])),
  };
}

interface Cursor {
  readonly parts: readonly string[];
  readonly source: string;
  at: number;
}

function sequence(cursor: Cursor): readonly Node[] {
  const nodes: Node[] = [];
  for (
    let part = cursor.parts[cursor.at];
    part !== undefined && !/^[\])|]$/.test(part);
    part = cursor.parts[cursor.at]
  ) {
    cursor.at += 1;
    nodes.push(nodeOf(part, cursor));
  }
  return nodes;
}

function nodeOf(part: string, cursor: Cursor): Node {
  const slot = /^\{(\w+):(\w+)\}$/.exec(part);
  if (slot) return { type: 'slot', name: slot[1] ?? '', kind: slot[2] ?? '' };
  if (part !== '(' && part !== '[') return { type: 'word', word: part.toLowerCase() };
  const ways = [sequence(cursor)];
  while (cursor.parts[cursor.at] === '|') {
    cursor.at += 1;
    ways.push(sequence(cursor));
  }
  if (cursor.parts[cursor.at] !== (part === '(' ? ')' : ']')) throw broken(cursor.source);
  cursor.at += 1;
  // `search for` before `search`: the words of a form are never left to its slots.
  ways.sort((left, right) => right.length - left.length);
  return { type: 'choice', ways: part === '[' ? [...ways, []] : ways };
}

function broken(source: string): TalariaError {
  return new TalariaError(`The form is not well written: ${source}`, { code: 'reflex-form-invalid' });
}

// The kinds of slots: by its shape, what may fill `{name:kind}` at one place of a line.
// Knows no form. Invariant: a value is the owner's own words, or a name that the folder really holds.

/** What a line is read against beside its words. */
interface Around {
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

function readSlot(kind: string, line: Line, at: number, around: Around): readonly Candidate[] {
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
