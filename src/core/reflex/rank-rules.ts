// Owns the ranking of rules for one line, and what speaks against acting on the best of them.
// Knows no rule by name. Invariant: same line and rules, same ranking; a doubtful line never acts, at most it asks (reflex 8).
import type { ReflexInput, ReflexMatch, ReflexRule } from '#core/agent/reflex-rule.ts';
import type { Language } from './language.ts';
import { fitBag } from './line/fit-bag.ts';
import { fitForm } from './line/fit-form.ts';
import { type Form, parseForm } from './line/parse-form.ts';
import { type Doubt, type Line, readLine } from './line/read-line.ts';
import { type Reading, readings } from './reading/readings.ts';
import { withinReach } from './reading/within-reach.ts';

/** Bounds of the ranking, as data. */
export const THRESHOLDS = {
  act: 0.6,
  ask: 0.35,
  margin: 0.04,
  doubt: 0.58,
  part: 0.8,
  closing: 0.72,
  announced: 1.25,
} as const;

/** What changes something is less likely meant where the line tells rather than asks. */
const WARY = 0.7;

export interface RankedRule {
  readonly rule: ReflexRule;
  readonly match: ReflexMatch;
}

export type ReflexSurroundings = Omit<ReflexInput, 'text' | 'words' | 'confirmed' | 'fit'>;

/** Forms that the whole line must fit, and frames (`~`), whose parts stand anywhere in it. */
type Mode = 'forms' | 'frames';

interface Compiled {
  readonly forms: readonly Form[];
  readonly frames: readonly Form[];
}

const compiled = new WeakMap<readonly string[], Compiled>();

export function reflexInput(
  text: string,
  surroundings: ReflexSurroundings,
  language: Language,
  confirmed = false,
): ReflexInput {
  return inputOf(readLine(text, language), surroundings, { confirmed, mode: 'forms' });
}

function inputOf(
  line: Line,
  surroundings: ReflexSurroundings,
  { confirmed, mode }: { readonly confirmed: boolean; readonly mode: Mode },
): ReflexInput {
  return {
    ...surroundings,
    text: line.text,
    words: line.text.slice(line.tokens[0]?.start ?? 0, line.end),
    confirmed,
    fit: (forms) => bestFit(forms, line, mode),
  };
}

/** Best first; everything under the lower bound is left out. A line that fits no form is read again, by its parts and by frames. */
export function rankRules(rules: readonly ReflexRule[], input: ReflexInput, language: Language): readonly RankedRule[] {
  const line = readLine(input.text, language);
  if (!input.confirmed && (line.doubt === 'pasted' || line.doubt === 'injection')) return [];
  const able = input.confirmed ? rules : withinReach(rules, input.text, language);
  return rankLine(able, input, { line, language });
}

function rankLine(
  rules: readonly ReflexRule[],
  input: ReflexInput,
  { line, language }: { readonly line: Line; readonly language: Language },
): readonly RankedRule[] {
  const plain = rankOnce(rules, input, line.doubt);
  if (input.confirmed || isClear(plain)) return plain;
  const asks: RankedRule[] = [];
  for (const mode of ['forms', 'frames'] as const) {
    for (const reading of readings(input.text, language)) {
      const ranked = rankReading(rules, { reading, mode, input, language });
      if (isClear(ranked)) return [...ranked, ...otherOrders(rules, ranked, { reading, mode, input, language })];
      asks.push(...ranked);
    }
  }
  return plain.length > 0 ? plain : asks.sort((left, right) => right.match.score - left.match.score).slice(0, 3);
}

interface Rereading {
  readonly reading: Reading;
  readonly mode: Mode;
  readonly input: ReflexInput;
  readonly language: Language;
}

function rankReading(rules: readonly ReflexRule[], rereading: Rereading): readonly RankedRule[] {
  const line = readLine(rereading.reading.text, rereading.language);
  const again = inputOf(line, rereading.input, { confirmed: false, mode: rereading.mode });
  return rankOnce(rules, again, line.doubt).flatMap((ranked) => {
    const score = ranked.match.score * weightOf(ranked, rereading);
    return score < THRESHOLDS.ask ? [] : [{ rule: ranked.rule, match: { ...ranked.match, score } }];
  });
}

/** Another clause that also orders something lasting: which one, is the owner's to say. */
function otherOrders(
  rules: readonly ReflexRule[],
  [best]: readonly RankedRule[],
  { reading, mode, input, language }: Rereading,
): readonly RankedRule[] {
  const { span } = reading;
  if (span === undefined || best?.rule.effect !== 'write') return [];
  return readings(input.text, language)
    .filter((other) => other.span !== undefined && (other.span.end <= span.start || other.span.start >= span.end))
    .flatMap((other) => rankReading(rules, { reading: other, mode, input, language }).slice(0, 1))
    .filter((ranked) => isClear([ranked]) && ranked.rule.effect === 'write')
    .map(({ rule, match }) => ({ rule, match: { ...match, score: best.match.score } }));
}

/** A part of a line counts when it was spoken in words; what its surroundings speak against is at most asked about. */
function weightOf({ rule, match }: RankedRule, { reading, mode }: Rereading): number {
  if (reading.torn || (rule.purpose === 'meta' && speaksOfWorld(reading, mode))) return 0;
  if (reading.doubtful === true && rule.effect === 'home') return THRESHOLDS.doubt;
  if (mode === 'frames') return reading.guarded ? 0 : reading.weight;
  if (!reading.part) return reading.weight * (reading.guarded && rule.effect === 'write' ? WARY : 1);
  return partWeight({ rule, match }, reading);
}

/** `… when I push, help`: a call for help at the end of a story is about the story. */
function speaksOfWorld({ part, aboutAgent }: Reading, mode: Mode): boolean {
  return aboutAgent !== true && (part || mode === 'frames');
}

function partWeight({ rule, match }: RankedRule, reading: Reading): number {
  const own = rule.purpose === 'memory' || rule.purpose === 'recall';
  if (own && reading.joined === true) return 0;
  const weight = reading.weight * (reading.guarded && !own ? THRESHOLDS.doubt : 1);
  if (match.score >= (reading.closing === true && !own ? THRESHOLDS.closing : THRESHOLDS.part)) return weight;
  return reading.announced === true && !own ? weight * THRESHOLDS.announced : 0;
}

function isClear(ranked: readonly RankedRule[]): boolean {
  const match = ranked[0]?.match;
  return match !== undefined && match.score >= THRESHOLDS.act && match.missing === undefined;
}

function rankOnce(rules: readonly ReflexRule[], input: ReflexInput, doubt: Doubt | undefined): readonly RankedRule[] {
  const ranked: RankedRule[] = [];
  for (const rule of rules) {
    const match = rule.match(input);
    if (match === undefined) continue;
    const score = input.confirmed ? match.score : match.score * trust(doubt, rule);
    if (score >= THRESHOLDS.ask) ranked.push({ rule, match: { ...match, score } });
  }
  return ranked.sort((left, right) => right.match.score - left.match.score);
}

/** A paste or a text that steers moves nothing; a condition or a taking back makes an act a question; memory and recall do not mind. */
function trust(doubt: Doubt | undefined, rule: ReflexRule): number {
  if (doubt === 'pasted' || doubt === 'injection') return 0;
  if (doubt === undefined || rule.purpose === 'memory' || rule.purpose === 'recall') return 1;
  return doubt === 'question' && rule.effect === 'read' ? 1 : THRESHOLDS.doubt;
}

function bestFit(forms: readonly string[], line: Line, mode: Mode): ReflexMatch | undefined {
  let best: ReflexMatch | undefined;
  for (const form of compile(forms, line.language)[mode]) {
    const fit = mode === 'forms' ? fitForm(form, line) : fitBag(form, line);
    if (fit !== undefined && (best === undefined || fit.score > best.score)) best = fit;
  }
  return best;
}

function compile(forms: readonly string[], language: Language): Compiled {
  const known = compiled.get(forms);
  if (known !== undefined) return known;
  const parse = (form: string): Form => parseForm(form.replace(/^~ /, ''), language.classes);
  const made: Compiled = {
    forms: forms.filter((form) => !form.startsWith('~ ')).map(parse),
    frames: forms.filter((form) => form.startsWith('~ ')).map(parse),
  };
  compiled.set(forms, made);
  return made;
}
