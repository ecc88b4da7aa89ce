// Owns the fitting of forms to a line: words, classes and slots in order, small slips and fillers allowed, nothing left over.
// Knows no rule. Invariant: ends within a fixed number of steps for any line; never throws for any line.
import type { ReflexMatch } from '#core/agent/reflex-rule.ts';
import { nearWord } from './near-word.ts';
import { type Form, type FormNode, firstWordsOf } from './parse-form.ts';
import type { Line } from './read-line.ts';
import { readSlot } from './read-slot.ts';

const MAX_STEPS = 4000;
/** Words without meaning in a row. */
const MOST_FILLERS = 8;
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
  readonly end: (state: State) => void;
  steps: number;
}

export function fitForm(form: Form, line: Line): ReflexMatch | undefined {
  if (line.tokens.length === 0 || !mayBegin(form, line)) return undefined;
  let best: ReflexMatch | undefined;
  const end = (state: State): void => {
    const match = finished(form, line, state);
    if (match !== undefined && match.score > (best?.score ?? 0)) best = match;
  };
  walk({ line, end, steps: 0 }, form.nodes, { at: 0, quality: 1, words: 0, slots: form.preset });
  return best;
}

/** One way in which a part of a form stands at a place of a line. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly quality: number;
  readonly slots: Readonly<Record<string, string>>;
}

/** Every way in which `node` stands at the token `start`; longest first. */
export function spansAt(node: FormNode, line: Line, start: number): readonly Span[] {
  const spans: Span[] = [];
  if (!mayStand(firstWordsOf(node), line, start)) return spans;
  const end = ({ at, quality, slots }: State): void => {
    if (at > start) spans.push({ start, end: at, quality, slots });
  };
  walk({ line, end, steps: 0 }, [node], { at: start, quality: 1, words: 0, slots: {} });
  return spans.sort((left, right) => right.end - left.end);
}

/** A cheap look at the first words, before the search. */
function mayBegin({ firstWords }: Form, line: Line): boolean {
  return mayStand(firstWords, line, 0);
}

function mayStand(firstWords: ReadonlySet<string> | undefined, line: Line, from: number): boolean {
  if (firstWords === undefined) return true;
  return starts(line, from).some((at) => {
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
    search.end(state);
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
  for (let at = from; places.length <= MOST_FILLERS && isFiller(line, at); at += 1) places.push(at + 1);
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

function finished(form: Form, line: Line, state: State): ReflexMatch | undefined {
  const last = starts(line, state.at).at(-1) ?? state.at;
  if (last < line.tokens.length) return undefined;
  const score = state.quality * form.weight * Math.min(1, BASE + PER_WORD * state.words);
  return { score, slots: state.slots, ...(form.missing === undefined ? {} : { missing: form.missing }) };
}
