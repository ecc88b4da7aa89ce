// Owns the one spelling of a number: thousands separators, versions, units. Pure; linear in the piece.
// Invariant: what a reader would call the same quantity has one key; a number with a unit never equals one with another unit.
import { UNIT_NAMES } from './number-words.rules.ts';

/** `10,000`, `10_000`, `10 000` (narrow blank) become 10000 everywhere in the text. */
export function joinThousands(text: string): string {
  return text.replace(/(?<=\d)[,_'\u00a0\u202f](?=\d{3}(?!\d))/g, '');
}

const PLAIN = /^([-+]?)([$€£¥]?)(\d+(?:\.\d+)?)([a-z%°$€£¥]{0,12})$/;
const VERSION = /^v?(\d+(?:\.\d+)+(?:[-+][\w.+-]+)?|\d+\.(?:x|\d+)(?:\.x)?)$/;

/** Keys of a lower-case piece that is a number, the most exact one first; undefined when it is none. */
export function numberKeys(piece: string): readonly string[] | undefined {
  if (!/\d/.test(piece)) return undefined;
  const plain = PLAIN.exec(piece);
  if (plain !== null) return plainKeys(plain);
  if (/^v\d+$/.test(piece)) return [piece, piece.slice(1)];
  const version = VERSION.exec(piece)?.[1];
  if (version !== undefined) return [version];
  const range = /^(\d+)[-–](\d+)$/.exec(piece);
  if (range !== null) return undefined;
  return /^\d[\d./:-]*\d(?:[tz]\S*)?$/.test(piece) ? [piece] : undefined;
}

function plainKeys([, sign = '', currency = '', digits = '', suffix = '']: RegExpExecArray):
  | readonly string[]
  | undefined {
  const unit = UNIT_NAMES.get(currency || suffix);
  if (suffix === 'k' || suffix === 'st' || suffix === 'nd' || suffix === 'rd' || suffix === 'th') {
    const value = suffix === 'k' ? String(Number(digits) * 1000) : digits;
    return [sign === '-' ? `-${value}` : value];
  }
  if (suffix !== '' && unit === undefined && currency === '') return undefined;
  const bare = [sign === '-' ? `-${digits}` : digits];
  return unit === undefined ? bare : [`${digits}${unit}`, ...bare];
}
