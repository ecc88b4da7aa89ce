// Owns what given turns cost: sums over the `usage` rows of their sessions. Knows no price and no skill.
// Invariant: only what the turn itself took counts; reviews and other work of its own that name the same turn do not.
import type { Database } from '#base/database/connection.ts';

export interface TurnCost {
  /** Turns of which a call is known. */
  readonly turns: number;
  readonly calls: number;
  /** Input and output. */
  readonly tokens: number;
  /** US$ of the calls whose price is known. */
  readonly cost: number;
  readonly unpriced: number;
}

export const NO_TURN_COST: TurnCost = { turns: 0, calls: 0, tokens: 0, cost: 0, unpriced: 0 };

/** Turns in one question to the database. */
const BATCH = 500;

/** Turns of sessions that are gone are left out. */
export function costOfTurns(
  database: Database,
  turns: Iterable<{ readonly sessionId: string; readonly turn: number }>,
): TurnCost {
  let sum = NO_TURN_COST;
  let batch: (readonly [string, number])[] = [];
  for (const { sessionId, turn } of turns) {
    batch.push([sessionId, turn]);
    if (batch.length < BATCH) continue;
    sum = added(sum, costOfBatch(database, batch));
    batch = [];
  }
  return added(sum, costOfBatch(database, batch));
}

function costOfBatch(database: Database, batch: readonly (readonly [string, number])[]): TurnCost {
  if (batch.length === 0) return NO_TURN_COST;
  const row = database.get<{ [Key in keyof TurnCost]: number | null }>(
    `SELECT count(DISTINCT asked.key) AS turns, count(*) AS calls, sum(input_tokens + output_tokens) AS tokens,
       sum(cost) AS cost, sum(cost IS NULL) AS unpriced
     FROM json_each(?) AS asked
     JOIN sessions ON sessions.id = json_extract(asked.value, '$[0]')
     JOIN usage ON usage.session = sessions.key AND usage.turn = json_extract(asked.value, '$[1]')
     WHERE usage.purpose IN ('answer', 'compress', 'recall')`,
    JSON.stringify(batch),
  );
  return {
    turns: row?.turns ?? 0,
    calls: row?.calls ?? 0,
    tokens: row?.tokens ?? 0,
    cost: row?.cost ?? 0,
    unpriced: row?.unpriced ?? 0,
  };
}

function added(a: TurnCost, b: TurnCost): TurnCost {
  return {
    turns: a.turns + b.turns,
    calls: a.calls + b.calls,
    tokens: a.tokens + b.tokens,
    cost: a.cost + b.cost,
    unpriced: a.unpriced + b.unpriced,
  };
}
