// Owns the fitting of frames: forms whose parts stand anywhere in a line, in any order.
// Knows no rule. Invariant: what no part explains must be words without meaning; each word beyond them costs,
// and an object (a path, a quotation, a number) that nobody explains costs most.
import type { ReflexMatch } from '#core/agent/reflex-rule.ts';
import { type Span, spansAt } from './fit-form.ts';
import type { Form, FormNode } from './parse-form.ts';
import type { Line } from './read-line.ts';
import type { Token } from './tokenize.ts';

/** Bounds of frames, as data: `word` and `object` multiply for each that is left over. */
const COSTS = { base: 0.88, word: 0.66, object: 0.5, length: 0.003, mostLeft: 2, mostSteps: 400 } as const;

interface Search {
  readonly line: Line;
  readonly optional: readonly (readonly Span[])[];
  readonly base: number;
  readonly preset: Readonly<Record<string, string>>;
  steps: number;
  best: ReflexMatch | undefined;
}

export function fitBag(form: Form, line: Line): ReflexMatch | undefined {
  if (line.tokens.length === 0) return undefined;
  const required: (readonly Span[])[] = [];
  for (const node of form.nodes.filter((one) => !isOptional(one))) {
    const spans = spansOf(node, line);
    if (spans.length === 0) return undefined;
    required.push(spans);
  }
  const optional = form.nodes.filter(isOptional).map((node) => spansOf(node, line));
  const search: Search = {
    line,
    optional,
    base: COSTS.base * form.weight,
    preset: form.preset,
    steps: 0,
    best: undefined,
  };
  place(
    search,
    required.sort((left, right) => left.length - right.length),
    [],
  );
  return search.best;
}

function isOptional(node: FormNode): boolean {
  return node.type === 'choice' && node.ways.some((way) => way.length === 0);
}

const known = new WeakMap<Line, Map<FormNode, readonly Span[]>>();

function spansOf(node: FormNode, line: Line): readonly Span[] {
  const ofLine = known.get(line) ?? new Map<FormNode, readonly Span[]>();
  known.set(line, ofLine);
  const before = ofLine.get(node);
  if (before !== undefined) return before;
  const spans = line.tokens.flatMap((_token, at) => spansAt(node, line, at));
  ofLine.set(node, spans);
  return spans;
}

function place(search: Search, required: readonly (readonly Span[])[], used: readonly Span[]): void {
  search.steps += 1;
  if (search.steps > COSTS.mostSteps) return;
  const [spans, ...rest] = required;
  if (spans === undefined) {
    finish(search, used);
    return;
  }
  for (const span of spans) if (isFree(span, used)) place(search, rest, [...used, span]);
}

function isFree(span: Span, used: readonly Span[]): boolean {
  return used.every((other) => span.end <= other.start || span.start >= other.end);
}

function finish(search: Search, required: readonly Span[]): void {
  const used = [...required];
  for (const spans of search.optional) {
    const span = spans.filter((one) => isFree(one, used)).sort((left, right) => length(right) - length(left))[0];
    if (span !== undefined) used.push(span);
  }
  const score = used.reduce((product, span) => product * span.quality, search.base) * leftOver(search.line, used);
  const words = used.reduce((sum, span) => sum + length(span) * Number(Object.keys(span.slots).length > 0), 0);
  const exact = score * (1 - COSTS.length * words);
  if (exact <= (search.best?.score ?? 0)) return;
  search.best = { score: exact, slots: Object.assign({}, search.preset, ...used.map((span) => span.slots)) };
}

function length(span: Span): number {
  return span.end - span.start;
}

function leftOver(line: Line, used: readonly Span[]): number {
  const left = line.tokens.filter(
    (token, at) => !isLoose(line, token) && used.every((span) => at < span.start || at >= span.end),
  );
  if (left.length > COSTS.mostLeft) return 0;
  return left.reduce((product, token) => product * (token.kind === 'word' ? COSTS.word : COSTS.object), 1);
}

function isLoose(line: Line, token: Token): boolean {
  if (token.kind === 'punctuation') return true;
  return token.kind === 'word' && (line.looseWords.has(token.word) || line.fillers.has(token.word));
}
