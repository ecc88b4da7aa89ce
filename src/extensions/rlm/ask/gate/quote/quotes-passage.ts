// Owns whether a clause is a shortened quotation of one passage: its words, in their order, with nothing left out that limits, turns or
// counts what is said, and nothing put in but free words. Knows no handle.
// Invariant: pure; a word for word quotation of a whole passage always passes; bounded by the starts that are tried.
import { isSameWord, type ReadWord } from './read-words.ts';

type Row = readonly ReadWord[];

const MOST_STARTS = 24;

/** `isPart`: the clause was cut out of a sentence. */
export function quotesPassage(clause: Row, passage: Row, isPart = false): boolean {
  const said = clause.filter((word) => !isFree(word));
  const [head] = said;
  if (head === undefined || said.length > passage.length) return false;
  const starts = passage.flatMap((word, at) => (isSameWord(word, head) ? [at] : []));
  return starts.slice(0, MOST_STARTS).some((at) => {
    const places = placesFrom(said, passage, at);
    if (places === undefined || !isSound(clause, passage, places)) return false;
    return !isPart || isStatement(clause, passage, places);
  });
}

/** Word for word, free words included, wherever it stands, from the beginning of a passage to the end of one. */
export function quotesRow(clause: Row, passages: readonly Row[]): boolean {
  for (let first = 0; first < passages.length; first += 1) {
    const pair = [...(passages[first] ?? []), ...(passages[first + 1] ?? [])];
    if (pair.length === clause.length && pair.every((word, at) => isSameWord(word, clause[at] as ReadWord)))
      return true;
  }
  return false;
}

export function isFree({ role }: ReadWord): boolean {
  return role === 'article' || role === 'being' || role === 'having' || role === 'pointing';
}

/** Of two that are joined each must state something by itself: `Ann and Bob came` is not said by `Bob came` and `by Ann`. */
function isStatement(clause: Row, passage: Row, places: readonly number[]): boolean {
  const verb = clause.findIndex(({ role }) => role === 'being');
  const hasBoth =
    verb > 0 && clause.slice(0, verb).some((word) => !isFree(word)) && clause.slice(verb).some((word) => !isFree(word));
  if (hasBoth) return true;
  const first = passage.findIndex((word) => !isFree(word));
  const last = passage.findLastIndex((word) => !isFree(word));
  return places[0] === first && places.at(-1) === last;
}

function placesFrom(said: Row, passage: Row, from: number): readonly number[] | undefined {
  const places: number[] = [];
  let at = from;
  for (const word of said) {
    while (at < passage.length && !isSameWord(passage[at] as ReadWord, word)) at += 1;
    if (at >= passage.length) return undefined;
    places.push(at);
    at += 1;
  }
  return places;
}

function isSound(clause: Row, passage: Row, places: readonly number[]): boolean {
  const kept = new Set(places);
  const dropped = (at: number): boolean => !kept.has(at) && !isFree(passage[at] as ReadWord);
  const part = partOf(passage, places);
  if (part === undefined) return false;
  for (let at = part.from; at < part.to; at += 1) if (dropped(at) && isNeeded(passage, at)) return false;
  if (places.some((at) => hasLostNumber(passage, at, kept))) return false;
  if (hasLostSubject(passage, places, part.from)) return false;
  return gapsAreSound(clause, passage, places);
}

/** The stretch between two strong marks in which it stands, all of it; no word is left out across a hard mark. */
function partOf(passage: Row, places: readonly number[]): { readonly from: number; readonly to: number } | undefined {
  const first = places[0] ?? 0;
  const last = places.at(-1) ?? 0;
  const kept = new Set(places);
  for (let at = first + 1; at <= last; at += 1) {
    const { mark } = passage[at] as ReadWord;
    if (mark !== 'hard' && mark !== 'strong') continue;
    if (!isUnbroken(passage, kept, { first, last })) return undefined;
    break;
  }
  let from = first;
  while (from > 0 && passage[from]?.mark !== 'strong') from -= 1;
  let to = last + 1;
  while (to < passage.length && passage[to]?.mark !== 'strong') to += 1;
  return { from, to };
}

function isUnbroken(
  passage: Row,
  kept: ReadonlySet<number>,
  { first, last }: { readonly first: number; readonly last: number },
): boolean {
  for (let at = first; at <= last; at += 1) if (!kept.has(at) && !isFree(passage[at] as ReadWord)) return false;
  return true;
}

/** `nothing else` only says that this is all. */
function isNeeded(passage: Row, at: number): boolean {
  const { role, lower } = passage[at] as ReadWord;
  if (role !== 'limiting') return false;
  if (lower === 'nothing') return passage[at + 1]?.lower !== 'else';
  return !(lower === 'else' && passage[at - 1]?.lower === 'nothing');
}

const JOINS = new Set(['in', 'of', 'out', 'to', 'and', 'or', 'from', 'by', 'x', 'through', 'per']);

/** A number without its unit, or without the number that it is one of. */
function hasLostNumber(passage: Row, at: number, kept: ReadonlySet<number>): boolean {
  if ((passage[at] as ReadWord).kind !== 'number') return false;
  if (passage[at + 1]?.kind === 'unit' && !kept.has(at + 1)) return true;
  return [-1, 1].some((step) => {
    let other = at + step;
    while (JOINS.has(passage[other]?.lower ?? '') || passage[other]?.kind === 'unit') other += step;
    return passage[other]?.kind === 'number' && !kept.has(other);
  });
}

const isExact = ({ kind }: ReadWord): boolean => kind === 'number' || kind === 'name' || kind === 'exact';

/** Somebody else did it, or it is only what something else is of: `Ann, who knows Bob, came` says nothing of Bob. */
function hasLostSubject(passage: Row, places: readonly number[], from: number): boolean {
  const first = places[0] ?? 0;
  const last = places.at(-1) ?? 0;
  if (places.length === 1) return false;
  const kept = new Set(places);
  if (hasLostName(passage, kept, { from: lineBefore(passage, first, from), last })) return true;
  const before = wordBefore(passage, first);
  if (before === undefined || !before.relates || passage[first]?.relates) return false;
  return !(isUnbroken(passage, kept, { first, last }) && isExact(passage[last] as ReadWord));
}

function hasLostName(
  passage: Row,
  kept: ReadonlySet<number>,
  { from, last }: { readonly from: number; readonly last: number },
): boolean {
  let lost = false;
  for (let at = from; at <= last; at += 1) {
    if (passage[at]?.kind !== 'name') continue;
    if (lost && kept.has(at)) return true;
    lost ||= !kept.has(at);
  }
  return false;
}

/** Where the line of the first word begins. */
function lineBefore(passage: Row, first: number, from: number): number {
  let at = first;
  while (at > from && passage[at]?.mark !== 'hard') at -= 1;
  return at;
}

/** Articles are passed over. */
function wordBefore(passage: Row, at: number): ReadWord | undefined {
  let before = at - 1;
  while (passage[before]?.role === 'article') before -= 1;
  return passage[at]?.mark === 'strong' ? undefined : passage[before];
}

/** Between two kept words: no other verb of being or having, no lost preposition. */
function gapsAreSound(clause: Row, passage: Row, places: readonly number[]): boolean {
  let next = 0;
  let gap: ReadWord[] = [];
  for (const word of clause) {
    if (isFree(word)) {
      gap.push(word);
      continue;
    }
    const at = places[next] ?? 0;
    const before = next === 0 ? -1 : (places[next - 1] ?? 0);
    const original = passage.slice(before + 1, at);
    if (next > 0 && !isSoundGap(gap, original, passage[at] as ReadWord)) return false;
    next += 1;
    gap = [];
  }
  return true;
}

const SET = new Set(['set', 'equal', 'default', 'fixed'].flatMap((one) => [one, `${one}s`]));

function isSoundGap(said: Row, original: Row, word: ReadWord): boolean {
  const has = (row: Row, role: ReadWord['role']): boolean => row.some((one) => one.role === role);
  const lost = original.filter((one) => !isFree(one));
  const last = original.filter(({ role }) => role !== 'article').at(-1);
  const isSet = last?.lower === 'to' && SET.has(original.at(-2)?.lower ?? '');
  if (last?.relates && !isSet && !word.relates && !said.some(({ key }) => key === last.key)) return false;
  if (has(said, 'having') && !has(original, 'having')) return false;
  if (!has(said, 'being') || has(original, 'being')) return true;
  return (lost.length === 0 && !has(original, 'having') && isExact(word)) || word.mark === 'link' || isSet;
}
