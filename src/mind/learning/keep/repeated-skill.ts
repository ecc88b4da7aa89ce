// Owns knowing whether a new skill is one that is kept or offered already under another name: most of its commands stand there. Pure.
// Knows no ledger and no file; what its words mean is not read. Invariant: a skill without commands repeats nothing; a command that is
// short or common decides nothing alone.
import { splitFrontMatter } from '#base/text/front-matter.ts';

export interface SkillText {
  readonly name: string;
  /** Whole SKILL.md. */
  readonly text: string;
}

/** Share of the new skill's commands that stand in the other one. */
const MOST = 0.6;
/** So many must be shared, or all that the other one has. */
const FEWEST = 2;
/** Of one skill; no procedure is longer. */
const READ = 200;

/** The one that shares most; of two the first. */
export function findRepeated(draft: SkillText, others: readonly SkillText[]): string | undefined {
  const own = commandsOf(draft.text);
  let best: { readonly name: string; readonly shared: number } | undefined;
  for (const { name, text } of others) {
    const theirs = commandsOf(text);
    const shared = own.filter((command) => theirs.some((other) => isSame(command, other))).length;
    const isRepeat = shared > 0 && shared >= own.length * MOST && shared >= Math.min(FEWEST, theirs.length);
    if (isRepeat && shared > (best?.shared ?? 0)) best = { name, shared };
  }
  return best?.name;
}

type Command = readonly string[];

const PARTS = /^[ \t]*(```|~~~)[^\n]*\n([\s\S]*?)\n[ \t]*\1|`([^`\n]+)`/gm;
const WORDS = /"[^"]*"|'[^']*'|\S+/g;
const PLACEHOLDER = /\{[^{}]*\}|<[^<>]*>|\$\{?\w+\}?/;

/** Lines of code blocks and spans of code of two words at least, each once. */
function commandsOf(text: string): readonly Command[] {
  const found = new Map<string, Command>();
  for (const [, , block, span = ''] of splitFrontMatter(text).body.matchAll(PARTS))
    for (const line of (block ?? span).split('\n')) {
      const words = line.replace(/^\s*\$\s/, '').match(WORDS) ?? [];
      if (words.length > 1 && !line.trimStart().startsWith('#')) found.set(words.join(' '), words);
    }
  return [...found.values()].slice(0, READ);
}

/** The same program and words; a placeholder stands for any word, but not for the program. */
function isSame(command: Command, other: Command): boolean {
  if (command.length !== other.length || command[0] !== other[0]) return false;
  return command.every(
    (word, at) => word === other[at] || [word, other[at] ?? ''].some((one) => PLACEHOLDER.test(one)),
  );
}
