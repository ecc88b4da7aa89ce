// Owns what kind of exact value a word is: path, link, id, name, number; most words are none. Pure.
// Invariant: a value is kept as it was written; a number takes the word that says what it counts with it.
import type { ExactSection } from '../summary.ts';

export type ValueKind = Extract<ExactSection, 'Paths' | 'Links' | 'Ids' | 'Names' | 'Values'>;

export interface ExactValue {
  readonly kind: ValueKind;
  readonly text: string;
}

interface Neighbours {
  readonly before: string;
  readonly after: string;
}

const LINK = /^[a-z][a-z\d+.-]*:\/\/./i;
const MAIL = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/;
const ROOTED = /^(?:~|\.{1,2}|[A-Za-z]:|\$[A-Z_]+)?[\\/][\w.@~-]/;
const NESTED = /^[\w.@~+-]+(?:[\\/][\w.@~+=-]+){2,}[\\/]?$/;
const ONE_STEP = /^[\w.@~+-]{2,}[\\/][\w.@~+-]{2,}$/;
const FILE_NAME = /^\.?[\w@+-][\w@.+-]+\.[a-z][a-z\d]{0,5}$/;
const DOT_FILE = /^\.[a-z][\w.-]+$/;
const NUMBER = /^[~≈<>$€£+-]?\d[\d.,:/-]*(?:%|[a-zA-Z°µ]{1,4})?(?:\/[a-z]+)?$/;
const VERSION = /^v\d+(?:\.\d+)+/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?$/;
const ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?$/;
const LONG_HEX = /^(?=.*\d)(?=.*[a-f])[\da-f-]{7,}$/i;
const TICKET = /^(?:#\d+|[A-Z][A-Z\d]+-\d+)$/;
const NAME = /^(?:--?|[$@#])?[A-Za-z_][\w.:=@-]*$/;
/** `e.g`, `U.S` */
const INITIALS = /^(?:[A-Za-z]\.)+[A-Za-z]$/;
const WORDLIKE = /^[A-Za-z][A-Za-z'’-]{1,23}$/;

const EMPTY_WORDS = new Set(
  'the a an of in on at to for is was are were be been and or by with about from that this it its as than then we i you he she they not no so up out had has have will would can could just also only over under around after before my your our his her their'.split(
    ' ',
  ),
);

export function classifyWord(word: string, neighbours: Neighbours): ExactValue | undefined {
  const kind = word.length < 2 || INITIALS.test(word) ? undefined : kindOf(word);
  if (kind === undefined || word.includes('·')) return undefined;
  if (kind !== 'Values') return { kind, text: word };
  if (/^\d$/.test(word)) return undefined;
  return { kind, text: withWords(word, neighbours) };
}

function kindOf(word: string): ValueKind | undefined {
  if (LINK.test(word) || MAIL.test(word)) return 'Links';
  if (DATE_TIME.test(word) || VERSION.test(word)) return 'Values';
  if (ADDRESS.test(word) || TICKET.test(word)) return 'Ids';
  if (NUMBER.test(word)) return 'Values';
  if (isPath(word)) return 'Paths';
  if (LONG_HEX.test(word)) return 'Ids';
  return NAME.test(word) ? 'Names' : /\d/.test(word) ? 'Ids' : undefined;
}

function isPath(word: string): boolean {
  if (ROOTED.test(word) || NESTED.test(word) || FILE_NAME.test(word) || DOT_FILE.test(word)) return true;
  return ONE_STEP.test(word) && /[._\d-]/.test(word);
}

function withWords(word: string, { before, after }: Neighbours): string {
  const words = [isTelling(before) ? before : '', word, isTelling(after) ? after : ''];
  return words.filter((one) => one !== '').join(' ');
}

function isTelling(word: string): boolean {
  return WORDLIKE.test(word) && !EMPTY_WORDS.has(word.toLowerCase());
}
