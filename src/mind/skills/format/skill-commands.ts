// Owns whether a command stands in the text of a skill, and in which of its steps. Pure. Knows no shell: words are compared as written.
// Invariants: a managed block is no part of a skill; one bare word counts only where it is marked as code.
import { withoutBlock } from './managed-block.ts';

/** Where one command ends and the next begins, in one line that was run. */
const JOINTS = /\s*(?:&&|\|\||[;|\n])\s*/;
const FENCE = /^\s*(?:```|~~~)/;
const ITEM = /^\s*(\d{1,3})[.)]\s/;
const HEADING = /^#{1,6}\s+(.*\S)/;

/** `step N`, or the heading above; empty: it stands before any; undefined: it does not stand there. */
export function stepOf(text: string, command: string): string | undefined {
  const parts = [command, ...command.split(JOINTS)].map(folded).filter((part) => part !== '');
  let step = '';
  let fenced = false;
  for (const line of withoutBlock(text).split(/\r?\n/)) {
    if (FENCE.test(line)) fenced = !fenced;
    else if (!fenced) step = stepAt(line) ?? step;
    const plain = folded(line).replace(/^[$>] /, '');
    const codes = fenced ? [plain] : Array.from(line.matchAll(/`([^`]+)`/g), ([, code = '']) => folded(code));
    if (parts.some((part) => standsIn(part, plain, codes))) return step;
  }
  return undefined;
}

function stepAt(line: string): string | undefined {
  const number = ITEM.exec(line)?.[1];
  return number === undefined ? HEADING.exec(line)?.[1] : `step ${number}`;
}

/** Also with more arguments than the skill gives, and with something in place of `<what>` or `$WHAT`. */
function standsIn(part: string, line: string, codes: readonly string[]): boolean {
  if (codes.includes(part)) return true;
  const around = part.includes(' ') ? ` ${line} `.split(part) : [];
  const isWhole = (after: string, at: number) =>
    at > 0 && /^[\s`"').,;:]/.test(after) && /[\s`"'(]$/.test(around[at - 1] ?? '');
  if (around.some(isWhole)) return true;
  const starts = codes.map((code) => code.replace(/ \S*[<{$[].*$/, ''));
  return starts.some((start) => start.includes(' ') && `${part} `.startsWith(`${start} `));
}

function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
