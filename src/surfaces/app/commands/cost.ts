// Owns `cost`: tokens and money by purpose and model, by day, and what learning may take (design 7: learning has a ledger). Knows no price.
import { z } from 'zod';
import { type Clock, localDate, localDay, localMidnight } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand, line, refused } from '#core/agent/command-spec.ts';
import type { CostFilter, CostRow, SessionStore } from '#core/agent/session-store.ts';
import type { Usage } from '#core/model/model-client.ts';
import type { LearningReport } from '#mind/learning/learning.ts';
import { dollars } from '#mind/sessions/commands.ts';
import { findSession } from '#mind/sessions/find-session.ts';
import type { App } from '../app.ts';
import type { CommandDeps } from './command-deps.ts';

const DAY_MS = 86_400_000;
/** Days that stand in the table when none are named. */
const SHOWN_DAYS = 7;
const LONGEST_DAYS = 365;

export function costCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'cost',
    summary: 'Show tokens and money by purpose, model and day',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({
      session: z.string().optional().describe('Only this session: id, its beginning, or `last`'),
      days: z.coerce.number().positive().optional().describe('Only the last so many days'),
    }),
    examples: ['talaria cost', 'talaria cost --days 7', 'talaria cost --session last'],
    async *run({ session, days }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      if (session === undefined) {
        yield* costsOfAll(app, deps.clock, days);
        return;
      }
      const found = await findSession(app.doors.sessions, session);
      if (!found.ok) {
        yield refused(found.reason, found.detail);
        return;
      }
      const { rows, ...sums } = await read(app.doors.sessions, {
        sessionId: found.value.id,
        ...sinceOf(deps.clock, days),
      });
      yield purposeTable(rows);
      yield totalLine(sums);
      yield { type: 'data', value: { rows, ...sums } as unknown as JsonValue };
    },
  });
}

async function* costsOfAll(app: App, clock: Clock, days: number | undefined): AsyncGenerator<CommandOutput> {
  const { rows, ...sums } = await read(app.doors.sessions, sinceOf(clock, days));
  yield purposeTable(rows);
  const byDay = await daysOf(app.doors.sessions, clock, Math.min(LONGEST_DAYS, Math.ceil(days ?? SHOWN_DAYS)));
  if (byDay.length > 0) yield dayTable(byDay);
  yield totalLine(sums);
  const learning = await (await app.doors.learning.load()).report();
  for (const text of learningLines(learning)) yield line(text);
  yield { type: 'data', value: { rows, ...sums, days: byDay, learning } as unknown as JsonValue };
}

function sinceOf(clock: Clock, days: number | undefined): CostFilter {
  return days === undefined ? {} : { since: clock.now() - days * DAY_MS };
}

async function read(store: SessionStore, filter: CostFilter) {
  const rows = await store.costs(filter);
  const total = rows.reduce((sum, row) => sum + row.cost, 0);
  const unpriced = rows.reduce((sum, row) => sum + row.unpriced, 0);
  return { rows, total, unpriced };
}

function totalLine({ total, unpriced }: { readonly total: number; readonly unpriced: number }): CommandOutput {
  return line(`total ${dollars(total)}${unpriced > 0 ? `, and ${unpriced} calls whose price is unknown` : ''}`);
}

interface DayCosts {
  /** `YYYY-MM-DD`, local time. */
  readonly day: string;
  readonly rows: readonly CostRow[];
}

/** Newest first; days without a call are left out. */
async function daysOf(store: SessionStore, clock: Clock, count: number): Promise<readonly DayCosts[]> {
  const days: DayCosts[] = [];
  let until = clock.now() + 1;
  for (let at = 0; at < count; at++) {
    const { year, month, day } = localDate(until - 1);
    const since = localMidnight(year, month, day);
    const rows = await store.costs({ since, until });
    if (rows.length > 0) days.push({ day: localDay(since), rows });
    until = since;
  }
  return days;
}

function purposeTable(rows: readonly CostRow[]): CommandOutput {
  return {
    type: 'table',
    columns: ['purpose', 'model', 'calls', 'input', 'cached', 'output', 'cost'],
    rows: rows.map((row) => [row.purpose, row.model, ...figures(row, row.usage)]),
  };
}

function dayTable(days: readonly DayCosts[]): CommandOutput {
  return {
    type: 'table',
    columns: ['day', 'purpose', 'model', 'calls', 'input', 'cached', 'output', 'cost'],
    rows: days.flatMap(({ day, rows }) => rows.map((row) => [day, row.purpose, row.model, ...figures(row, row.usage)])),
  };
}

function figures({ calls, cost, unpriced }: CostRow, usage: Usage): readonly string[] {
  const money = unpriced === calls ? 'unknown' : dollars(cost);
  return [calls, usage.inputTokens, usage.cachedTokens, usage.outputTokens].map(String).concat(money);
}

function learningLines({ budget, yield: brought, intervals, factor, reviews }: LearningReport): readonly string[] {
  const { hour, day } = budget;
  const rate =
    brought.perThousand === undefined ? '' : `, ${brought.perThousand.toFixed(2)} per 1,000 tokens of learning`;
  const stretched = factor > 1 ? ` (${factor} times longer, since nothing was worth keeping)` : '';
  return [
    `learning: ${hour.learning} of ${hour.allowed} tokens in the last hour, ${day.learning} of ${day.allowed} in the last day`,
    `kept by reviews in the last 7 days: ${brought.kept}${rate}`,
    `reviews: ${reviews.finished} done, ${reviews.kept} kept, ${reviews.due} due; the next after ${intervals.memory} turns or ${intervals.skills} steps with tools${stretched}`,
  ];
}
