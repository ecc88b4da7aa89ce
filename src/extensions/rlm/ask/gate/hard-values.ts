// Owns which hard values of a sentence do not stand in the lines that it cites: numbers with their units, versions, paths, addresses,
// flags, identifiers. Knows no meaning. Invariant: pure and linear; more cited text never finds more missing.
import { type Piece, readPieces } from '#mind/evidence/trace-guard/exact-terms.ts';
import { numberWord, unitWord } from '#mind/evidence/trace-guard/number-terms.ts';

const HARD: ReadonlySet<Piece['kind']> = new Set(['url', 'email', 'path', 'flag', 'number', 'identifier']);

/** Units of one letter, which are seldom words. */
const LETTER = /^[dghklmsvw]$/;

/** Figures that are no digits, and what turns the direction of reading. */
const ODD = /[\p{No}\p{Nl}\u202a-\u202e\u2066-\u2069]/gu;

interface HardValue {
  readonly shown: string;
  readonly keys: readonly string[];
  readonly unit: string | undefined;
}

function hardValues(text: string): readonly HardValue[] {
  const pieces = readPieces(text.replace(/(?<![\d.,])(\d+),(\d{1,2})(?![\d.,])/g, '$1.$2'));
  return pieces.flatMap((piece, at) => readValue(piece, pieces[at + 1]) ?? []);
}

function readValue({ kind, shown, keys }: Piece, next: Piece | undefined): HardValue | undefined {
  const word = numberWord(keys[0] ?? '');
  if (!HARD.has(kind) && word === undefined) return undefined;
  const [, digits, own] = /^(-?\d+(?:\.\d+)?)(\D*)$/.exec(word ?? keys[0] ?? '') ?? [];
  if (digits === undefined) return { shown, keys, unit: undefined };
  return { shown, keys: [String(Number(digits))], unit: own || unitAfter(next) };
}

function unitAfter(next: Piece | undefined): string | undefined {
  const after = next?.kind === 'word' || next?.kind === 'identifier' ? (next.keys[0] ?? '') : '';
  return unitWord(after) ?? LETTER.exec(after)?.[0];
}

/** As the sentence writes them, each once. Of two units the other is no match; a number without one matches any. */
export function missingValues(sentence: string, lines: string): readonly string[] {
  const stands = new Map<string, Set<string | undefined>>();
  for (const { keys, unit } of hardValues(lines))
    for (const key of keys) stands.set(key, (stands.get(key) ?? new Set()).add(unit));
  const missing = hardValues(sentence).filter(({ keys, unit }) => {
    const units = keys.flatMap((key) => [...(stands.get(key) ?? [])]);
    return !units.some((one) => one === unit || one === undefined || unit === undefined);
  });
  const odd = (sentence.match(ODD) ?? []).filter((sign) => !lines.includes(sign));
  return [...new Set([...missing.map(({ shown }) => shown), ...odd])];
}
