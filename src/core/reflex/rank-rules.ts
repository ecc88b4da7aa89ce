// Owns which rules a line is of, and the parts of a line with more than one verb.
// Knows no rule and no turn. Invariant: a part counts only when it is of a form by itself; the words of a free text are never cut off it silently.
import { type ReflexInput, type ReflexMatch, type ReflexRule, SAME_FILE } from '#core/agent/reflex-rule.ts';
import { fitForms } from './form.ts';
import { readLine, type Token } from './read-line.ts';

/** `act`: from here a rule acts; `change`: from here one that may change something does; below, the owner is asked. */
export const THRESHOLDS = { act: 0.6, change: 0.92, ask: 0.35 } as const;
const ASKED = 0.5;

export interface RankedRule {
  readonly rule: ReflexRule;
  readonly match: ReflexMatch;
}

export type ReflexSurroundings = Omit<ReflexInput, 'text' | 'words' | 'confirmed' | 'fit'>;

export function reflexInput(text: string, surroundings: ReflexSurroundings, confirmed = false): ReflexInput {
  const line = readLine(text);
  const { tokens } = line;
  return {
    ...surroundings,
    text,
    words: text.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0),
    confirmed,
    fit: (forms) => fitForms(forms, line, surroundings.folder),
  };
}

/** Best first. */
export function rankRules(rules: readonly ReflexRule[], input: ReflexInput): readonly RankedRule[] {
  const { isQuestion } = readLine(input.text);
  const ranked = rules.flatMap((rule) => {
    const match = rule.match(input);
    if (match === undefined || match.score < THRESHOLDS.ask) return [];
    const mayChange = (rule.effect ?? 'write') !== 'read' && match.missing === undefined && !input.confirmed;
    const isDoubtful = mayChange && (isQuestion || match.score < THRESHOLDS.change);
    return [{ rule, match: isDoubtful ? { ...match, score: Math.min(match.score, ASKED) } : match }];
  });
  return ranked.sort((left, right) => right.match.score - left.match.score);
}

/** Does exactly one thing follow from it? */
export function isClear([first, second]: readonly RankedRule[]): boolean {
  if (first === undefined || first.match.score < THRESHOLDS.act || first.match.missing !== undefined) return false;
  return second === undefined || second.match.score < first.match.score;
}

export interface LinePart extends RankedRule {
  readonly input: ReflexInput;
}

export interface LineParts {
  readonly parts: readonly LinePart[];
  /** What stands behind them and is of no form. */
  readonly left?: string;
}

const MOST_PARTS = 5;
/** An order with a joint behind so many words is a story. */
const MOST_WORDS = 40;
/** Words that a verb before them also governs: `read a.md and b.md`. */
const SHARED_VERB = 3;

/** A line with several verbs as its parts; undefined when its first words up to any joint are of no form. */
export function splitParts(
  rules: readonly ReflexRule[],
  input: ReflexInput,
  depth = MOST_PARTS,
): LineParts | undefined {
  if (depth === 0) return undefined;
  const { tokens } = readLine(input.text);
  let remainder: LineParts | undefined;
  for (const [before, after] of joints(tokens)) {
    const here = partOf(rules, input, input.text.slice(0, before));
    if (here === undefined) continue;
    const rest = input.text.slice(after).replace(/\?\s*$/, '');
    const next = partsOf(rules, input, rest, depth - 1) ?? sharedVerb(rules, input, here, rest);
    if (next !== undefined) return { ...next, parts: [here, ...next.parts] };
    remainder ??= { parts: [here], left: rest.trim() };
  }
  return remainder;
}

function partsOf(rules: readonly ReflexRule[], input: ReflexInput, text: string, depth: number): LineParts | undefined {
  const whole = partOf(rules, input, text);
  return whole === undefined ? splitParts(rules, reflexInput(text, input), depth) : { parts: [whole] };
}

function sharedVerb(
  rules: readonly ReflexRule[],
  input: ReflexInput,
  first: LinePart,
  rest: string,
): LineParts | undefined {
  const { tokens } = readLine(rest);
  if (first.rule.effect !== 'read' || tokens.length > SHARED_VERB) return undefined;
  const verb = readLine(first.input.text).tokens[0]?.raw ?? '';
  const part = partOf(rules, input, `${verb} ${rest}`);
  return part?.rule === first.rule ? { parts: [part] } : undefined;
}

function partOf(rules: readonly ReflexRule[], around: ReflexInput, text: string): LinePart | undefined {
  const input = reflexInput(text, around);
  const ranked = rankRules(rules, input).map(aboutPartBefore);
  const [best] = ranked;
  return best !== undefined && isClear(ranked) ? { ...best, input } : undefined;
}

/** `it` is the file of the part before, known once that part is done; alone it asks. */
function aboutPartBefore({ rule, match }: RankedRule): RankedRule {
  const { missing, ...known } = match;
  return { rule, match: missing === 'path' && match.slots.path === SAME_FILE ? known : match };
}

/** Where one order may end and the next begin: `and`, `then`, `;`, a full stop. */
function joints(tokens: readonly Token[]): readonly (readonly [before: number, after: number])[] {
  return tokens.slice(0, MOST_WORDS).flatMap((token, at) => {
    const isJoint =
      token.kind === 'mark'
        ? /^[;,.]+$/.test(token.word)
        : token.kind === 'word' && /^(?:and|then|&|plus|but)$/.test(token.word);
    let next = at + 1;
    while (/^(?:and|then|also|after|that|&)$/.test(tokens[next]?.word ?? '') && tokens[next]?.kind === 'word')
      next += 1;
    const after = tokens[next];
    return isJoint && at > 0 && after !== undefined && token.word !== 'but'
      ? [[token.start, after.start] as const]
      : [];
  });
}
