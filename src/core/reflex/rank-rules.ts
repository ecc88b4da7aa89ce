// Owns the ranking of rules for one line, and what speaks against acting on the best of them.
// Knows no rule by name. Invariant: same line and rules, same ranking; a doubtful line never acts, at most it asks (reflex 8).
import type { ReflexInput, ReflexMatch, ReflexRule } from '#core/agent/reflex-rule.ts';
import type { Language } from './language.ts';
import { fitForm } from './line/fit-form.ts';
import { type Form, parseForm } from './line/parse-form.ts';
import { type Doubt, type Line, readLine } from './line/read-line.ts';

/** Bounds of the ranking, as data. */
export const THRESHOLDS = { act: 0.6, ask: 0.35, margin: 0.04, doubt: 0.58 } as const;

export interface RankedRule {
  readonly rule: ReflexRule;
  readonly match: ReflexMatch;
}

export type ReflexSurroundings = Omit<ReflexInput, 'text' | 'words' | 'confirmed' | 'fit'>;

const compiled = new WeakMap<readonly string[], readonly Form[]>();

export function reflexInput(
  text: string,
  surroundings: ReflexSurroundings,
  language: Language,
  confirmed = false,
): ReflexInput {
  const line = readLine(text, language);
  return {
    ...surroundings,
    text: line.text,
    words: line.text.slice(line.tokens[0]?.start ?? 0, line.end),
    confirmed,
    fit: (forms) => bestFit(forms, line),
  };
}

/** Best first; everything under the lower bound is left out. */
export function rankRules(rules: readonly ReflexRule[], input: ReflexInput, language: Language): readonly RankedRule[] {
  const { doubt } = readLine(input.text, language);
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

function bestFit(forms: readonly string[], line: Line): ReflexMatch | undefined {
  let best: ReflexMatch | undefined;
  for (const form of compile(forms, line.language)) {
    const fit = fitForm(form, line);
    if (fit !== undefined && (best === undefined || fit.score > best.score)) best = fit;
  }
  return best;
}

function compile(forms: readonly string[], language: Language): readonly Form[] {
  const known = compiled.get(forms);
  if (known !== undefined) return known;
  const made = forms.map((form) => parseForm(form, language.classes));
  compiled.set(forms, made);
  return made;
}
