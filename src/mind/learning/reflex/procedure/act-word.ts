// Owns the one word for what a command does: `build` for `sh build.sh` and for `npm run build`, none for looking around. Pure.
// Knows no shell. Invariant: the word is a part of the command, in lower case.

import { textArgument } from '../../counters/done-calls.ts';
import type { CallStep } from './step.ts';

const LOOKS =
  /^(?:cat|ls|ll|wc|head|tail|less|more|grep|rg|find|fd|echo|pwd|stat|file|du|df|cksum|sha\d*sum|md5sum|which|env|date|tree|diff|sleep|cd|true|test|printf)$/;
/** Programs that run another one, or a file. */
const RUNNERS =
  /^(?:sudo|doas|time|nohup|env|npx|bunx|sh|bash|zsh|dash|node|deno|bun|python3?|ruby|perl|php|uv|poetry|pipenv|bundle|exec)$/;
/** Programs whose first word says what they do. */
const MANY =
  /^(?:npm|pnpm|yarn|make|just|task|rake|git|gh|glab|docker|podman|kubectl|helm|cargo|go|dotnet|gradle|gradlew|mvn|terraform|tofu|pulumi|ansible|systemctl|apt|apt-get|brew|pip3?|gem|composer|mix|aws|gcloud|az|fly|vercel|netlify|wrangler)$/;

/** Empty when the step only looks. */
export function actWord({ tool, arguments: given }: CallStep): string {
  if (tool === 'write_file' || tool === 'patch') return stem(textArgument(given, 'path'));
  const words = textArgument(given, 'command')
    .trim()
    .split(/\s+/)
    .filter((word) => !/^[A-Z_]+=/.test(word));
  return wordOf(words);
}

function wordOf([head = '', ...rest]: readonly string[]): string {
  const program = stem(head);
  const next = rest.find((word) => !word.startsWith('-')) ?? '';
  if (LOOKS.test(program)) return '';
  if (RUNNERS.test(program) && next !== '') return wordOf(rest.slice(rest.indexOf(next)));
  if (!MANY.test(program) || next === '') return program;
  const after = rest.slice(rest.indexOf(next) + 1).find((word) => !word.startsWith('-'));
  return stem(next === 'run' && after !== undefined ? after : next);
}

function stem(word: string): string {
  const name = word.replace(/["'`]/g, '').split('/').at(-1) ?? '';
  return name.toLowerCase().replace(/\.[a-z0-9]{1,5}$/, '');
}
