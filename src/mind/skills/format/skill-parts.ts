// Owns what can be read of a procedure without understanding it: when it is for, its steps, how near two of them are, a name for it. Pure.
// Knows no store. Invariant: a step is the label in back-ticks that begins a line of a numbered procedure, and nothing else of a text is one.
import { contentStems } from '#base/text/words.ts';
import { skillLimits } from './skill-text.ts';

/** Share of the trigger words that the text holds, 0 to 1; 0 without trigger words. */
export function relevance(triggers: string | readonly string[], text: string): number {
  const wanted = new Set(contentStems(typeof triggers === 'string' ? triggers : triggers.join(' ')));
  if (wanted.size === 0) return 0;
  const held = new Set(contentStems(text));
  return [...wanted].filter((stem) => held.has(stem)).length / wanted.size;
}

/** What stands under a heading of the second level; empty: there is none. */
export function sectionOf(body: string, title: string): string {
  const lines = body.split('\n');
  const from = lines.findIndex((line) => line.trim().toLowerCase() === `## ${title.toLowerCase()}`);
  if (from < 0) return '';
  const rest = lines.slice(from + 1);
  const to = rest.findIndex((line) => /^##? /.test(line));
  return (to < 0 ? rest : rest.slice(0, to)).join('\n').trim();
}

/** The line that says when it is for. */
export function triggersOf(body: string): string {
  return sectionOf(body, 'When to Use').split('\n')[0] ?? '';
}

/** Labels in back-ticks that begin the lines of a numbered procedure. */
export function stepsOf(body: string): readonly string[] {
  const lines = sectionOf(body, 'Procedure').split('\n');
  return lines.flatMap((line) => /^\d+\. `([^`]+)`/.exec(line)?.[1] ?? []);
}

/** Longest common subsequence as a share of the longer one: 1 the same steps, 0 none in common. */
export function stepsInCommon(one: readonly string[], other: readonly string[]): number {
  const longer = Math.max(one.length, other.length);
  if (longer === 0) return 0;
  let above = new Array<number>(other.length + 1).fill(0);
  for (const step of one) {
    const row = [0];
    for (const [at, against] of other.entries())
      row.push(step === against ? (above[at] ?? 0) + 1 : Math.max(above[at + 1] ?? 0, row[at] ?? 0));
    above = row;
  }
  return (above.at(-1) ?? 0) / longer;
}

/** `disk-full-inode`: the tag and its most telling words. */
export function skillName(
  { tag, triggers }: { readonly tag: string; readonly triggers: readonly string[] },
  isTaken: (name: string) => boolean,
): string {
  const words = [tag, ...triggers.slice(0, 3)].flatMap((word) => word.toLowerCase().match(/[a-z0-9]+/g) ?? []);
  const joined = [...new Set(words)].join('-');
  const base = joined.slice(0, skillLimits.name - 4).replace(/-+$/, '') || 'skill';
  for (let count = 2, name = base; ; count += 1) {
    if (!isTaken(name)) return name;
    name = `${base}-${count}`;
  }
}
