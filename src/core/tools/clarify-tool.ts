// Owns the clarify tool: a question to the owner in the middle of a turn.
// Knows no surface: the Asker does. Invariant: where nobody can answer, the model is told so at once and goes on.
import { z } from 'zod';
import { ellipsize } from '#base/text.ts';
import { defineTool } from '#core/agent/tool.ts';
import { lenientInput } from './registry/lenient-input.ts';

const input = lenientInput({
  question: z.string().min(1),
  choices: z.array(z.string().min(1)).max(9).optional(),
});

type ClarifyInput = z.infer<typeof input>;

export function createClarifyTool() {
  return defineTool<ClarifyInput>({
    name: 'clarify',
    description: 'Ask the user when a decision is theirs.',
    input,
    toolset: 'clarify',
    effect: 'write',
    summary: ({ question }) => `ask: ${ellipsize(question, 100)}`,
    run: async ({ question, choices }, { asker }, signal) => {
      signal.throwIfAborted();
      const answer = await asker.ask({ question, choices: choices ?? [] }, signal);
      return answer.ok ? { text: `The user answered: ${answer.value}` } : { text: answer.detail, isError: true };
    },
  });
}
