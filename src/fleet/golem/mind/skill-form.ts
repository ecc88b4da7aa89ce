// Owns the text of a golem's skill: when it is for, its steps, what to expect. Pure. Knows no store. Invariants: what is written is a portable agentskills.io skill without ids of ours in its body (C40); a step is
// the label of an action in back-ticks, one a line, and nothing else of a text is ever run.
import type { Result } from '#base/result.ts';
import { isStopStem, splitWords, stemWord } from '#base/text/words.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import { sectionOf } from '#mind/skills/format/skill-parts.ts';
import { skillLimits } from '#mind/skills/format/skill-text.ts';
import { type WriteSkillReason, writeSkill } from '#mind/skills/format/write-skill.ts';

/** What a skill of a golem says. */
export interface SkillDraft {
  /** Words that were there when it worked. */
  readonly triggers: readonly string[];
  /** Labels of actions, in order. */
  readonly steps: readonly string[];
  readonly tag: string;
  readonly expected: string;
  readonly pitfalls: readonly string[];
  /** Handles: `tick:12`. */
  readonly handles: readonly string[];
  /** Ids of the heuristics that it comes from. */
  readonly heuristics?: readonly string[];
  /** A description in a model's words. */
  readonly description?: string;
}

/** As many words as say when a skill is for. */
const MOST_TRIGGERS = 12;

/** Words of a text that say what it is about, in order, each once. */
export function tellingWords(text: string, most = MOST_TRIGGERS): readonly string[] {
  const seen = new Set<string>();
  const words: string[] = [];
  for (const word of splitWords(text)) {
    const stem = stemWord(word);
    if (words.length === most) break;
    if (isStopStem(stem) || seen.has(stem) || /^\d+$/.test(word) || word.length < 2) continue;
    seen.add(stem);
    words.push(word);
  }
  return words;
}

/** Whole SKILL.md. */
export function skillText(name: string, draft: SkillDraft, golem: string): Result<string, WriteSkillReason> {
  const { triggers, steps, tag, expected, pitfalls, heuristics = [] } = draft;
  const said = draft.description ?? `When ${tag} shows ${triggers.slice(0, 3).join(', ')}`;
  const body = [
    `# ${name}`,
    '',
    '## When to Use',
    oneLine(triggers.join(' ')),
    '',
    '## Procedure',
    ...steps.map((step, at) => `${at + 1}. \`${step}\``),
    '',
    '## Expected Outcome',
    oneLine(expected),
    '',
    '## Pitfalls',
    ...(pitfalls.length > 0 ? pitfalls : ['None seen so far.']).map((text) => `- ${oneLine(text)}`),
  ].join('\n');
  const description = ellipsize(oneLine(said), skillLimits.ownDescription);
  const metadata = { golem, tag, ...(heuristics.length > 0 ? { 'source-heuristics': heuristics.join(' ') } : {}) };
  return writeSkill({ name, description, body, metadata }, skillLimits.ownDescription);
}

/** The same text with other parts: what a dream makes of a skill. Everything else of it stays. */
export function withParts(
  text: string,
  parts: { readonly triggers?: readonly string[]; readonly steps?: readonly string[]; readonly pitfall?: string },
): string {
  const { triggers, steps, pitfall } = parts;
  let changed = text;
  if (triggers) changed = withSection(changed, 'When to Use', oneLine(triggers.join(' ')));
  if (steps) changed = withSection(changed, 'Procedure', steps.map((step, at) => `${at + 1}. \`${step}\``).join('\n'));
  if (pitfall === undefined) return changed;
  const known = sectionOf(changed, 'Pitfalls').replace(/^- None seen so far\.\n?/, '');
  return withSection(changed, 'Pitfalls', [known, `- ${oneLine(pitfall)}`].filter(Boolean).join('\n'));
}

function withSection(text: string, title: string, content: string): string {
  const before = sectionOf(text, title);
  const head = `## ${title}\n`;
  if (!text.includes(head)) return `${text.trimEnd()}\n\n${head}${content}\n`;
  return text.replace(`${head}${before}`, () => `${head}${content}`);
}
