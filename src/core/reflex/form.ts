// Owns forms: the small notation in which rules say what lines look like, and whether a line is exactly of one.
// Knows no rule. Invariant: a form covers the whole line or does not fit; ends within a fixed number of steps; never throws for any line.
import { TalariaError } from '#base/errors.ts';
import type { ReflexMatch } from '#core/agent/reflex-rule.ts';
import { type Line, slipOf } from './read-line.ts';
import { type Around, readSlot } from './slots.ts';
import { COMMON, DETERMINERS, FILLERS } from './words.ts';

type Node =
  | { readonly type: 'word'; readonly word: string }
  | { readonly type: 'slot'; readonly name: string; readonly kind: string }
  /** One of several sequences; an empty one makes it optional. */
  | { readonly type: 'choice'; readonly ways: readonly (readonly Node[])[] };

interface Form {
  readonly nodes: readonly Node[];
  readonly weight: number;
  readonly missing?: string;
  readonly preset: Readonly<Record<string, string>>;
}

const MAX_STEPS = 3000;
/** By the slips that a reading allows in words of ours. Letters that changed places are no other word; any other slip may be one, so that
 * what changes something is asked about first. */
const SCORES = { none: 1, swapped: 0.95, near: 0.9 } as const;
type Slips = keyof typeof SCORES;

const compiled = new WeakMap<readonly string[], readonly Form[]>();

/** The first form that the whole line is of: rules write the narrower ones first. */
export function fitForms(forms: readonly string[], line: Line, around: Around): ReflexMatch | undefined {
  let all = compiled.get(forms);
  if (all === undefined) {
    all = forms.map(parseForm);
    compiled.set(forms, all);
  }
  if (line.tokens.length === 0) return undefined;
  for (const slips of ['none', 'swapped', 'near'] as const)
    for (const form of all) {
      const slots = new Walk(line, around, slips).walk(form.nodes, 0, form.preset);
      if (slots === undefined) continue;
      const score = form.weight * SCORES[slips];
      return { score, slots, ...(form.missing === undefined ? {} : { missing: form.missing }) };
    }
  return undefined;
}

class Walk {
  #steps = 0;
  readonly #line: Line;
  readonly #around: Around;
  readonly #slips: Slips;

  constructor(line: Line, around: Around, slips: Slips) {
    this.#line = line;
    this.#around = around;
    this.#slips = slips;
  }

  walk(nodes: readonly Node[], at: number, slots: ReflexMatch['slots']): ReflexMatch['slots'] | undefined {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) return undefined;
    const [node, ...rest] = nodes;
    if (node === undefined) return this.#skip(at).at(-1) === this.#line.tokens.length ? slots : undefined;
    if (node.type === 'choice')
      return firstOf(node.ways, (way) => this.walk(way.length === 0 ? rest : [...way, ...rest], at, slots));
    return firstOf(this.#skip(at), (place) =>
      node.type === 'word'
        ? this.#isWord(place, node.word)
          ? this.walk(rest, place + 1, slots)
          : undefined
        : firstOf(readSlot(node.kind, this.#line, place, this.#around), ({ end, value, quoted, loose }) =>
            this.walk(rest, end, {
              ...slots,
              [node.name]: value,
              ...(quoted === true ? { [`${node.name}.quoted`]: 'yes' } : {}),
              ...(loose === true ? { [`${node.name}.loose`]: 'yes' } : {}),
            }),
          ),
    );
  }

  /** Where the next part may begin: here, or after words without meaning. A line that begins with `the` begins with no verb. */
  #skip(at: number): readonly number[] {
    const places = [at];
    for (let token = this.#line.tokens[at]; token !== undefined; token = this.#line.tokens[places.at(-1) ?? at]) {
      const isFiller =
        token.kind === 'mark'
          ? /^[,:;.]+$/.test(token.word)
          : token.kind === 'word' && FILLERS.has(token.word) && (at > 0 || !DETERMINERS.has(token.word));
      if (!isFiller) break;
      places.push((places.at(-1) ?? at) + 1);
    }
    return places;
  }

  #isWord(at: number, word: string): boolean {
    const token = this.#line.tokens[at];
    if (token?.kind !== 'word') return false;
    if (token.word === word) return true;
    if (this.#slips === 'none' || COMMON.has(token.word)) return false;
    const slip = slipOf(token.word, word);
    return slip === 'swapped' || slip === this.#slips;
  }
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `(a|b)`, `[optional]`, `{slot:kind}`, then settings: `@0.5` asks instead of acting, `!slot` is missing, `=slot:value` fills one. */
function parseForm(source: string): Form {
  const parts = source.match(/\{\w+:\w+\}|[[\]()|]|[^\s[\]()|{}]+/g) ?? [];
  const settings = parts.filter((part) => /^(?:@\d|![a-z]|=[a-z])/.test(part));
  const cursor = { parts: parts.filter((part) => !settings.includes(part)), at: 0, source };
  const nodes = sequence(cursor);
  if (cursor.at < cursor.parts.length || nodes.length === 0) throw broken(source);
  const missing = settings.find((part) => part.startsWith('!'))?.slice(1);
  const preset = settings.filter((part) => part.startsWith('=')).map((part) => part.slice(1).split(':'));
  return {
    nodes,
    weight: Number(settings.find((part) => part.startsWith('@'))?.slice(1) ?? 1),
    ...(missing === undefined ? {} : { missing }),
    preset: Object.fromEntries(preset.map(([name, value]) => [name, value ?? ''])),
  };
}

interface Cursor {
  readonly parts: readonly string[];
  readonly source: string;
  at: number;
}

function sequence(cursor: Cursor): readonly Node[] {
  const nodes: Node[] = [];
  for (
    let part = cursor.parts[cursor.at];
    part !== undefined && !/^[\])|]$/.test(part);
    part = cursor.parts[cursor.at]
  ) {
    cursor.at += 1;
    nodes.push(nodeOf(part, cursor));
  }
  return nodes;
}

function nodeOf(part: string, cursor: Cursor): Node {
  const slot = /^\{(\w+):(\w+)\}$/.exec(part);
  if (slot) return { type: 'slot', name: slot[1] ?? '', kind: slot[2] ?? '' };
  if (part !== '(' && part !== '[') return { type: 'word', word: part.toLowerCase() };
  const ways = [sequence(cursor)];
  while (cursor.parts[cursor.at] === '|') {
    cursor.at += 1;
    ways.push(sequence(cursor));
  }
  if (cursor.parts[cursor.at] !== (part === '(' ? ')' : ']')) throw broken(cursor.source);
  cursor.at += 1;
  // `search for` before `search`: the words of a form are never left to its slots.
  ways.sort((left, right) => right.length - left.length);
  return { type: 'choice', ways: part === '[' ? [...ways, []] : ways };
}

function broken(source: string): TalariaError {
  return new TalariaError(`The form is not well written: ${source}`, { code: 'reflex-form-invalid' });
}
