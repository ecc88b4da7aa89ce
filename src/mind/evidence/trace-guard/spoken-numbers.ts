// Owns writing numbers that stand in words as digits, and the times that a text names. Pure, linear, six languages by data. Knows no claim.
// Invariant: total; a text without number words comes back as it is; words for one stay, since they are articles too.
import { CLOCK_TIMES, NUMBER_WORDS, SCALE_WORDS, SPOKEN_TIMES } from './number-words.rules.ts';

/** Lower case, accents of Latin letters gone. */
export function plainWord(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFKD')
    .replace(/(?<=[a-z])\p{Mn}+/gu, '')
    .normalize('NFC');
}

/** A mark or a line end closes what it stands behind. */
const TOKEN = /[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*|\d+(?:[.,]\d+)?|[.,;:!?()](?!\S)|\n/gu;
const GERMAN = [...NUMBER_WORDS.keys()].filter((word) => /^[a-zß]+$/.test(word)).sort((a, b) => b.length - a.length);
const COMPOUND = new RegExp(`(?:${[...GERMAN, 'ein', 'hundert', 'tausend', 'und'].join('|')})`, 'y');
const JOINS: ReadonlySet<string> = new Set(['and', 'und', 'y', 'et', 'и']);

/** The text in lower case with runs of number words as digits: `thirty-two gigs` becomes `32 gigs`. */
export function spokenDigits(text: string): string {
  const written = kanjiDigits(plainWord(text))
    .replace(/quatre[- ]vingts?/g, 'huitante')
    .replace(ONE_BEHIND_TENS, '$1 1')
    .replace(SHARED_SCALE, '$1 $3, $2 $3')
    // Dutch means the half hour before, as German does; British the one after.
    .replace(/\bhalf (?=(?:acht|elf)\b)/g, 'halb ');
  return withDigits(written).replace(/(?<!\p{L})(?:minus|menos|moins|минус|マイナス) ?(?=\d)/gu, '-');
}

/** `forty-one`, `treinta y uno`, `vingt et un`: an article anywhere else. */
const TENS = [...NUMBER_WORDS].flatMap(([word, value]) =>
  value >= 20 && value < 100 && value % 10 === 0 ? [word] : [],
);
const ONE_BEHIND_TENS = new RegExp(
  `(?<![\\p{L}\\d])(${TENS.join('|')})(?:-| |-et-| et | y )(?:one|une?|uno|un|один|одна|одно)(?!\\p{L})`,
  'gu',
);
/** `between 41 and 44 thousand`: both are. */
const SHARED_SCALE = new RegExp(
  `(?<![\\d.,])(\\d{1,3}) ?(?:-|–|and|to|und|bis|y|a|et|à|и|до) ?(\\d{1,3}) (${[...SCALE_WORDS.keys()].join('|')})(?!\\p{L})`,
  'gu',
);

interface Run {
  readonly start: number;
  readonly end: number;
  readonly parts: readonly Part[];
}

type Part = { readonly value: number; readonly isScale: boolean; readonly isDigits: boolean };

function withDigits(part: string): string {
  let out = '';
  let from = 0;
  for (const { start, end, parts } of numberRuns(part)) {
    out += part.slice(from, start) + valuesOf(parts).join(', ');
    from = end;
  }
  return out + part.slice(from);
}

/** Neighbouring number words, with `and` between them perhaps; digits only before a scale (`3 million`). */
function numberRuns(part: string): readonly Run[] {
  const runs: { start: number; end: number; parts: Part[] }[] = [];
  let open: { start: number; end: number; parts: Part[] } | undefined;
  let joined = false;
  for (const match of part.matchAll(TOKEN)) {
    const [word] = match;
    const read = readWord(word);
    if (read === undefined) {
      joined = open !== undefined && !joined && JOINS.has(word);
      if (!joined) open = undefined;
      continue;
    }
    const end = match.index + word.length;
    if (open === undefined) {
      open = { start: match.index, end, parts: [...read] };
      runs.push(open);
    } else {
      open.end = end;
      open.parts.push(...read);
    }
    joined = false;
  }
  return runs.filter(({ parts }) => parts.some(({ isDigits }) => !isDigits));
}

function readWord(word: string): readonly Part[] | undefined {
  if (/^\d/.test(word)) return [{ value: Number(word.replace(',', '.')), isScale: false, isDigits: true }];
  const pieces = word.split(/['’-]/).filter((piece) => !JOINS.has(piece));
  const read = pieces.map(readPiece);
  return read.every((one) => one !== undefined) && read.length > 0 ? read.flat() : undefined;
}

function readPiece(piece: string): readonly Part[] | undefined {
  const value = NUMBER_WORDS.get(piece);
  if (value !== undefined) return [{ value, isScale: false, isDigits: false }];
  const scale = SCALE_WORDS.get(piece);
  if (scale !== undefined) return [{ value: scale, isScale: true, isDigits: false }];
  return piece.length > 6 ? readCompound(piece) : undefined;
}

/** `zweiunddreißig`, `fünfhundert`. */
function readCompound(word: string): readonly Part[] | undefined {
  const parts: Part[] = [];
  COMPOUND.lastIndex = 0;
  let at = 0;
  while (at < word.length) {
    COMPOUND.lastIndex = at;
    const [piece] = COMPOUND.exec(word) ?? [];
    if (piece === undefined) return undefined;
    at += piece.length;
    if (piece === 'und') continue;
    const value = piece === 'ein' ? 1 : (NUMBER_WORDS.get(piece) ?? SCALE_WORDS.get(piece) ?? 0);
    parts.push({ value, isScale: SCALE_WORDS.has(piece), isDigits: false });
  }
  return parts;
}

interface OpenNumber {
  /** What thousands and more came to. */
  readonly total: number;
  readonly current?: number;
}

/** One number or several: units and tens add up, scales multiply, what does not fit begins another number. */
function valuesOf(parts: readonly Part[]): readonly number[] {
  const values: number[] = [];
  let open: OpenNumber = { total: 0 };
  for (const part of parts) {
    const { value, isScale } = part;
    const { total, current } = open;
    if (isScale) open = scaled(open, value);
    else if (current === undefined || addsUp(current, part)) open = { total, current: (current ?? 0) + value };
    else {
      values.push(total + current);
      open = { total: 0, current: value };
    }
  }
  return [...values, open.total + (open.current ?? 0)];
}

function scaled({ total, current = 1 }: OpenNumber, scale: number): OpenNumber {
  return scale > 100 ? { total: total + current * scale } : { total, current: current * scale };
}

/** 20 and 3, 3 and 20 (as Germans say it), 60 and 12, 10 and 8 (as the French do), 100 and 45; not 5 and 5, not 15 and 2016. */
function addsUp(current: number, { value, isDigits }: Part): boolean {
  if (isDigits && value === 1 && current % 10 === 0 && current % 100 >= 20) return true;
  if (isDigits || !Number.isInteger(current)) return false;
  const last = current % 100;
  if (current >= 100 && last === 0) return value < 100;
  if (last === 10) return value >= 7 && value < 10;
  if (last >= 20 && last % 10 === 0) return value < 20;
  return current < 10 && value >= 20 && value < 100 && value % 10 === 0;
}

const KANJI: Readonly<Record<string, number>> = {
  〇: 0,
  一: 1,
  二: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
};
const KANJI_SCALES: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000, 万: 10_000, 億: 100_000_000 };

/** A run of numerals; a single one stays, since it is a part of many words. Digits before 万 or 億 are multiplied. */
function kanjiDigits(text: string): string {
  return text
    .replace(/(\d+(?:\.\d+)?)([千万億])/g, (_, digits: string, scale: string) =>
      String(Number(digits) * (KANJI_SCALES[scale] ?? 1)),
    )
    .replace(
      /[〇一二三四五六七八九十百千万億]{2,12}|[二三四五六七八九十](?=[時分秒日月年個人回件台本枚匹円名階週歳])/g,
      (run) => String(kanjiValue(run)),
    );
}

function kanjiValue(run: string): number {
  let total = 0;
  let section = 0;
  let digit: number | undefined;
  for (const sign of run) {
    const value = KANJI[sign];
    const scale = KANJI_SCALES[sign] ?? 1;
    if (value !== undefined) digit = (digit ?? 0) * 10 + value;
    else if (scale >= 10_000) {
      total += (section + (digit ?? 0) || 1) * scale;
      section = 0;
      digit = undefined;
    } else {
      section += (digit ?? 1) * scale;
      digit = undefined;
    }
  }
  return total + section + (digit ?? 0);
}

/** Times of day as `t10:15`, of a text as `spokenDigits` writes it; an hour said without its half of the day counts for both. */
export function clockTimes(spoken: string): readonly string[] {
  const found = new Set<string>();
  for (const [pattern, added, minutes] of SPOKEN_TIMES)
    for (const [, hour] of spoken.matchAll(pattern)) addTime(found, Number(hour) + added, minutes, '');
  for (const pattern of CLOCK_TIMES)
    for (const match of spoken.matchAll(pattern)) {
      const after = spoken.slice(match.index, match.index + match[0].length + 18);
      const before = spoken.slice(Math.max(0, match.index - 4), match.index);
      addTime(found, Number(match[1]), /^\d+$/.test(match[2] ?? '') ? Number(match[2]) : 0, `${before} ${after}`);
    }
  return [...found];
}

const AFTERNOON = /p\.?m\b|午後|夜|evening|afternoon|night|abends|nachmittag|tarde|noche|soir|apres-midi|вечера|дня/u;
const MORNING = /a\.?m\b|午前|朝|morning|morgens|fruh|manana|matin|утра/u;

function addTime(found: Set<string>, hour: number, minute: number, around: string): void {
  const whole = (hour + 24) % 24;
  if (hour > 24 || minute > 59) return;
  const write = (value: number) => found.add(`t${value}:${String(minute).padStart(2, '0')}`);
  const isAfternoon = AFTERNOON.test(around);
  const isMorning = MORNING.test(around);
  if (!isAfternoon || whole >= 12) write(whole);
  if (!isMorning && whole < 12) write(whole + 12);
  if (isMorning && whole === 12) write(0);
}
