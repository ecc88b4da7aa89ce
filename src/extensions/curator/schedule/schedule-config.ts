// Owns the settings of the unattended run inside Talaria, the section `curator` of config.yaml (curator notes 8.1 and 15). Data only.
// Invariant: without a section nothing runs, and nothing is written without `write: true`.
import { z } from 'zod';
import type { JsonObject } from '#base/json.ts';

/** An empty one would open a list of the only skills to all of them. */
const patterns = z.array(z.string().refine((text) => text.trim() !== '', 'a pattern must not be empty')).default([]);

export const scheduleSchema = z.object({
  schedule: z
    .enum(['off', 'hourly', 'daily', 'weekly'])
    .default('off')
    .describe(
      'How often Talaria looks through the evidence by itself while it runs; for machines with no timer of their own.',
    ),
  write: z
    .boolean()
    .default(false)
    .describe('Let these runs write skills while nobody looks on; otherwise they only plan.'),
  days: z.int().min(1).max(3650).default(7).describe('Days of evidence that a run looks at.'),
  max_skills: z.int().min(1).max(25).default(3).describe('Skills that one run may write.'),
  min_evidence: z.int().min(1).max(1000).default(2).describe('Events that a skill needs to be considered.'),
  variants: z.int().min(1).max(4).default(1).describe('Forms of a note that compete.'),
  semantic_candidates: z.boolean().default(false).describe('Order skills by meaning; see `curator setup-semantic`.'),
  rerank_candidates: z.boolean().default(false).describe('Order them by a second model too.'),
  protect_core_skills: z.boolean().default(true).describe('Leave skills with names of core skills alone.'),
  allow_auto_apply_skill: patterns.describe('Patterns of the only skills that may be written; none: all that pass.'),
  block_auto_apply_skill: patterns.describe('Patterns of skills that are never written.'),
  verify_command: z
    .string()
    .min(1)
    .optional()
    .describe('Shell command that must agree after each write; default: our own check of the skill.'),
  pre_verify_command: z.string().min(1).optional().describe('Cheap shell command before it.'),
  require_restore_drill: z
    .boolean()
    .default(false)
    .describe('Write only after a passed restore drill of the last write.'),
});

export type ScheduleConfig = z.infer<typeof scheduleSchema>;

/** Flags as on the command line of `curator auto-run`. `verifyCommand` is the one that stands in when none is named. */
export function autoRunFlags(config: ScheduleConfig, verifyCommand: string): JsonObject {
  const { schedule: _, write, verify_command, pre_verify_command, ...plain } = config;
  return {
    ...plain,
    apply_low_risk: write,
    approve_auto_apply: write,
    verify_command: verify_command ?? verifyCommand,
    ...(pre_verify_command === undefined ? {} : { pre_verify_command }),
  };
}
