// Owns the two lists of skill names that a run may, or may not, write (curator notes 8.1), as they are typed. Pure.
// Invariant: an empty pattern (an unset variable of the shell) is a wrong use; dropped, it would open the allowlist to every skill.
import { z } from 'zod';
import { type Failure, wrongUse } from '#core/agent/command-failure.ts';

const pattern = z.array(z.string()).default([]);

export const patternFlags = {
  allowAutoApplySkill: pattern.describe('Write only skills whose name fits; may be given again'),
  blockAutoApplySkill: pattern.describe('Never write skills whose name fits; may be given again'),
} as const;

interface Patterns {
  readonly allowAutoApplySkill: readonly string[];
  readonly blockAutoApplySkill: readonly string[];
}

/** Absent: all of them say something. */
export function emptyPattern(asked: Patterns): Failure | undefined {
  const lists = {
    '--allow-auto-apply-skill': asked.allowAutoApplySkill,
    '--block-auto-apply-skill': asked.blockAutoApplySkill,
  };
  for (const [flag, list] of Object.entries(lists)) {
    if (list.some((one) => one.trim() === ''))
      return wrongUse(
        'empty-pattern',
        `${flag}: the pattern is empty`,
        `Name a skill or a pattern, or leave ${flag} out.`,
      );
  }
  return undefined;
}
