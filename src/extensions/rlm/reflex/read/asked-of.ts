// Owns what a scaffold call or a baseline call asks, without the rules of the reply around it. Invariant: total.
import type { JsonObject } from '#base/json.ts';
import { textAt } from './read-fields.ts';

/** What is asked, without the rules of the reply around it. */
export function askedOf(input: JsonObject): string {
  const instruction = textAt(input, 'objective', 'instruction');
  const named = /(?:^|\n)Question: ([^\n]{1,2000})/.exec(instruction)?.[1] ?? '';
  const statement = textAt(input, 'ac_node', 'statement');
  return [named, statement, instruction].find((text) => text.trim() !== '') ?? '';
}
