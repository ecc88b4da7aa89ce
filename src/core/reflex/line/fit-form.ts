// Owns the fitting of forms to a line: words, classes and slots in order, small slips and fillers allowed, nothing left over.
// Knows no rule. Invariant: ends within a fixed number of steps for any line; never throws for any line.
import type { ReflexMatch } from '#core/agent/reflex-rule.ts';
import { nearWord } from './near-word.ts';
import type { Form, FormNode } from './parse-form.ts';
import type { Line } from './read-line.ts';
import { readSlot } from './read-slot.ts';

const MAX_STEPS = 4000;
/** A fit without a single fixed word scores this much; each word adds a little, so that the more specific form wins. */
const BASE = 0.9;
const PER_WORD = 0.02;

interface State {
  readonly at: number;
  readonly quality: number;
  readonly words: number;
  readonly slots: Readonly<Record<string, string>>;
}

interface Search {
  readonly line: Line;
  readonly form: Form;
  steps: number;
  best: ReflexMatch | undefined;
}

export function fitForm(form: Form, line: Line): ReflexMatch | undefined {
  if (line.tokens.length === 0 || !mayBegin(form, line)) return undefined;
  const search: Search = { line, form, steps: 0, best: undefined };
  walk(search, form.nodes, { at: 0, quality: 1, words: 0, slots: form.preset });
  return search.best;
}

/** A cheap look at the first words, before the search. */
function mayBegin({ firstWords }: Form, line: Line): boolean {
  if (firstWords === undefined) return true;
  return starts(line, 0).some((at) => {
    const token = line.tokens[at];
    if (token === undefined || firstWords.has(token.word)) return token !== undefined;
    if (token.kind !== 'word' || line.commonWords.has(token.word) || line.fillers.has(token.word)) return false;
    return [...firstWords].some((word) => nearWord(token.word, word) > 0);
  });
}

function walk(search: Search, nodes: readonly FormNode[], state: State): void {
  search.steps += 1;
  if (search.steps > MAX_STEPS) return;
  const [node, ...rest] = nodes;
  if (node === undefined) {
    finish(search, state);
    return;
  }
  if (node.type === 'choice') {
    for (const way of node.ways) walk(search, way.length === 0 ? rest : [...way, ...rest], state);
    return;
  }
  for (const at of starts(search.line, state.at)) {
    if (node.type === 'word') walkWord(search, { word: node.word, at, rest }, state);
    else walkSlot(search, { node, at, rest }, state);
  }
}

/** Where the next part may begin: here, or after words without meaning. */
function starts(line: Line, from: number): readonly number[] {
  const places = [from];
  for (let at = from; at < line.tokens.length && isFiller(line, at); at += 1) places.push(at + 1);
  return places;
}

function isFiller(line: Line, at: number): boolean {
  const token = line.tokens[at];
  if (token === undefined) return false;
  if (token.kind === 'punctuation') return /^[,:;–—-]+$/.test(token.word);
  return token.kind === 'word' && line.fillers.has(token.word);
}

interface WordStep {
  readonly word: string;
  readonly at: number;
  readonly rest: readonly FormNode[];
}

function walkWord(search: Search, step: WordStep, state: State): void {
  const token = search.line.tokens[step.at];
  if (token === undefined || token.kind === 'quoted' || token.kind === 'code') return;
  const exactOnly = token.kind !== 'word' || search.line.commonWords.has(token.word);
  const near = exactOnly ? Number(token.word === step.word) : nearWord(token.word, step.word);
  if (near === 0) return;
  walk(search, step.rest, { ...state, at: step.at + 1, quality: state.quality * near, words: state.words + 1 });
}

interface SlotStep {
  readonly node: { readonly name: string; readonly kind: string };
  readonly at: number;
  readonly rest: readonly FormNode[];
}

function walkSlot(search: Search, step: SlotStep, state: State): void {
  const { name, kind } = step.node;
  for (const candidate of readSlot(kind, search.line, step.at)) {
    const marks = {
      ...(candidate.quoted === true ? { [`${name}.quoted`]: 'yes' } : {}),
      ...(candidate.sure === true ? { [`${name}.sure`]: 'yes' } : {}),
    };
    walk(search, step.rest, {
      at: candidate.end,
      quality: state.quality * candidate.quality,
      words: state.words,
      slots: { ...state.slots, [name]: candidate.value, ...marks },
    });
  }
}

function finish(search: Search, state: State): void {
  const { line, form } = search;
  const last = starts(line, state.at).at(-1) ?? state.at;
  if (last < line.tokens.length) return;
  const score = state.quality * form.weight * Math.min(1, BASE + PER_WORD * state.words);
  if (search.best !== undefined && search.best.score >= score) return;
  search.best = { score, slots: state.slots, ...(form.missing === undefined ? {} : { missing: form.missing }) };
}
