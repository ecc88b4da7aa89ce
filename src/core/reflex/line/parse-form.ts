// Owns the reading of forms: the small notation in which rules say what lines look like.
// Knows no word. Invariant: a form that is not well written throws when it is first used, naming the form.
import { TalariaError } from '#base/errors.ts';

export type FormNode =
  | { readonly type: 'word'; readonly word: string }
  | { readonly type: 'slot'; readonly name: string; readonly kind: string }
  /** One of several sequences; an empty one makes it optional. */
  | { readonly type: 'choice'; readonly ways: readonly (readonly FormNode[])[] };

export interface Form {
  readonly nodes: readonly FormNode[];
  /** Multiplies the score of a fit. */
  readonly weight: number;
  readonly missing?: string;
  readonly preset: Readonly<Record<string, string>>;
  /** Words that it can begin with; undefined when it can begin with a slot. */
  readonly firstWords: ReadonlySet<string> | undefined;
}

type Classes = Readonly<Record<string, string>>;

interface Cursor {
  readonly source: string;
  readonly parts: readonly string[];
  readonly classes: Classes;
  at: number;
}

export function parseForm(source: string, classes: Classes): Form {
  const parts = source.match(/<[\w|-]+>|\{\w+:\w+\}|[[\]()|]|[@!=][^\s]+|[^\s[\]()|]+/g) ?? [];
  const settings = parts.filter((part) => /^(@\d|![a-z]|=[a-z])/.test(part));
  const cursor: Cursor = { source, parts: parts.filter((part) => !settings.includes(part)), classes, at: 0 };
  const nodes = sequence(cursor);
  if (cursor.at < cursor.parts.length || nodes.length === 0) throw broken(cursor);
  const missing = settings.find((part) => part.startsWith('!'))?.slice(1);
  const preset = settings.filter((part) => part.startsWith('=')).map((part) => part.slice(1).split(':'));
  return {
    nodes,
    weight: Number(settings.find((part) => part.startsWith('@'))?.slice(1) ?? 1),
    ...(missing === undefined ? {} : { missing }),
    preset: Object.fromEntries(preset.map(([name, value]) => [name, value ?? ''])),
    firstWords: firstWords(nodes),
  };
}

const firstOfNode = new WeakMap<FormNode, { readonly words: ReadonlySet<string> | undefined }>();

/** Words that a part of a form can begin with; undefined when it can begin with a slot or be left out. */
export function firstWordsOf(part: FormNode): ReadonlySet<string> | undefined {
  const known = firstOfNode.get(part) ?? {
    words: firstWords(part.type === 'choice' ? [{ ...part, ways: part.ways.filter((way) => way.length > 0) }] : [part]),
  };
  firstOfNode.set(part, known);
  return known.words;
}

function firstWords(nodes: readonly FormNode[]): ReadonlySet<string> | undefined {
  const words = new Set<string>();
  return collectFirst(nodes, words) ? undefined : words;
}

/** Adds the words that may come first; true when a slot, or nothing at all, may. */
function collectFirst(nodes: readonly FormNode[], words: Set<string>): boolean {
  for (const node of nodes) {
    if (node.type === 'slot') return true;
    if (node.type === 'word') {
      words.add(node.word);
      return false;
    }
    const open = node.ways.map((way) => collectFirst(way, words));
    if (!open.includes(true)) return false;
    if (node.ways.some((way) => way.length > 0 && beginsWithSlot(way))) return true;
  }
  return true;
}

function beginsWithSlot(way: readonly FormNode[]): boolean {
  const [first] = way;
  return first?.type === 'slot' || (first?.type === 'choice' && first.ways.some(beginsWithSlot));
}

function sequence(cursor: Cursor): readonly FormNode[] {
  const nodes: FormNode[] = [];
  for (
    let part = cursor.parts[cursor.at];
    part !== undefined && !/^[\])|]$/.test(part);
    part = cursor.parts[cursor.at]
  ) {
    cursor.at += 1;
    nodes.push(node(part, cursor));
  }
  return nodes;
}

function node(part: string, cursor: Cursor): FormNode {
  if (part === '[') return group(cursor, ']', [[]]);
  if (part === '(') return group(cursor, ')', []);
  if (part.startsWith('<')) return classNode(part.slice(1, -1), cursor);
  const slot = /^\{(\w+):(\w+)\}$/.exec(part);
  if (slot !== null) return { type: 'slot', name: slot[1] ?? '', kind: slot[2] ?? '' };
  return { type: 'word', word: part };
}

function group(cursor: Cursor, close: string, empty: readonly (readonly FormNode[])[]): FormNode {
  const ways = [sequence(cursor)];
  while (cursor.parts[cursor.at] === '|') {
    cursor.at += 1;
    ways.push(sequence(cursor));
  }
  if (cursor.parts[cursor.at] !== close) throw broken(cursor);
  cursor.at += 1;
  return { type: 'choice', ways: [...ways, ...empty] };
}

const classNodesKnown = new WeakMap<Classes, Map<string, FormNode>>();

/** `<a>`, or `<a|b>` for either; the same node each time, so that what stands where in a line is found once. */
function classNode(names: string, cursor: Cursor): FormNode {
  const known = classNodesKnown.get(cursor.classes) ?? new Map<string, FormNode>();
  classNodesKnown.set(cursor.classes, known);
  const made = known.get(names) ?? newClassNode(names, cursor);
  known.set(names, made);
  return made;
}

function newClassNode(names: string, cursor: Cursor): FormNode {
  const ways = names.split('|').map((name) => {
    const nodes = classNodes(name, cursor.classes);
    if (nodes === undefined) throw broken(cursor);
    return nodes;
  });
  return { type: 'choice', ways };
}

const parsedClasses = new WeakMap<Classes, Map<string, readonly FormNode[]>>();

function classNodes(name: string, classes: Classes): readonly FormNode[] | undefined {
  const known = parsedClasses.get(classes) ?? new Map<string, readonly FormNode[]>();
  parsedClasses.set(classes, known);
  const phrases = classes[name];
  if (phrases === undefined) return undefined;
  const nodes = known.get(name) ?? parseForm(`(${phrases})`, classes).nodes;
  known.set(name, nodes);
  return nodes;
}

function broken(cursor: Cursor): TalariaError {
  return new TalariaError(`A reflex form is not well written: ${cursor.source}`, { code: 'reflex-form-invalid' });
}
