// Owns the reading of the language data: lists of phrases, and meanings with the phrases that stand for them.
import { type FormNode, parseForm } from './parse-form.ts';

/** `a | when you (get|have) time` → every phrase that it stands for. */
export function phrases(text: string): readonly string[] {
  const [choice] = parseForm(`(${text})`, {}).nodes;
  if (choice?.type !== 'choice') return [];
  return choice.ways.flatMap((way) => spell(way)).filter((phrase) => phrase !== '');
}

function spell(nodes: readonly FormNode[]): readonly string[] {
  return nodes.reduce<readonly string[]>(
    (heads, node) => {
      const tails =
        node.type === 'choice' ? node.ways.flatMap((way) => (way.length === 0 ? [''] : spell(way))) : [wordOf(node)];
      return heads.flatMap((head) => tails.map((tail) => `${head} ${tail}`.trim()));
    },
    [''],
  );
}

function wordOf(node: FormNode): string {
  return node.type === 'word' ? node.word : '';
}

/** Words separated by white space. */
export function wordList(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Without a prototype: no word that a person types finds anything but an entry. */
function dictionary(entries: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

/** Lines of `meaning = a | b` → `{ a: meaning, b: meaning }`. */
export function meanings(text: string): Readonly<Record<string, string>> {
  const lines = text.trim().split('\n');
  return dictionary(
    lines.flatMap((line) => {
      const [meaning = '', said = ''] = line.split(' = ');
      return said.split('|').map((phrase) => [phrase.trim(), meaning.trim()] as const);
    }),
  );
}
