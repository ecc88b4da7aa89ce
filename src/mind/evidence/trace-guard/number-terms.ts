// Owns the one spelling of a number: thousands separators, versions, units, number words. Pure; linear in the piece.
// Invariant: what a reader would call the same quantity has one key; a number with a unit never equals one with another unit.

const UNITS: Readonly<Record<string, string>> = Object.fromEntries(
  `ms millisecond milliseconds msec; s sec secs second seconds; min mins minute minutes; h hr hrs hour hours; d day days;
   week weeks wk; month months; year years yr yrs; b byte bytes; kb kilobyte kilobytes; mb megabyte megabytes;
   gb gigabyte gigabytes; tb terabyte terabytes; kib; mib; gib; tib; bit bits; kbps; mbps; gbps; hz; khz; mhz; ghz;
   % percent pct; $ usd dollar dollars; € eur euro euros; £ gbp pound pounds; ¥ yen; px pixel pixels; pt; em; rem; x times;
   mm; cm; km kilometer kilometers kilometre kilometres; kg kilo kilos kilogram kilograms; mi mile miles; lb lbs; °c; °f; w; kw; v; rpm; fps;
   token tokens; character characters char chars; million millions; billion billions`
    .split(';')
    .flatMap((group) => {
      const names = group.trim().split(/\s+/);
      return names.map((name) => [name, names[0] ?? name]);
    }),
);

const WORDS: Readonly<Record<string, string>> = {
  zero: '0',
  two: '2',
  three: '3',
  four: '4',
  five: '5',
  six: '6',
  seven: '7',
  eight: '8',
  nine: '9',
  ten: '10',
  eleven: '11',
  twelve: '12',
  dozen: '12',
  thirteen: '13',
  fourteen: '14',
  fifteen: '15',
  sixteen: '16',
  seventeen: '17',
  eighteen: '18',
  nineteen: '19',
  twenty: '20',
  thirty: '30',
  forty: '40',
  fifty: '50',
  sixty: '60',
  seventy: '70',
  eighty: '80',
  ninety: '90',
  hundred: '100',
  thousand: '1000',
};

/** `10,000`, `10_000`, `10 000` (narrow blank) become 10000 everywhere in the text. */
export function joinThousands(text: string): string {
  return text.replace(/(?<=\d)[,_'\u00a0\u202f](?=\d{3}(?!\d))/g, '');
}

export function numberWord(word: string): string | undefined {
  return Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

/** The spelling of a unit that stands alone after a number; single letters are no units there. */
export function unitWord(word: string): string | undefined {
  const lower = word.toLowerCase();
  return lower.length > 1 || lower === '%' ? unitOf(lower) : undefined;
}

function unitOf(text: string): string | undefined {
  return Object.hasOwn(UNITS, text) ? UNITS[text] : undefined;
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
  const unit = unitOf(currency || suffix);
  if (suffix === 'k' || suffix === 'st' || suffix === 'nd' || suffix === 'rd' || suffix === 'th') {
    const value = suffix === 'k' ? String(Number(digits) * 1000) : digits;
    return [sign === '-' ? `-${value}` : value];
  }
  if (suffix !== '' && unit === undefined && currency === '') return undefined;
  const bare = [sign === '-' ? `-${digits}` : digits];
  return unit === undefined ? bare : [`${digits}${unit}`, ...bare];
}
