// Owns `demo` as a command. Knows the demo through demo.ts only.
import { z } from 'zod';
import { type AnyCommand, defineCommand } from '#core/agent/command-spec.ts';
import type { CommandDeps } from './command-deps.ts';

export function demoCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'demo',
    summary: 'Watch two processes act, remember and recall, in a home of their own',
    surfaces: ['cli'],
    input: z.object({}),
    async *run(_input, context) {
      const { runDemo } = await import('../demo.ts');
      const program = [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
      yield* runDemo({ environment: deps.environment, clock: deps.clock, program }, context.signal);
    },
  });
}
