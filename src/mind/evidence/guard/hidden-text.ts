// Owns the finding of what is hidden in a text from who reads it: marks, letters of another script, words in pieces, text far down or far right, and
// what was encoded (Base64, hex, escapes, letter codes, percent signs, tag characters, turned and shifted letters). Knows no rule, and no
// character but those (`base/text/unseen` has them all). Invariants: linear; at most 40 decoded texts of at most 64 KiB together a file.

import { gunzipSync, inflateSync } from 'node:zlib';
import { likeLatin } from '#base/text/fold.ts';
import { spellUnseen } from '#base/text/unseen.ts';
import { lineOf } from '#base/text.ts';
import type { Severity } from './finding.ts';

const ASCII = /^[\t\n\r\x20-\x7E]*$/;

const CYRILLIC_LOOK_ALIKE = /[аеорсухіѕјԁһӏԛԝ]/;

/** Words in which Latin letters are mixed with Cyrillic ones that look the same, and with nothing else. */
function disguisedWords(line: string): readonly string[] {
  if (ASCII.test(line)) return [];
  const words = line.toLowerCase().match(/[\p{Script=Cyrillic}\p{Script=Latin}]{3,}/gu) ?? [];
  return words.filter((word) => {
    if (!/[a-z]{2}/.test(word) || !CYRILLIC_LOOK_ALIKE.test(word)) return false;
    return /^[a-z]+$/.test(likeLatin(word));
  });
}

const GLUE = /(["'`])\s{0,3}(?:\+|\.\.?|&)\s{0,3}(["'`])/g;
const EMPTY_QUOTES = /(?<=[a-z])(?:''|"")(?=[a-z])/g;
const SHELL_ESCAPES = /(?<=[a-z])\\(?=[a-z])/g;
const FIELD_SEPARATOR = /\$\{?ifs\}?(?:\$\d)?/g;

/** The line with its pieces put together (`"cu" + "rl"`, `c''url`, `cat${IFS}x`), or undefined where there is nothing to join. */
export function joinedPieces(folded: string): string | undefined {
  if (!/["'`]\s{0,3}[+.&]|[a-z](?:''|"")[a-z]|[a-z]\\[a-z]|\$\{?ifs/.test(folded)) return undefined;
  const joined = folded
    .replace(GLUE, (whole: string, left: string, right: string) => (left === right ? '' : whole))
    .replace(EMPTY_QUOTES, '')
    .replace(SHELL_ESCAPES, '')
    .replace(FIELD_SEPARATOR, ' ');
  return joined === folded ? undefined : joined;
}

export interface HiddenMark {
  readonly id: string;
  readonly severity: Severity;
  readonly line: number;
  readonly excerpt: string;
}

interface MarkRule {
  readonly id: string;
  readonly severity: Severity;
  readonly pattern: RegExp;
}

const MARKS: readonly MarkRule[] = [
  {
    id: 'tag-characters',
    severity: 'critical',
    pattern: /(?<!\u{1F3F4}[\u{E0020}-\u{E007F}]{0,8})[\u{E0020}-\u{E007E}]{3}/u,
  },
  { id: 'variation-bytes', severity: 'critical', pattern: /[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{4}/u },
  { id: 'zero-width-code', severity: 'critical', pattern: /[\u200B-\u200D\u2060-\u2064\uFEFF]{8}/ },
  { id: 'direction-override', severity: 'high', pattern: /[\u202D\u202E]/ },
  { id: 'direction-isolate', severity: 'medium', pattern: /[\u2066-\u2069\u202A\u202B]/ },
  { id: 'split-word', severity: 'high', pattern: /[A-Za-z][\u200B-\u200D\u2060-\u2064\uFEFF\u180E][A-Za-z]/ },
  { id: 'blank-letters', severity: 'high', pattern: /[\u3164\u115F\u1160\uFFA0\u2800]{3}/ },
  { id: 'invisible-run', severity: 'medium', pattern: /[\u200B\u2060-\u2064]{2}/ },
  { id: 'control-characters', severity: 'medium', pattern: /(?![\t\n\v\f\r])\p{ASCII}(?<=\p{Cc})(?!\[)/u },
  { id: 'terminal-escape', severity: 'high', pattern: /\p{Cc}\[(?:8m|[0-9;]*[HJfsu])/u },
];

const ANY_MARK = /(?![\t\r\n])\p{Cc}|\p{Default_Ignorable_Code_Point}|\u2800/u;
const NOT_ASCII = /\P{ASCII}/u;
const BURIED = /(?:[ \t]*\r?\n){60}/g;
const MANY_BLANKS = /\n\s{58}/;
const FAR_RIGHT = /\S[ \t]{160,}\S[^\n]{8}/g;

export function hiddenMarks(text: string): readonly HiddenMark[] {
  const found: HiddenMark[] = [...buried(text)];
  if (!NOT_ASCII.test(text) && !ANY_MARK.test(text)) return found;
  let line = 0;
  for (const raw of text.split('\n', 200_000)) {
    line += 1;
    if (raw.length > 0 && (NOT_ASCII.test(raw) || ANY_MARK.test(raw)))
      found.push(...marksOfLine(raw.slice(0, 20_000), line));
    if (found.length > 60) break;
  }
  return found;
}

function marksOfLine(raw: string, line: number): readonly HiddenMark[] {
  const found: HiddenMark[] = [];
  if (ANY_MARK.test(raw)) {
    for (const { id, severity, pattern } of MARKS)
      if (pattern.test(raw) && !isByteOrderMark(raw, line))
        found.push({ id, severity, line, excerpt: spelledOut(raw) });
  }
  const disguised = disguisedWords(raw);
  if (disguised.length > 0)
    found.push({ id: 'look-alike-letters', severity: 'high', line, excerpt: disguised.slice(0, 4).join(' ') });
  return found;
}

function isByteOrderMark(raw: string, line: number): boolean {
  return line === 1 && raw.startsWith('\uFEFF') && !ANY_MARK.test(raw.slice(1));
}

function buried(text: string): readonly HiddenMark[] {
  const found: HiddenMark[] = [];
  BURIED.lastIndex = 0;
  const run = MANY_BLANKS.test(text) ? BURIED.exec(text) : null;
  if (run !== null) {
    const rest = text.slice(run.index).trimStart();
    if (rest !== '')
      found.push({
        id: 'far-below',
        severity: 'high',
        line: lineOf(text, text.length - rest.length),
        excerpt: rest.slice(0, 120),
      });
  }
  const right =
    text.includes(' '.repeat(160)) || text.includes('\t'.repeat(40)) ? [...text.matchAll(FAR_RIGHT)].slice(0, 3) : [];
  for (const match of right)
    found.push({
      id: 'far-right',
      severity: 'high',
      line: lineOf(text, match.index),
      excerpt: match[0].slice(-100).trim(),
    });
  return found;
}

/** Invisible characters by their number, for people to see. */
export function spelledOut(text: string): string {
  const spell = (code: number) => `\\u{${code.toString(16)}}`;
  return spellUnseen(text.slice(0, 400), spell).replaceAll('\n', spell(10)).replaceAll('\t', spell(9)).slice(0, 160);
}

export interface HiddenText {
  /** Where its code begins in the text it was found in. */
  readonly offset: number;
  readonly text: string;
  readonly how: 'base64' | 'hex' | 'escapes' | 'codes' | 'percent' | 'tags' | 'turned' | 'shifted' | 'binary';
}

const LIMIT = 40;
const SIZE = 65_536;

interface Decoder {
  /** Absent: `find` is as cheap. */
  readonly hint?: RegExp;
  readonly find: RegExp;
  readonly decode: (match: RegExpExecArray) => string | undefined;
  readonly how: HiddenText['how'];
}

const codes = (list: string): string =>
  String.fromCodePoint(
    ...(list.match(/0x[\da-f]{1,4}|\d{1,4}/gi) ?? []).map(Number).filter((code) => code < 0x11_0000),
  );

const DECODERS: readonly Decoder[] = [
  {
    find: /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{22,8192}(?:(?<=[A-Za-z0-9+/]{40})\r?\n[ \t]*[A-Za-z0-9+/]{1,8192}){0,400}={0,2}/g,
    decode: ([stretch], ..._rest) => base64Text(stretch),
    how: 'base64',
  },
  {
    hint: /[0-9a-fA-F]{24}/,
    find: /(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}){12,8192})(?![0-9A-Za-z])/g,
    decode: ([, digits = '']) => readable(Buffer.from(digits, 'hex')),
    how: 'hex',
  },
  {
    hint: /\\(?:x[0-9a-fA-F]{2}|u\{?00[0-9a-fA-F]{2}|[0-7]{3})/,
    find: /(?:\\x[0-9a-fA-F]{2}|\\u\{?00[0-9a-fA-F]{2}\}?|\\[0-7]{3}){4,4096}/g,
    decode: ([run]) =>
      codes(
        run
          .replace(/\\([0-7]{3})/g, (_all, octal: string) => `${Number.parseInt(octal, 8)} `)
          .replace(/\\[xu]\{?(?:00)?([0-9a-fA-F]{2})\}?/g, '0x$1 '),
      ),
    how: 'escapes',
  },
  {
    hint: /\d{2,3}\s{0,2},\s{0,2}\d{2,3}\s{0,2},|0x[\da-f]{2}\s{0,2},|(?:chr|char\])\s?\(?\d{2,3}/i,
    find: /(?:(?:0x[\da-fA-F]{2}|\d{2,3})\s{0,3},\s{0,3}){7,4096}(?:0x[\da-fA-F]{2}|\d{2,3})|(?:(?:chr\(|\[char\]\s?)(?:0x[\da-fA-F]{2}|\d{2,3})\)?\s{0,3}[+.&,]?\s{0,3}){4,2048}/gi,
    decode: ([run]) => codes(run),
    how: 'codes',
  },
  {
    hint: /&#x?[\da-f]{2,4};/i,
    find: /(?:&#x?[\da-fA-F]{2,4};){4,2048}/g,
    decode: ([run]) => codes(run.replaceAll('&#x', ' 0x')),
    how: 'codes',
  },
  {
    hint: /%[2-7][0-9a-fA-F]%[2-7][0-9a-fA-F]/,
    find: /(?:%[2-7][0-9a-fA-F]){6,4096}/g,
    decode: ([run]) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1'),
    how: 'percent',
  },
  {
    hint: /[\u{E0020}-\u{E007E}]/u,
    find: /(?<!\u{1F3F4})[\u{E0020}-\u{E007E}]{3,4096}/gu,
    decode: ([run]) => [...run].map((tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe_0000)).join(''),
    how: 'tags',
  },
  {
    hint: /\[::-1\]|\|\s?rev\b|reverse\(\)|reversed\(|backwards/i,
    find: /["'`]([^"'`\n]{12,2000})["'`]/g,
    decode: ([, quoted = '']) => [...quoted].reverse().join(''),
    how: 'turned',
  },
  {
    hint: /rot[-_]?13|n-za-m|caesar/i,
    find: /["'`]([^"'`\n]{12,2000})["'`]|^\s{0,8}([a-zA-Z][^\n]{20,500})$/gm,
    decode: ([, quoted, plain]) => (quoted ?? plain ?? '').replace(/[a-z]/gi, shifted),
    how: 'shifted',
  },
];

function shifted(letter: string): string {
  const code = letter.charCodeAt(0);
  const base = code < 97 ? 65 : 97;
  return String.fromCharCode(((code - base + 13) % 26) + base);
}

/** What a Base64 stretch says, through one layer of gzip or zlib; undefined when it is not text. */
function base64Text(stretch: string): string | undefined {
  const bytes = Buffer.from(stretch.replace(/\s+/g, ''), 'base64');
  if (bytes.length < 12) return undefined;
  return readable(unpacked(bytes));
}

function unpacked(bytes: Buffer): Buffer {
  const gzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const zlib =
    bytes[0] === 0x78 && ((bytes[1] ?? 0) & 0xdf) % 0x43 !== 0x42 && [0x01, 0x5e, 0x9c, 0xda].includes(bytes[1] ?? 0);
  if (!gzip && !zlib) return bytes;
  try {
    return gzip ? gunzipSync(bytes, { maxOutputLength: SIZE }) : inflateSync(bytes, { maxOutputLength: SIZE });
  } catch (error) {
    // Looked packed and was not: the bytes themselves are what there is to read.
    return error instanceof Error ? bytes : bytes;
  }
}

/** The text when at least 95 of 100 bytes are readable; executable heads come back by name. */
function readable(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 4).toString('latin1');
  if (head.startsWith('\x7fELF') || (head.startsWith('MZ') && bytes.length > 256) || /^\xcf\xfa\xed\xfe/.test(head))
    return EMBEDDED_PROGRAM;
  const sample = bytes.subarray(0, SIZE);
  let plain = 0;
  for (const byte of sample) if (byte === 9 || byte === 10 || byte === 13 || (byte >= 32 && byte < 127)) plain += 1;
  if (plain < sample.length * 0.95) return utf16Text(sample);
  return sample.toString('latin1');
}

/** What PowerShell encodes: every second byte is zero. */
function utf16Text(bytes: Buffer): string | undefined {
  if (bytes.length < 16) return undefined;
  let zeros = 0;
  for (let at = 1; at < bytes.length; at += 2) if (bytes[at] === 0) zeros += 1;
  return zeros > bytes.length * 0.45 ? bytes.toString('utf16le').replace(/[^\t\n\x20-\x7e]/g, '') : undefined;
}

/** Stands for a program inside a text. */
export const EMBEDDED_PROGRAM = '\u0000program';

export function hiddenTexts(text: string): readonly HiddenText[] {
  const found: HiddenText[] = [];
  let room = SIZE;
  for (const decoder of DECODERS) {
    if (decoder.hint?.test(text) === false) continue;
    for (const hidden of textsOf(decoder, text)) {
      found.push({ ...hidden, text: hidden.text.slice(0, room) });
      room -= Math.min(room, hidden.text.length);
      if (found.length >= LIMIT || room === 0) return found;
    }
  }
  return found;
}

function* textsOf({ find, decode, how }: Decoder, text: string): Generator<HiddenText> {
  for (const match of text.matchAll(find)) {
    const decoded = decode(match);
    const says = decoded !== undefined && decoded.length >= 4 && /[a-z]{2}/i.test(decoded);
    if (says) yield { offset: match.index, text: decoded, how };
  }
}
