// Owns what a request says of the `memory` tool; its work is loaded when it is called.
import { z } from 'zod';
import type { ToolCard } from '#core/agent/tool.ts';
import { evidenceArgument } from '#mind/evidence/citations.ts';

/** Of an operation: read by `operationsOf`, as the single change's own arguments below. */
const step = z.looseObject({});
const input = z.looseObject({
  target: z.enum(['memory', 'user']).default('memory'),
  action: z.enum(['add', 'replace', 'remove']).optional(),
  content: z.string().optional(),
  old_text: z.string().describe('unique piece of the entry').optional(),
  operations: z.array(step).optional().meta({ hidden: true }),
  evidence: evidenceArgument,
});

export type MemoryInput = z.infer<typeof input>;

/** What belongs into which target, and what into none, stands in the guidance of the prompt. */
export const memoryCard: ToolCard<MemoryInput> = {
  name: 'memory',
  description: 'Keep facts: 2,200 characters in memory, 1,375 in user.',
  input,
  toolset: 'memory',
  effect: 'write',
};
