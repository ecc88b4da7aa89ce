// Owns `tools`: what a session is shown, and what it is not, with the reason. Knows no tool.
import { z } from 'zod';
import { estimateTokens } from '#base/text.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { type CommandDeps, line } from './command-deps.ts';

export function toolsCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'tools',
    summary: 'List the tools a session is shown, and why others are not',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const { tools, schemas, unavailable } = (await deps.app()).tools();
      const tokens = new Map(schemas.map((schema) => [schema.name, estimateTokens(JSON.stringify(schema))]));
      yield {
        type: 'table',
        columns: ['tool', 'toolset', 'effect', 'tokens', 'what it does'],
        rows: tools.map((tool) => [
          tool.name,
          tool.toolset,
          tool.effect,
          `~${tokens.get(tool.name) ?? 0}`,
          tool.description.split('\n')[0] ?? '',
        ]),
      };
      for (const { name, reason } of unavailable) yield line(`not shown: ${name}: ${reason}`);
      yield {
        type: 'data',
        value: {
          tools: tools.map(({ name, toolset, effect, description }) => ({ name, toolset, effect, description })),
          unavailable: unavailable.map(({ name, reason }) => ({ name, reason })),
        },
      };
    },
  });
}
