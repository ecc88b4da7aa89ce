// Owns the guess whether two calls were after the same thing, and by which way a call went. Pure; knows no result.
// Invariant: two runs of one command are after the same thing.
import type { JsonObject, JsonValue } from '#base/json.ts';
import { contentStems } from '#base/text/content-stems.ts';
import { type DoneCall, textArgument } from './done-calls.ts';

/** Share of the smaller call's words that both must have. */
const SHARED = 0.5;
/** Programs that only run another one. */
const WRAPPERS = /^(?:sudo|doas|time|nohup|env|npx|pnpm exec|python3? -m|bash -c|sh -c|timeout \S+)\s+/;

export function sameGoal(first: DoneCall, second: DoneCall): boolean {
  if (first.call.name !== second.call.name) return false;
  const paths = [first, second].map(({ call }) => textArgument(call.arguments, 'path'));
  if (paths[0] !== '' && paths[0] === paths[1]) return true;
  const [a, b] = [wordsOf(first.call.arguments), wordsOf(second.call.arguments)];
  const shared = [...a].filter((word) => b.has(word)).length;
  const smaller = Math.min(a.size, b.size);
  return smaller === 0 ? wayOf(first) === wayOf(second) : shared / smaller >= SHARED;
}

/** The tool, and for a command its program: `terminal npm`, `read_file`. */
export function wayOf({ call }: DoneCall): string {
  const command = textArgument(call.arguments, 'command').trim().replace(WRAPPERS, '');
  const program = /^[^\s;&|]+/.exec(command)?.[0] ?? '';
  return `${call.name} ${program}`.trim();
}

function wordsOf(data: JsonObject): ReadonlySet<string> {
  return new Set(contentStems(Object.values(data).map(textOf).join(' ')));
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
