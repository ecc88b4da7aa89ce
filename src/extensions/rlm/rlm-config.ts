// Owns the section `rlm` of config.yaml: who answers inner calls, how long they may take, and the tool `recursive_read`. Data only.
// Invariant: without a section the models that are set up answer, and no program is started.

import { z } from 'zod';
import type { Mind } from '#core/agent/room.ts';

const seconds = z.number().positive().max(86_400);

/** Name of a family in flags, traces and memory. */
const familyName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'a family is named with small letters, digits, _ and -')
  .refine((name) => name !== 'reflex', 'reflex is the family that answers without a model');

const family = z
  .object({
    model: z
      .string()
      .regex(/^[^/\s]+\/\S+$/, 'must be PROVIDER/MODEL')
      .optional()
      .describe('Model that answers, `provider/model`.'),
    command: z
      .array(z.string())
      .min(1, 'names a program')
      .refine(([program = '']) => program.trim() !== '', 'begins with the name of a program')
      .optional()
      .describe(
        'Instead of a model: program and arguments; `{prompt}` and `{system}` are filled in, no shell reads it.',
      ),
    env: z
      .array(z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable'))
      .default([])
      .describe('Variables that the program gets beside PATH, HOME and LANG.'),
    input: z
      .enum(['json', 'prompt'])
      .default('json')
      .describe('What stands on its standard input: one JSON object, or system prompt and prompt as they are.'),
  })
  .refine(({ model, command }) => (model === undefined) !== (command === undefined), {
    error: 'has either a model or a command',
  });

export type FamilyConfig = z.infer<typeof family>;

export const rlmSchema = z.object({
  families: z
    .record(familyName, family)
    .default({})
    .describe('Who may answer inner calls, by name; `default` stands in for the models of the tiers.'),
  call_timeout_seconds: seconds.default(240).describe('Seconds that one inner call may take.'),
  recursive_read: z
    .object({
      enabled: z
        .boolean()
        .default(true)
        .describe('Give the toolset `rlm` its tool recursive_read; sessions have it when `toolsets` names `rlm`.'),
      max_calls: z.int().min(2).max(1_000).default(40).describe('Inner calls of one use.'),
      timeout_seconds: seconds.default(600).describe('Seconds that one use may take.'),
    })
    .prefault({})
    .describe('The tool that answers a question about long material with citations.'),
});

export type RlmConfig = z.infer<typeof rlmSchema>;

/** Throws TalariaError `config-invalid` naming line and key. */
export function readRlmConfig(mind: Pick<Mind, 'config'>): RlmConfig {
  return mind.config('rlm', rlmSchema);
}
