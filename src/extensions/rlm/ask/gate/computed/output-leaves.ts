// Owns which labels of an output belong to which of its numbers: keys on the way to it, and texts beside it. Knows no sentence.
// Invariant: total, bounded in depth and in leaves.
import { type JsonValue, parseJson } from '#base/json.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { type ReadWord, readWords } from '../quote/read-words.ts';

export interface OutputLeaf {
  /** Key of the number. */
  readonly key: string;
  /** Stems of the words that belong to it. */
  readonly labels: ReadonlySet<string>;
}

const DEEPEST = 20;
const MOST = 2_000;

export function outputLeaves(output: string): readonly OutputLeaf[] {
  const parsed = parseJson(output);
  const leaves: OutputLeaf[] = [];
  if (parsed.ok) addLeaves(parsed.value, [], leaves);
  return leaves;
}

export function labelOf({ lower }: ReadWord): string {
  return stemWord(lower);
}

function addLeaves(value: JsonValue | undefined, path: readonly string[], leaves: OutputLeaf[]): void {
  if (path.length > DEEPEST || leaves.length >= MOST) return;
  if (typeof value === 'object' && value !== null) {
    const beside = Object.values(value).filter((one) => typeof one === 'string');
    const keyed = Array.isArray(value) ? value.map((item) => ['', item] as const) : Object.entries(value);
    for (const [key, item] of keyed) addLeaves(item, [...path, key, ...beside], leaves);
  } else leaves.push(...numbersOf(value, path));
}

function numbersOf(value: JsonValue | undefined, path: readonly string[]): readonly OutputLeaf[] {
  if (typeof value !== 'number' && typeof value !== 'string') return [];
  const labels = new Set(path.flatMap((one) => readWords(one)).map(labelOf));
  return readWords(String(value)).flatMap(({ kind, key }) => (kind === 'number' ? [{ key, labels }] : []));
}
