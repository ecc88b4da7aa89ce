// Owns searching stored messages: both lanes, filters, the plain substring search when no word helps, snippets. Any string is a question.
// Invariant: never throws because of what was asked; damage of the index alone gives `indexDamaged`, never a false "nothing found".
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { makeSnippet } from './make-snippet.ts';
import { MessageRanker, type RankedRow, type Ranking } from './rank-messages.ts';
import type { SearchLane } from './search-lane.ts';

export interface SearchOptions {
  /** Hits at most; default 10. */
  readonly limit?: number;
  /** Default user and assistant. */
  readonly roles?: readonly string[];
  /** Sessions of these sources are left out. */
  readonly hiddenSources?: readonly string[];
}

export interface SearchHit {
  readonly messageId: number;
  readonly sessionId: string;
  readonly role: string;
  readonly speaker: string;
  /** Epoch ms. */
  readonly at: number;
  readonly score: number;
  /** Verbatim, matched words between `>>>` and `<<<`. */
  readonly snippet: string;
}

interface FoundRow {
  readonly id: number;
  readonly session_id: string;
  readonly source: string;
  readonly role: string;
  readonly speaker: string | null;
  readonly at: number;
  readonly text: string;
}

const SPOKEN_ROLES = ['user', 'assistant'];
const DEFAULT_LIMIT = 10;
/** Newest messages that the plain search reads. */
const PLAIN_SEARCH_ROWS = 20_000;
const PLAIN_SEARCH_LONGEST = 200;

export interface MessageSearchParts {
  readonly database: Database;
  readonly spoken: SearchLane;
  readonly tool: SearchLane;
  readonly clock: Clock;
}

export class MessageSearch {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #spoken: SearchLane;
  readonly #rankSpoken: MessageRanker;
  readonly #rankTool: MessageRanker;

  constructor(parts: MessageSearchParts) {
    this.#database = parts.database;
    this.#clock = parts.clock;
    this.#spoken = parts.spoken;
    this.#rankSpoken = new MessageRanker(parts.spoken);
    this.#rankTool = new MessageRanker(parts.tool);
  }

  /** Best first. */
  search(question: string, options: SearchOptions = {}): readonly SearchHit[] {
    const limit = Math.max(0, Math.trunc(options.limit ?? DEFAULT_LIMIT));
    const roles = new Set(options.roles ?? SPOKEN_ROLES);
    if (limit === 0 || question.trim() === '') return [];
    const rankings = this.#rankings(question, roles);
    const weights = stemWeights(rankings);
    const hidden = new Set(options.hiddenSources ?? []);
    const hits: SearchHit[] = [];
    for (const { row, score } of merge(rankings)) {
      if (hits.length >= limit) break;
      const found = this.#row(row.id);
      if (found === undefined || !roles.has(found.role) || hidden.has(found.source)) continue;
      hits.push(hit(found, score, makeSnippet(found.text, weights)));
    }
    return hits.length > 0 ? hits : this.#plainSearch(question.trim(), { limit, roles, hidden });
  }

  #rankings(question: string, roles: ReadonlySet<string>): readonly Ranking[] {
    const context = { speakers: [...SPOKEN_ROLES, ...this.#spoken.speakers()], now: this.#clock.now() };
    const rankings: Ranking[] = [];
    if (SPOKEN_ROLES.some((role) => roles.has(role))) rankings.push(this.#rankSpoken.rank(question, context));
    if (roles.has('tool')) rankings.push(this.#rankTool.rank(question, context));
    return rankings;
  }

  /** For what holds no indexed word: a single Chinese character, punctuation, only stop words. Newest first. */
  #plainSearch(
    text: string,
    filter: { readonly limit: number; readonly roles: ReadonlySet<string>; readonly hidden: ReadonlySet<string> },
  ): readonly SearchHit[] {
    const wanted = text.toWellFormed().slice(0, PLAIN_SEARCH_LONGEST).replaceAll('\0', '');
    if (wanted === '') return [];
    const pattern = `%${wanted.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
    const rows = this.#database.all<FoundRow>(
      `${FOUND} WHERE m.id > (SELECT coalesce(max(id), 0) FROM messages) - ? AND (m.active = 1 OR m.compacted = 1)
         AND m.text LIKE ? ESCAPE '\\' ORDER BY m.id DESC LIMIT ?`,
      PLAIN_SEARCH_ROWS,
      pattern,
      filter.limit * 4,
    );
    return rows
      .filter((row) => filter.roles.has(row.role) && !filter.hidden.has(row.source))
      .slice(0, filter.limit)
      .map((row, place) => hit(row, 1 / (1 + place), plainSnippet(row.text, wanted)));
  }

  #row(id: number): FoundRow | undefined {
    return this.#database.get<FoundRow>(`${FOUND} WHERE m.id = ? AND (m.active = 1 OR m.compacted = 1)`, id);
  }
}

const FOUND = `SELECT m.id, s.id AS session_id, s.source, m.role, m.speaker, m.at, m.text
  FROM messages m JOIN sessions s ON s.key = m.session`;

function hit(row: FoundRow, score: number, snippet: string): SearchHit {
  const speaker = row.speaker ?? row.role;
  return { messageId: row.id, sessionId: row.session_id, role: row.role, speaker, at: row.at, score, snippet };
}

function merge(rankings: readonly Ranking[]): readonly RankedRow[] {
  if (rankings.length === 1) return rankings[0]?.rows ?? [];
  return rankings.flatMap((ranking) => ranking.rows).sort((a, b) => b.score - a.score || b.row.id - a.row.id);
}

/** Stems to mark, the question's own above their relatives. */
function stemWeights(rankings: readonly Ranking[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const { plan } of rankings) {
    for (const { stem, weight } of plan.stems) weights.set(stem, Math.max(weight, weights.get(stem) ?? 0));
  }
  return weights;
}

function plainSnippet(text: string, wanted: string): string {
  const at = text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at < 0) return text.slice(0, 240).toWellFormed();
  const from = Math.max(0, at - 60);
  const end = at + wanted.length;
  const piece = `${text.slice(from, at)}>>>${text.slice(at, end)}<<<${text.slice(end, end + 160)}`.toWellFormed();
  return `${from > 0 ? '…' : ''}${piece}${end + 160 < text.length ? '…' : ''}`;
}
