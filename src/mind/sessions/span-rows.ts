// Owns what a turn cost and did: rows of `spans` for `talaria trace`, rows of `usage` for `talaria cost`, and sums for given turns. Knows no price
// and no skill. Invariants: every step with usage has one usage row, and usage stays when its spans are pruned; what a turn itself took counts for
// it, not reviews and other work that name the same turn.
import type { Database } from '#base/database/connection.ts';
import type { CostFilter, CostRow, Span } from '#core/agent/session-store.ts';
import type { Usage } from '#core/model/model-client.ts';
import { storedJson } from './message-rows.ts';
import { filled, needSession, type RowOf } from './session-rows.ts';

type Extra = Pick<Span, 'purpose' | 'tier' | 'usage' | 'cost'>;
type Told = Omit<Span, keyof Extra | 'sessionId'> & { readonly extra?: string };

/** Inside a transaction. A span that comes again replaces itself, so a repeated batch changes nothing. */
export function insertSpans(database: Database, spans: readonly Span[]): void {
  const keys = new Map<string, number>();
  for (const span of spans) {
    const key = keys.get(span.sessionId) ?? needSession(database, span.sessionId).key;
    keys.set(span.sessionId, key);
    const isFirst = span.kind === 'step' && span.usage !== undefined && !isKnown(database, span);
    insertSpan(database, span, key);
    if (isFirst) insertUsage(database, span, key);
  }
}

function isKnown(database: Database, span: Span): boolean {
  return database.get('SELECT 1 FROM spans WHERE id = ?', span.id) !== undefined;
}

function insertSpan(database: Database, span: Span, key: number): void {
  const { purpose, tier, usage, cost } = span;
  const extra = purpose === undefined && usage === undefined && tier === undefined && cost === undefined;
  database.run(
    `INSERT OR REPLACE INTO spans(id, parent_id, session, turn, kind, name, started_at, ms, status, detail, extra)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    span.id,
    span.parentId ?? null,
    key,
    span.turn,
    span.kind,
    span.name.toWellFormed(),
    span.startedAt,
    span.ms,
    span.status,
    span.detail?.toWellFormed() ?? null,
    extra ? null : JSON.stringify({ purpose, tier, usage, cost }),
  );
}

function insertUsage(database: Database, span: Span, key: number): void {
  const usage = span.usage;
  if (usage === undefined) return;
  database.run(
    `INSERT INTO usage(session, at, turn, purpose, model, tier, input_tokens, output_tokens, cached_tokens,
       cache_write_tokens, reasoning_tokens, cost) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[key, Math.round(span.startedAt), span.turn, span.purpose ?? 'answer', span.name.toWellFormed()],
    ...[span.tier ?? null, usage.inputTokens, usage.outputTokens, usage.cachedTokens, usage.cacheWriteTokens],
    ...[usage.reasoningTokens, span.cost ?? null],
  );
}

/** In order of their start. */
export function readSpans(database: Database, sessionId: string): readonly Span[] {
  const rows = database.all<RowOf<Told>>(
    `SELECT id, parent_id AS parentId, turn, kind, name, started_at AS startedAt, ms, status, detail, extra
     FROM spans WHERE session = ? ORDER BY started_at, rowid`,
    needSession(database, sessionId).key,
  );
  return rows.map((row) => {
    const { extra, ...span } = filled<Told>(row);
    return { ...span, sessionId, ...(extra === undefined ? {} : storedJson<Extra>(extra, `span ${row.id}`)) };
  });
}

/** Sums by purpose and model, the dearest first. */
export function readCosts(database: Database, filter: CostFilter): readonly CostRow[] {
  const key = filter.sessionId === undefined ? null : needSession(database, filter.sessionId).key;
  const rows = database.all<Omit<CostRow, 'usage'> & Usage>(
    `SELECT purpose, model, count(*) AS calls, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
       sum(cached_tokens) AS cachedTokens, sum(cache_write_tokens) AS cacheWriteTokens,
       sum(reasoning_tokens) AS reasoningTokens, coalesce(sum(cost), 0) AS cost, sum(cost IS NULL) AS unpriced
     FROM usage WHERE ${key === null ? '?1 IS NULL' : 'session = ?1'} AND at >= ?2 AND at < ?3
     GROUP BY purpose, model ORDER BY sum(cost) DESC, calls DESC, purpose, model`,
    ...[key, filter.since ?? 0, filter.until ?? Number.MAX_SAFE_INTEGER],
  );
  return rows.map(({ purpose, model, calls, cost, unpriced, ...usage }) => ({
    ...{ purpose, model, calls, usage, cost, unpriced },
  }));
}

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
  const sum = database.get<TurnCost>(
    `SELECT count(DISTINCT asked.key) AS turns, count(*) AS calls, total(input_tokens + output_tokens) AS tokens,
       total(cost) AS cost, coalesce(sum(cost IS NULL), 0) AS unpriced
     FROM json_each(?) AS asked
     JOIN sessions ON sessions.id = json_extract(asked.value, '$[0]')
     JOIN usage ON usage.session = sessions.key AND usage.turn = json_extract(asked.value, '$[1]')
     WHERE usage.purpose IN ('answer', 'compress', 'recall')`,
    JSON.stringify(batch),
  );
  return sum ?? NO_TURN_COST;
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
