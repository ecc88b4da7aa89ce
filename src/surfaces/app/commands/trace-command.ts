// Owns `trace`: every span of a session, as a tree of turns, steps and tools. Knows no recorder.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { Span } from '#core/agent/session-store.ts';
import { findSession } from '../find-session.ts';
import { type CommandDeps, line } from './command-deps.ts';

export function traceCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'trace',
    summary: 'Show each model call and tool of a session: time, cost',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['session'],
    input: z.object({ session: z.string().default('last').describe('Session id, its beginning, or `last`') }),
    examples: ['talaria trace', 'talaria trace 20260115_120000_ab12cd'],
    async *run({ session }): AsyncGenerator<CommandOutput> {
      const { store } = await deps.app();
      const found = await findSession(store, session);
      if (!found.ok) {
        yield refused(found.reason, found.detail);
        return;
      }
      const spans = await store.spans(found.value.id);
      yield line(`session ${found.value.id}`);
      yield {
        type: 'table',
        columns: ['turn', 'what', 'start', 'ms', 'tokens', 'cost', 'purpose', 'status'],
        rows: rowsOf(spans),
      };
      yield { type: 'data', value: { session: found.value.id, spans: spans as unknown as JsonValue } };
    },
  });
}

function rowsOf(spans: readonly Span[]): readonly (readonly string[])[] {
  const depths = new Map<string, number>();
  return [...spans]
    .sort((a, b) => a.startedAt - b.startedAt)
    .map((span) => {
      const depth = span.parentId === undefined ? 0 : (depths.get(span.parentId) ?? 0) + 1;
      depths.set(span.id, depth);
      const tokens = span.usage
        ? `${span.usage.inputTokens} in (${span.usage.cachedTokens} cached), ${span.usage.outputTokens} out`
        : '';
      return [
        String(span.turn),
        `${'  '.repeat(depth)}${labelOf(span)}`,
        isoTime(span.startedAt),
        String(Math.round(span.ms)),
        tokens,
        span.cost === undefined ? '' : dollars(span.cost),
        span.purpose ?? '',
        span.detail ? `${span.status}: ${span.detail}` : span.status,
      ];
    });
}

/** The name of a turn or a step already says what it is. */
function labelOf({ kind, name }: Span): string {
  return name.startsWith(kind) ? name : `${kind} ${name}`;
}

/** `unknown` for a price that is not in the table, never zero. */
export function dollars(cost: number | null): string {
  return cost === null ? 'unknown' : `$${cost.toFixed(cost > 0 && cost < 0.01 ? 6 : 4)}`;
}
