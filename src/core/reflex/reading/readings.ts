// Owns the further readings of a line that fits no form as it stands: without its layers, and each clause by itself.
// Knows no rule. Invariant: a reading whose surroundings speak against acting says so; it may be asked about, never acted on.
import type { Language } from '../language.ts';
import { maskQuotes } from './mask-quotes.ts';
import { peelLine } from './peel-line.ts';
import { type Clause, splitClauses } from './split-clauses.ts';

export interface Reading {
  readonly text: string;
  /** Multiplies the score of what it matches. */
  readonly weight: number;
  /** A part of the line: only what was spoken in words counts. */
  readonly part: boolean;
  /** A colon before it says that this is what is asked for. */
  readonly announced?: boolean;
  /** The last clause, after a sentence of its own: what the line leads up to. */
  readonly closing?: boolean;
  /** Put together from two parts of the line: no fact and no memory is that. */
  readonly joined?: boolean;
  /** A guess, or half of what was said: no fact to keep. */
  readonly doubtful?: boolean;
  /** It speaks to us about us. */
  readonly aboutAgent?: boolean;
  /** Its place in the line. */
  readonly span?: Clause;
  /** Something around it or in it speaks against acting. */
  readonly guarded: boolean;
  /** What stands around it needs understanding: not even memory answers half of a line. */
  readonly torn: boolean;
}

const LONGEST = 320;
const MOST_CLAUSES = 6;
const WEIGHTS = { whole: 0.98, part: 0.94 } as const;
/** Words with a dot, slash or underscore name things: `docker-compose.yml` composes nothing. */
export const NAMES = /\S*[^\s.]*[./_\\]\w\S*|\S+[/\\](?=\s|$)/g;
const QUOTED = /`[^`]+`|"[^"]+"|“[^”]+”/g;

export function readings(text: string, language: Language): readonly Reading[] {
  if (text.length > LONGEST) return [];
  const whole = peelLine(text, language.layers);
  const told = isStatement(whole, language) && !language.layers.asking.test(text);
  const guarded = isAgainst(whole, language) || told;
  const doubtful = language.guards.hedging.test(text);
  const found: Reading[] = [
    {
      text: whole,
      weight: WEIGHTS.whole,
      part: false,
      aboutAgent: language.beyond.aboutAgent.test(whole),
      guarded,
      doubtful,
      torn: false,
    },
  ];
  found.push(...turnedReading(whole, language), ...askedReadings(text, language));
  const clauses = splitClauses(text, language.layers.breaks);
  if (clauses.length > 1 && clauses.length <= MOST_CLAUSES) {
    found.push(...spansOf(clauses).map((span) => partReading(text, span, language)));
    found.push(...pointedReadings(text, clauses, language));
  }
  return found.filter((reading, index) => found.findIndex((other) => other.text === reading.text) === index);
}

/** `in my notes folder, what files are there` reads as `what files are there in my notes folder`. */
function turnedReading(whole: string, language: Language): readonly Reading[] {
  const place = language.layers.placeFirst.exec(maskQuotes(whole))?.[0];
  if (place === undefined || /[.!?;:]\s/.test(whole) || isLedAgainst(place, true, language)) return [];
  const request = peelLine(whole.slice(place.length), language.layers).replace(/[.?!]+$/, '');
  const text = `${request} ${whole.slice(0, place.length).replace(/[,:]\s*$/, '')}`;
  return [{ text, weight: WEIGHTS.part, part: true, guarded: isAgainst(text, language), torn: false }];
}

const MOST_OBJECTS = 8;

/** `the trace points to lines 4 to 9 of a.py, show them`: the verb of the end with what was named before it. */
function askedReadings(text: string, language: Language): readonly Reading[] {
  const { layers } = language;
  const found = layers.asking.exec(maskQuotes(text));
  if (found === null || isLedAgainst(text.slice(0, found.index), true, language)) return [];
  const { what, where } = layers.askingVerbs;
  const verb = found.groups?.verb ?? (found.groups?.what === undefined ? where : what);
  const before = text.slice(0, found.index);
  const torn = demands(before, language);
  const things = [...maskQuotes(before).matchAll(layers.object)]
    .slice(-MOST_OBJECTS)
    .map(({ index }) => before.slice(index).trim());
  const paths = [
    ...new Set(things.map((thing) => thing.split(/\s/)[0] ?? '').filter((word) => /[^\s.][./]\w/.test(word))),
  ];
  const named = things.map((thing) => thing.replace(layers.predicate, '')).filter((thing) => !things.includes(thing));
  return [...things, ...named, ...(paths.length === 1 ? paths : [])].map((thing) => ({
    text: `${verb} ${peelLine(thing, layers)}`,
    weight: WEIGHTS.part,
    part: true,
    guarded: isAgainst(thing, language),
    torn,
    joined: true,
  }));
}

/** Last clauses first: what a line leads up to is its request. */
function spansOf(clauses: readonly Clause[]): readonly Clause[] {
  const end = clauses.at(-1)?.end ?? 0;
  return [...clauses.slice(1).map(({ start }) => ({ start, end })), ...clauses.toReversed()];
}

function partReading(text: string, { start, end }: Clause, language: Language): Reading {
  const own = text.slice(start, end).trim();
  const before = text.slice(0, start);
  const after = peelLine(text.slice(end), language.layers);
  const asked = language.guards.asked.test(own);
  const part = peelLine(own.replace(asked ? /[,;:?]+$/ : /[,;:]+$/, ''), language.layers);
  const led = isLedAgainst(before, asked, language);
  const guarded =
    (after.endsWith('?') && !asked) ||
    isAgainst(part, language) ||
    isStatement(part, language) ||
    led ||
    isFollowedAgainst(after, asked, language);
  const announced = /:\s*$/.test(before) && !language.guards.quoting.test(before);
  const torn =
    language.guards.understanding.test(plainOf(withoutReasons(after, language), language)) || demands(before, language);
  const closing = peelLine(after, language.layers) === '' && /[.!?:]\s*$|\bso\s+$/.test(before);
  const doubtful = led || language.guards.hedging.test(own) || language.guards.halving.test(after);
  return {
    span: { start, end },
    announced,
    closing,
    doubtful,
    aboutAgent: language.beyond.aboutAgent.test(part),
    text: part,
    weight: WEIGHTS.part,
    part: true,
    guarded,
    torn,
  };
}

/** A reason or a story before a request is none of its conditions; a forbidding, a condition or somebody's words are. */
function isLedAgainst(before: string, asked: boolean, language: Language): boolean {
  const { guards, layers } = language;
  const told = guards.reported.test(maskQuotes(attached(before))) && !asked;
  const clauses = splitClauses(before, layers.breaks).map(({ start, end }) => before.slice(start, end));
  return (
    told ||
    clauses.some((clause) => {
      const plain = plainOf(guards.ownWords.test(clause) ? clause.trim() : peelLine(clause, layers), language);
      return guards.leading.some((pattern) => pattern.test(plain));
    })
  );
}

/** What hangs on the request by a comma, a dash or a colon; a sentence that ended stands by itself. */
function attached(before: string): string {
  return (
    maskQuotes(before)
      .split(/[.!?](?=\s|$)/)
      .at(-1) ?? ''
  );
}

function isFollowedAgainst(after: string, asked: boolean, language: Language): boolean {
  const plain = plainOf(withoutReasons(after, language), language).replace(language.guards.harmless, ' ');
  const { against, around, credited } = language.guards;
  return [...against, ...around].some((pattern) => pattern.test(plain)) || (credited.test(plain) && !asked);
}

/** `…, I am writing a post`: what the owner does is no order. */
function withoutReasons(after: string, language: Language): string {
  const { guards, layers } = language;
  return splitClauses(after, layers.breaks)
    .map(({ start, end }) => after.slice(start, end).trim())
    .filter((clause) => !guards.ownWords.test(clause) || guards.wishing.test(clause))
    .join('. ');
}

function demands(before: string, language: Language): boolean {
  const { guards, layers } = language;
  return splitClauses(before, layers.breaks).some(({ start, end }) => {
    const clause = before.slice(start, end).trim();
    return guards.demanding.test(plainOf(guards.ownWords.test(clause) ? clause : peelLine(clause, layers), language));
  });
}

/** `… "hostname -I". Would you run it?`: the words point at the one quotation of the line. */
function pointedReadings(text: string, clauses: readonly Clause[], language: Language): readonly Reading[] {
  const [quoted, ...more] = [...text.matchAll(QUOTED)].map((found) => found[0].slice(1, -1));
  if (quoted === undefined || more.length > 0) return [];
  return clauses.flatMap(({ start, end }) => {
    const own = peelLine(text.slice(start, end), language.layers);
    if (!language.layers.pointing.test(own)) return [];
    const around = `${text.slice(0, start)} ${text.slice(end)}`;
    const guarded = isAgainst(around, language) || language.guards.around.some((pattern) => pattern.test(around));
    return [
      { text: own.replace(/\s.*$/, () => ` \`${quoted}\``), weight: WEIGHTS.part, part: true, guarded, torn: false },
    ];
  });
}

function plainOf(text: string, language: Language): string {
  return maskQuotes(text).replace(language.guards.verbatim, ' ').replace(NAMES, 'it');
}

function isAgainst(text: string, language: Language): boolean {
  const plain = plainOf(text, language);
  const { against, understanding } = language.guards;
  return understanding.test(plain) || against.some((pattern) => pattern.test(plain));
}

function isStatement(text: string, language: Language): boolean {
  return language.guards.statement.test(maskQuotes(text));
}
