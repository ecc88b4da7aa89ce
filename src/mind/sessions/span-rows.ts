// Owns what a turn cost and did: rows of `spans` for `talaria trace`, rows of `usage` for `talaria cost`. Invariant: every step with
// usage has one usage row, and usage stays when its spans are pruned.
import type { Database } from '#base/database/connection.ts';
import type { CostFilter, CostRow, Span } from '#core/agent/session-store.ts';
import type { Purpose, Usage } from '#core/model/model-client.ts';
import { storedJson } from './message-rows.ts';
import { needSession } from './session-rows.ts';

interface SpanRow {
  readonly id: string;
  readonly parent_id: string | null;
  readonly turn: number;
  readonly kind: Span['kind'];
  readonly name: string;
  readonly started_at: number;
  readonly ms: number;
  readonly status: Span['status'];
  readonly detail: string | null;
  readonly extra: string | null;
}

type Extra = Pick<Span, 'purpose' | 'tier' | 'usage' | 'cost'>;

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
    key,
    Math.round(span.startedAt),
    span.turn,
    span.purpose ?? 'answer',
    span.name.toWellFormed(),
    span.tier ?? null,
    usage.inputTokens,
    usage.outputTokens,
    usage.cachedTokens,
    usage.cacheWriteTokens,
    usage.reasoningTokens,
    span.cost ?? null,
  );
}

/** In order of their start. */
export function readSpans(database: Database, sessionId: string): readonly Span[] {
  const { key } = needSession(database, sessionId);
  const rows = database.all<SpanRow>('SELECT * FROM spans WHERE session = ? ORDER BY started_at, rowid', key);
  return rows.map((row) => spanOf(row, sessionId));
}

function spanOf(row: SpanRow, sessionId: string): Span {
  const extra = row.extra === null ? {} : storedJson<Extra>(row.extra, `span ${row.id}`);
  return {
    id: row.id,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    sessionId,
    turn: row.turn,
    kind: row.kind,
    name: row.name,
    startedAt: row.started_at,
    ms: row.ms,
    status: row.status,
    ...(row.detail === null ? {} : { detail: row.detail }),
    ...extra,
  };
}

interface UsageSum {
  readonly purpose: Purpose;
  readonly model: string;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cache_write: number;
  readonly reasoning: number;
  readonly cost: number | null;
  readonly unpriced: number;
}

/** Sums by purpose and model, the dearest first. */
export function readCosts(database: Database, filter: CostFilter): readonly CostRow[] {
  const key = filter.sessionId === undefined ? null : needSession(database, filter.sessionId).key;
  const rows = database.all<UsageSum>(
    `SELECT purpose, model, count(*) AS calls, sum(input_tokens) AS input, sum(output_tokens) AS output,
       sum(cached_tokens) AS cached, sum(cache_write_tokens) AS cache_write, sum(reasoning_tokens) AS reasoning,
       sum(cost) AS cost, sum(cost IS NULL) AS unpriced
     FROM usage WHERE (?1 IS NULL OR session = ?1) AND at >= ?2 AND at < ?3
     GROUP BY purpose, model ORDER BY cost DESC, calls DESC, purpose, model`,
    key,
    filter.since ?? 0,
    filter.until ?? Number.MAX_SAFE_INTEGER,
  );
  return rows.map((row) => ({
    purpose: row.purpose,
    model: row.model,
    calls: row.calls,
    usage: usageOf(row),
    cost: row.cost ?? 0,
    unpriced: row.unpriced,
  }));
}

function usageOf(row: UsageSum): Usage {
  return {
    inputTokens: row.input,
    outputTokens: row.output,
    cachedTokens: row.cached,
    cacheWriteTokens: row.cache_write,
    reasoningTokens: row.reasoning,
  };
}
