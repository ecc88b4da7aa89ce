// Owns what of a text a rule can compare (design 1): numbers with their units, times, dates, paths, addresses, flags, identifiers, code.
// Knows no claim's meaning and no verdict. Invariants: total and linear; the same quantity has one key in every spelling and language
// that the data knows; more text never says less; names and other words are no hard values.

import { foldText } from '#base/text/fold.ts';
import { findQuote } from '#base/text/quotes.ts';
import { type Piece, readPieces } from './exact-terms.ts';
import { MONTH_NAMES, UNIT_NAMES } from './number-words.rules.ts';
import { clockTimes, plainWord, spokenDigits } from './spoken-numbers.ts';

export interface HardValue {
  readonly shown: string;
  readonly kind: 'number' | 'identifier' | 'place' | 'code';
  /** One of them must be among the source's. */
  readonly keys: readonly string[];
  /** Or, of code: all of these pieces must stand in one text. */
  readonly code?: readonly string[];
}

/** What the texts of a source say. */
export interface SourceValues {
  readonly keys: ReadonlySet<string>;
  /** Each text in the form in which quotes are compared. */
  readonly folded: readonly string[];
}

export function sourceValues(texts: readonly string[]): SourceValues {
  const keys = new Set(texts.flatMap(sourceKeys));
  return { keys, folded: texts.map((one) => foldText(one)) };
}

/** The first value that the source does not hold; `printed` may hold numbers and identifiers, never a place or a command. */
export function missingValue(text: string, source: SourceValues, printed?: SourceValues): HardValue | undefined {
  const isPrinted = (value: HardValue) =>
    printed !== undefined && (value.kind === 'number' || value.kind === 'identifier') && holdsValue(printed, value);
  return hardValues(text).find((value) => !holdsValue(source, value) && !isPrinted(value));
}

/** Does the first text name a hard value that the second does not? */
export function leavesValueOut(text: string, other: string): boolean {
  const said = sourceValues([other]);
  return hardValues(text).some((value) => !holdsValue(said, value));
}

export function holdsValue({ keys, folded }: SourceValues, { keys: wanted, code }: HardValue): boolean {
  if (wanted.some((key) => keys.has(key))) return true;
  return code !== undefined && folded.some((text) => holdsCode(text, code, keys));
}

/** Tokens of a command that may come from elsewhere, as a flag that the owner asked for. */
const MOST_ADDED = 2;

function holdsCode(text: string, code: readonly string[], keys: ReadonlySet<string>): boolean {
  const [only = '', ...more] = code;
  if (more.length > 0 ? code.every((piece) => text.includes(piece)) : standsWhole(text, only)) return true;
  const tokens = code.flatMap((piece) => piece.split(' ')).filter((token) => token !== '');
  const added = tokens.filter((token) => !standsWhole(text, token));
  return tokens.length > 2 * added.length && added.length <= MOST_ADDED && added.every((token) => keys.has(token));
}

/** A folder below the working one is named by what is in it; the root and the home are not. */
const FOLDER = /^[\w-][\w.-]*(?:\/[\w.-]+)*\/$/;

/** Where the term does not go on: `rm -rf /` does not stand in `rm -rf /tmp/x`. */
function standsWhole(text: string, code: string): boolean {
  if (FOLDER.test(code)) return findQuote(text, code.slice(0, -1)).length > 0 && text.includes(code);
  const goesOn = (end: number) => /^(?:[/\\@.:=-]\w|.(?:[/\\@-]|[.:]\w))/u.test(text.slice(end - 1, end + 2));
  return findQuote(text, code).some((at) => !goesOn(at + code.length));
}

/** Numbers in one language, everyday words without a value in another. */
const NO_NUMBERS = /\b(?:once|null)\b/gi;

/** In order of appearance, code last. */
export function hardValues(text: string): readonly HardValue[] {
  const { prose, code } = splitCode(text.replace(/\b(\d{1,2})h(?=\d{2}\b)/g, '$1:'));
  const spoken = spokenText(prose.replace(NO_NUMBERS, ' '));
  const times = clockTimes(spokenDigits(prose));
  const named = readPieces(prose).flatMap(namedValue);
  const pieces = readPieces(spoken);
  const numbers = pieces.flatMap((piece, at) => numberValue(piece, { at, pieces, times }));
  return [...named, ...numbers, ...code.flatMap(codeValues)];
}

/** URLs, e-mails, paths, flags, identifiers. */
function namedValue({ kind, shown, keys }: Piece): readonly HardValue[] {
  if (kind === 'number' || kind === 'word' || kind === 'compound') return [];
  const [key = ''] = keys;
  if (kind === 'identifier' && (/^\d+\p{L}{1,3}$/u.test(key) || isBrand(shown))) return [];
  const pieces = shown.split(PLACEHOLDER);
  if (pieces.length > 1)
    return [
      {
        shown,
        kind: 'place',
        keys: [],
        code: pieces.map((one) => foldText(one)).filter((piece) => /\p{L}/u.test(piece)),
      },
    ];
  const isPlace = kind !== 'identifier';
  return [
    {
      shown,
      kind: isPlace ? 'place' : 'identifier',
      // Its host alone is another place.
      keys: kind === 'url' ? keys.slice(0, 2) : [...keys, ...codeOfCompound(shown)],
    },
  ];
}

/** `A4-Blätter`, `WZ-88-login`: the plain word behind a code is no part of it. */
function codeOfCompound(shown: string): readonly string[] {
  const code =
    /^([\p{L}\d]{1,12})-\p{Lu}\p{Ll}{2,}$/u.exec(shown)?.[1] ?? /^(\p{L}{1,8}-\d{1,6})-\p{Ll}{3,}$/u.exec(shown)?.[1];
  return code !== undefined && /\d/.test(code) ? [code.toLowerCase()] : [];
}

/** `GitHub`, `JavaScript`: a name as others are, no identifier. */
function isBrand(shown: string): boolean {
  return /^(?:\p{Lu}\p{Ll}+){2}$/u.test(shown);
}

interface Around {
  readonly at: number;
  readonly pieces: readonly Piece[];
  readonly times: readonly string[];
}

/** `1.2.3` is a version. */
const DATE = /^(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4}|\d{1,2}([-/])\d{1,2}\3\d{2})$/;

function numberValue({ kind, shown, keys: [key = ''] }: Piece, { at, pieces, times }: Around): readonly HardValue[] {
  if (kind !== 'number') return [];
  const time = /^(\d{1,2})[:.](\d{2})$/.exec(key);
  const own = time ? `t${Number(time[1])}:${time[2]}` : '';
  if (key.includes(':') && own !== '') {
    const said = isHalfOfDay(pieces[at + 1]) ? times.filter((one) => isSameOnClock(one, own)) : [own];
    return [{ shown, kind: 'number', keys: [...said, ...wholeHour(own)] }];
  }
  if (DATE.test(key)) return dateValues(shown, key);
  const unit = unitOf(pieces[at + 1]);
  const value = plainNumber(key);
  const month = monthBeside(pieces, at);
  if (month !== undefined && isDay(value)) return dayValues(shown, [`d${month}-${value}`]);
  const said = times.filter((one) => one === own || isPartOf(one, Number(value)));
  const plain = unit === undefined ? value : `${value} ${unit}`;
  const keys = isHalfOfDay(pieces[at + 1]) ? [`~${value}`, ...said] : [plain, `~${value}`, ...said];
  return [
    { shown, kind: 'number', keys },
    ...(month === undefined ? [] : [{ shown, kind: 'number', keys: [`month ${month}`] } as const]),
  ];
}

function isDay(value: string): boolean {
  return /^\d{1,2}$/.test(value) && Number(value) >= 1 && Number(value) <= 31;
}

/** Then the number is an hour, and no other one. */
function isHalfOfDay(next: Piece | undefined): boolean {
  return next?.kind === 'word' && /^[ap]m$/i.test(next.shown);
}

/** An hour, or the minutes beside it, of a time that the text names. */
function isPartOf(time: string, value: number): boolean {
  const [hour = 0, minute = 0] = time.slice(1).split(':').map(Number);
  return value === minute || value % 12 === hour % 12;
}

function isSameOnClock(time: string, other: string): boolean {
  const [a = '', b = ''] = [time, other].map((one) => one.slice(1));
  return Number.parseInt(a, 10) % 12 === Number.parseInt(b, 10) % 12 && a.slice(-2) === b.slice(-2);
}

/** `9:00` is a nine that stands alone. */
function wholeHour(time: string): readonly string[] {
  const hour = /^t(\d+):00$/.exec(time)?.[1];
  return hour === undefined ? [] : [`~${hour}`, `~${Number(hour) % 12}`];
}

/** Day and month in both orders where a date may be read so; the year stands for itself. */
function dateValues(shown: string, key: string): readonly HardValue[] {
  const { days, year } = dateParts(key);
  return [...dayValues(shown, [key, ...days]), { shown, kind: 'number', keys: [key, year] }];
}

/** Day and month belong together; of a month without a day in figures (`d9-?`) the day must stand anywhere. */
function dayValues(shown: string, days: readonly string[]): readonly HardValue[] {
  const open = days.map((day) => day.replace(/-\d+$/, '-?'));
  const alone = days.flatMap((day) => /^d\d+-(\d+)$/.exec(day)?.[1] ?? []);
  return [
    { shown, kind: 'number', keys: [...days, ...open] },
    { shown, kind: 'number', keys: [...days, ...alone] },
  ];
}

function dateParts(key: string): { readonly days: readonly string[]; readonly year: string } {
  const [first = '', ...more] = key.split(/[-/.]/);
  const [a, b, c] = [first, ...more].map(Number);
  return first.length === 4
    ? { days: [`d${b}-${c}`], year: first }
    : { days: [`d${a}-${b}`, `d${b}-${a}`], year: more.at(-1) ?? '' };
}

/** The month whose name stands beside a number, with a short word between them perhaps. */
function monthBeside(pieces: readonly Piece[], at: number): string | undefined {
  const near = [pieces[at + 1], pieces[at - 1], ...[2, -2].map((by) => betweenShort(pieces, at, by))];
  return near.map(monthOf).find((month) => month !== undefined);
}

/** `29th of May`, `5 de mayo`, `May the 29th`. */
function betweenShort(pieces: readonly Piece[], at: number, by: number): Piece | undefined {
  return /^(?:of|the|de|del)$/i.test(pieces[at + by / 2]?.shown ?? '') ? pieces[at + by] : undefined;
}

function monthOf(piece: Piece | undefined): string | undefined {
  return piece?.kind === 'word' ? MONTH_NAMES.get(plainWord(piece.shown)) : undefined;
}

function unitOf(piece: Piece | undefined): string | undefined {
  return piece?.kind === 'word' ? UNIT_NAMES.get(plainWord(piece.shown)) : undefined;
}

/** `007` and `7.0` are 7; versions and long digits stay as they are. */
function plainNumber(key: string): string {
  const bare = key.replace(/^[$€£¥+]/, '').replace(/[%$€£¥°]$/, '');
  // Thousands for one reader, a fraction for another: as it is written.
  if (/^\d{1,3}\.\d{3}$/.test(bare)) return bare;
  return /^-?\d{1,15}(?:\.\d{1,6})?$/.test(bare) ? String(Number(bare)) : bare.replace(/^v(?=\d)/, '');
}

const CJK_UNIT = [...UNIT_NAMES.keys()].filter((name) => /[^\p{Script=Latin}\p{Script=Cyrillic}%$€£¥₽°]/u.test(name));
const AFTER_DIGITS = new RegExp(`(?<=\\d)\\s?(${CJK_UNIT.sort((a, b) => b.length - a.length).join('|')})`, 'gu');

const MONTH_WORDS = [...MONTH_NAMES].reduceRight<string[]>((words, [word, month]) => {
  words[Number(month)] = word;
  return words;
}, []);

/** Number words as digits, units apart from their numbers and in one spelling where scripts write no blanks, one decimal mark. */
function spokenText(text: string): string {
  return spokenDigits(text.replace(/(?<=\d)[ºª](?!\p{L})/gu, ''))
    .replace(/(?<=\d)\s?([ap])\.?m\b\.?/g, ' $1m')
    .replace(
      /([$€£¥₽])\s?(\d+(?:[.,]\d+)*)/g,
      (_, sign: string, digits: string) => `${digits} ${UNIT_NAMES.get(sign) === undefined ? sign : unitWords(sign)}`,
    )
    .replace(/(\d{1,2})月(?=\d)/g, (_, month: string) => ` ${MONTH_WORDS[Number(month)] ?? ''} `)
    .replace(AFTER_DIGITS, (_, unit: string) => ` ${unitWords(unit)} ${unit}`)
    .replace(/(?<=\d)\s?(%|€|£|¥|₽|\$)(?!\d)/g, (_, sign: string) => ` ${unitWords(sign)}`)
    .replace(/(?<=\d) to (?=\d)/g, ' - ')
    .replace(/(?<=\d)°?\p{L}{1,12}(?![\p{L}\d])/gu, (word) => (UNIT_NAMES.has(plainWord(word)) ? ` ${word}` : word))
    .replace(/(\d)k(?![\p{L}\d])/gu, '$1000')
    .replace(/(?<=\d),(?=\d{1,2}(?!\d))/g, '.')
    .replace(/(?<=(?<!\d)\d{1,3})[., ](?=\d{3}(?!\d))/g, '');
}

/** A unit as a word that `UNIT_NAMES` knows and that survives cutting into pieces. */
function unitWords(sign: string): string {
  return (
    { '%': 'percent', $: 'dollar', '€': 'euro', '£': 'pounds', '¥': 'yen', '₽': 'rub' }[UNIT_NAMES.get(sign) ?? sign] ??
    UNIT_NAMES.get(sign) ??
    sign
  );
}

function sourceKeys(text: string): readonly string[] {
  const spoken = spokenText(text);
  const pieces = readPieces(spoken);
  const numbers = pieces.flatMap((piece, at) => numberKeysOf(piece, pieces[at + 1]));
  return [
    ...readPieces(text).flatMap(namedKeys),
    ...readPieces(text.toLowerCase()).flatMap(writtenKeys),
    ...numbers,
    ...pieces.flatMap(monthKeys),
    ...clockTimes(spokenDigits(text)),
    ...(ONE.test(text) ? ['1', '~1'] : []),
  ];
}

/** An article or a number: in a source it may be both. */
const ONE =
  /(?<!\p{L})(?:one|first|eins?|eine[nmrs]?|une?|premiere?|uno|una|primero|один|одна|одно|перв\p{L}{1,3})(?!\p{L})|一/iu;

function monthKeys(piece: Piece, at: number, all: readonly Piece[]): readonly string[] {
  const month = monthOf(piece);
  if (month !== undefined) return [`month ${month}`, ...(hasDay(all, at) ? [] : [`d${month}-?`])];
  const [key = ''] = piece.keys;
  if (piece.kind !== 'number') return [];
  if (DATE.test(key)) return dateKeys(key);
  const beside = monthBeside(all, at);
  return beside === undefined ? [] : [`d${beside}-${plainNumber(key)}`];
}

function hasDay(pieces: readonly Piece[], at: number): boolean {
  const month = monthOf(pieces[at]);
  const isItsDay = (piece: Piece, index: number) =>
    piece.kind === 'number' && isDay(plainNumber(piece.keys[0] ?? '')) && monthBeside(pieces, index) === month;
  return [-2, -1, 1, 2].some((by) => {
    const piece = pieces[at + by];
    return piece !== undefined && isItsDay(piece, at + by);
  });
}

function dateKeys(key: string): readonly string[] {
  const { days, year } = dateParts(key);
  const parts = days.flatMap((day) => day.slice(1).split('-'));
  return [...days, year, ...parts.slice(-1), ...parts.slice(0, -1).map((part) => `month ${part}`)];
}

/** Numbers as they are written, before marks and blanks in them are read: none of them stands alone. */
function writtenKeys(piece: Piece, at: number, all: readonly Piece[]): readonly string[] {
  return numberKeysOf(piece, all[at + 1]).filter((key) => !key.startsWith('~'));
}

function numberKeysOf(piece: Piece, next: Piece | undefined): readonly string[] {
  if (piece.kind !== 'number') return [];
  const [key = ''] = piece.keys;
  const unit = unitOf(next);
  if (isHalfOfDay(next)) return [];
  const value = plainNumber(key);
  const parts = /\d[-/:]/.test(key) && !DATE.test(key) ? key.split(/[-/:.t]/) : [];
  return [
    key,
    value,
    ...parts.flatMap((part) => [part, plainNumber(part), `~${plainNumber(part)}`]),
    unit === undefined ? `~${value}` : `${value} ${unit}`,
  ];
}

const MOST_SEGMENTS = 24;

/** What a reader may rightly take out of a longer term: `b/c.ts` and `c.ts` of `/a/b/c.ts`, never `/a`. */
function namedKeys({ kind, shown, keys }: Piece): readonly string[] {
  const [key = ''] = keys;
  const lower = shown.toLowerCase();
  if (kind === 'number') return [];
  if (kind === 'path') return [...keys, lower, ...pathTails(key), ...lower.split(/[/.]/)];
  if (kind === 'url') return [...keys, key.replace(/\/$/, ''), ...pathTails(keys[1] ?? '')];
  return [...keys, lower, ...codeOfCompound(shown), ...lower.split(/[-.]/)];
}

function pathTails(key: string): readonly string[] {
  const segments = key
    .replace(/^(?:[a-z]:|~)?\//, '')
    .replace(/\/$/, '')
    .split('/')
    .slice(-MOST_SEGMENTS);
  return segments.map((_, index) => segments.slice(index).join('/'));
}

const FENCED =
  /^[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(`{3,})[^\n`]{0,40}\n([\s\S]*?)(?:\n[ \t]*\1`*[ \t]*$|(?![\s\S]))/gm;
const SPAN = /(?<!`)(`{1,8})(?!`)([^\n]{1,400}?)(?<!`)\1(?!`)/g;

/** Lines of code blocks and the inside of back-ticks are code; markers of lists, headings, quotes and steps say nothing. */
function splitCode(text: string): { readonly prose: string; readonly code: readonly string[] } {
  const code: string[] = [];
  const keep = (_whole: string, _marks: string, inside: string): string => {
    code.push(...inside.split('\n'));
    // What stands behind a comment's mark is said, not run.
    return ` ${(inside.match(COMMENT) ?? []).join(' ').replaceAll('#', ' ')} `;
  };
  const prose = text
    .replace(FENCED, keep)
    .replace(SPAN, keep)
    .replace(/^\s*(?:[>#]+\s*|[-*+•]\s+|\d{1,2}[.)]\s+|\[[ x]\]\s+)+/gmu, '')
    .replace(/^(?:step|phase|part)\s+\d{1,2}\s*[:.)–-]\s*/gimu, '');
  return { prose, code };
}

const COMMENT = /(?:^|\s)#\s[^\n]*/gm;

/** A place to fill in is no value. */
const PLACEHOLDER =
  /<[^<>\n]{1,60}>|\{\{[^{}\n]{1,40}\}\}|\$?\{[\w .-]{1,40}\}|\$[A-Z_][A-Z0-9_]*|\b[vV]?X\.Y(?:\.Z)?\b|\bY{4}-MM(?:-DD)?\b|…|\.{3}|N{2,4}(?![A-Za-z])|X{2,4}(?![A-Za-z])/g;

function codeValues(line: string): readonly HardValue[] {
  const bare = line
    .replace(/^\s*(?:[$%>]\s+)?/, '')
    .replace(/(?:^|\s)#\s.*$/, '')
    .trim();
  return bare.split(/\s(?:&&|\|\||;|\|)\s|;\s/).flatMap((command) => {
    const pieces = command.split(PLACEHOLDER);
    const said = pieces
      .map((piece) => foldText(piece).replace(/^["'=\s]+|["'=\s]+$/g, ''))
      .filter((piece) => /[\p{L}\p{N}]/u.test(piece));
    // What goes on in a place to fill in need not end where the source's term ends.
    const code = pieces.length > 1 && said.length === 1 ? [...said, ''] : said;
    return code.length === 0
      ? []
      : [{ shown: command.trim(), kind: 'code', keys: code.length === 1 ? code : [], code } as const];
  });
}
