// Owns `demo` as a command. Knows the stories by their names only.
import { z } from 'zod';
import { type AnyCommand, defineCommand } from '#core/agent/command-spec.ts';
import type { CommandDeps } from './command-deps.ts';

export function demoCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'demo',
    summary: 'Watch it act, remember and recall, or learn a skill, in a home of its own',
    surfaces: ['cli'],
    positional: ['story'],
    input: z.object({
      story: z.enum(['recall', 'learning']).default('recall').describe('recall: two processes; learning: four'),
    }),
    examples: ['talaria demo', 'talaria demo learning'],
    async *run({ story }, context) {
      const program = [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
      const options = { environment: deps.environment, clock: deps.clock, program };
      if (story === 'learning') {
        const { runLearningDemo } = await import('../demo/learning-demo.ts');
        yield* runLearningDemo(options, context.signal);
        return;
      }
      const { runRecallDemo } = await import('../demo/recall-demo.ts');
      yield* runRecallDemo(options, context.signal);
    },
  });
}
