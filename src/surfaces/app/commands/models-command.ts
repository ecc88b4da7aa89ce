// Owns `models`: what answers now and what could. Knows no client.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { type CommandDeps, line } from './command-deps.ts';

export function modelsCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'models',
    summary: 'Show which model answers and why, and what else is there',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const model = app.model();
      const others = app.models();
      yield line(`${model.id} (${model.tier}): ${model.reason}`);
      yield {
        type: 'table',
        columns: ['model', 'tier', 'window', 'why'],
        rows: others.map((other) => [other.id, other.tier, String(other.contextWindow), other.reason]),
      };
      yield { type: 'data', value: { model, models: others } as unknown as JsonValue };
    },
  });
}
