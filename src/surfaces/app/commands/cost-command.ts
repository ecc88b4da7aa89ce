// Owns `cost`: tokens and money by purpose and model (design 7: learning has a ledger). Knows no price.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { findSession } from '../find-session.ts';
import { type CommandDeps, line, refused } from './command-deps.ts';
import { dollars } from './trace-command.ts';

const DAY_MS = 86_400_000;

export function costCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'cost',
    summary: 'Show tokens and money by purpose and model',
    surfaces: ['cli', 'chat'],
    input: z.object({
      session: z.string().optional().describe('Only this session: id, its beginning, or `last`'),
      days: z.coerce.number().positive().optional().describe('Only the last so many days'),
    }),
    examples: ['talaria cost', 'talaria cost --days 7', 'talaria cost --session last'],
    async *run({ session, days }): AsyncGenerator<CommandOutput> {
      const { store } = await deps.app();
      const found = session === undefined ? undefined : await findSession(store, session);
      if (found && !found.ok) {
        yield refused(found.reason, found.detail);
        return;
      }
      const rows = await store.costs({
        ...(found ? { sessionId: found.value.id } : {}),
        ...(days === undefined ? {} : { since: deps.clock.now() - days * DAY_MS }),
      });
      yield {
        type: 'table',
        columns: ['purpose', 'model', 'calls', 'input', 'cached', 'output', 'cost'],
        rows: rows.map((row) => [
          row.purpose,
          row.model,
          String(row.calls),
          String(row.usage.inputTokens),
          String(row.usage.cachedTokens),
          String(row.usage.outputTokens),
          row.unpriced === row.calls ? 'unknown' : dollars(row.cost),
        ]),
      };
      const unpriced = rows.reduce((sum, row) => sum + row.unpriced, 0);
      const total = rows.reduce((sum, row) => sum + row.cost, 0);
      yield line(`total ${dollars(total)}${unpriced > 0 ? `, and ${unpriced} calls whose price is unknown` : ''}`);
      yield { type: 'data', value: { rows: rows as unknown as JsonValue, total, unpriced } };
    },
  });
}
