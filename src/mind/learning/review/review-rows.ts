// Owns reviews as rows of state.db: recorded before they run, so that none is lost with its process. Knows no model.
// Invariants: at most one open review a session; a row that a dead process left running can be taken again; each is tried three times.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { newId } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { holderName, holderState } from '#base/process/holder.ts';
import type { FinishedReview } from '../budget/learning-budget.ts';
import type { DraftEnd } from '../keep/pending-desk.ts';
import {
  kindOf,
  type Review,
  type ReviewKind,
  type ReviewOrder,
  type ReviewOutcome,
  type ReviewReason,
  type ReviewStatus,
} from './review.ts';

const MOST_ATTEMPTS = 3;
/** A process number that is this old belongs to somebody else. */
const RUN_MS = 3_600_000;

interface Row {
  readonly id: string;
  readonly session_id: string;
  readonly kind: ReviewKind;
  readonly reasons: string;
  readonly hint: string;
  readonly status: ReviewStatus;
  readonly through_message: number;
  readonly attempts: number;
  readonly runner: string | null;
  readonly kept: number;
  readonly refused: number;
  readonly pending: number;
  readonly tokens: number;
  readonly cost: number | null;
  readonly model: string | null;
  readonly detail: string | null;
  readonly at: number;
  readonly ended_at: number | null;
  readonly attended: number;
}

export interface ReviewRows {
  /** Records a review as due. An open one of the session that nobody runs takes the new reasons instead. */
  order(order: ReviewOrder): Promise<Review>;
  /** Takes a due review for this process; undefined when another has it, or it was tried too often. */
  take(id: string): Promise<Review | undefined>;
  /** Drafts that wait are tied to it: a later yes counts as kept. */
  finish(id: string, outcome: ReviewOutcome): Promise<void>;
  /** The owner decided about a draft; no more than that when no review made it. */
  draftDecided(proposalId: string, end: DraftEnd): Promise<void>;
  /** Could a person answer in the session when one of its reviews was ordered? */
  wasAttended(sessionId: string): boolean;
  /** Back to due, to be run at the next start; `failed` after the last attempt, or at once when it can never work. */
  giveBack(id: string, why: { readonly detail: string; readonly final?: boolean }): Promise<void>;
  /** Due ones, and those of dead processes; oldest first. */
  due(): readonly Review[];
  get(id: string): Review | undefined;
  /** Newest first. */
  list(filter?: { readonly sessionId?: string; readonly limit?: number }): readonly Review[];
  /** The last ones that cost tokens, oldest first: what a review by rule keeps says nothing about a model. */
  finished(limit: number): readonly FinishedReview[];
  /** Entries that they kept since then. */
  keptSince(at: number): number;
}

export function createReviewRows(database: Database, clock: Clock): ReviewRows {
  const read = (id: string) => {
    const row = database.get<Row>('SELECT * FROM reviews WHERE id = ?', id);
    return row && reviewOf(row);
  };
  return {
    order: (order) => database.transaction(() => insert(database, clock, order)),
    take: (id) => database.transaction(() => take(database, clock, id)),
    finish: async (id, outcome) => {
      await database.transaction(() => finish(database, clock, { ...outcome, id }));
    },
    draftDecided: async (proposalId, end) => {
      await database.transaction(() => draftDecided(database, proposalId, end));
    },
    wasAttended: (sessionId) =>
      database.get('SELECT 1 FROM reviews WHERE session_id = ? AND attended = 1', sessionId) !== undefined,
    giveBack: async (id, why) => {
      await database.transaction(() => giveBack(database, clock, { id, ...why }));
    },
    due: () =>
      openRows(database)
        .filter((row) => isFree(row, clock.now()))
        .map(reviewOf),
    get: read,
    list: ({ sessionId, limit } = {}) =>
      database
        .all<Row>(
          'SELECT * FROM reviews WHERE (?1 IS NULL OR session_id = ?1) ORDER BY key DESC LIMIT ?2',
          sessionId ?? null,
          limit ?? -1,
        )
        .map(reviewOf),
    finished: (limit) =>
      database
        .all<FinishedReview>(
          "SELECT kept, ended_at AS endedAt FROM reviews WHERE status = 'done' AND tokens > 0 ORDER BY ended_at DESC, key DESC LIMIT ?",
          limit,
        )
        .reverse(),
    keptSince: (at) =>
      database.get<{ kept: number | null }>(
        "SELECT sum(kept) AS kept FROM reviews WHERE status = 'done' AND tokens > 0 AND ended_at >= ?",
        at,
      )?.kept ?? 0,
  };
}

function insert(database: Database, clock: Clock, order: ReviewOrder): Review {
  const open = openRows(database).find((row) => row.session_id === order.sessionId && row.status === 'due');
  const reasons = [...new Set([...(open ? reasonsOf(open) : []), ...order.reasons])];
  const id = open?.id ?? newId('rev');
  const hint = order.hint ?? open?.hint ?? '';
  const attended = order.attended === true || open?.attended === 1 ? 1 : 0;
  const values = [kindOf(reasons), JSON.stringify(reasons), hint, order.through, attended] as const;
  if (open) {
    const set = 'kind = ?, reasons = ?, hint = ?, through_message = ?, attended = ?';
    database.run(`UPDATE reviews SET ${set} WHERE id = ?`, ...values, id);
  } else {
    database.run(
      `INSERT INTO reviews(kind, reasons, hint, through_message, attended, id, session_id, status, at)
       VALUES(?, ?, ?, ?, ?, ?, ?, 'due', ?)`,
      ...values,
      id,
      order.sessionId,
      clock.now(),
    );
  }
  return need(database, id);
}

function take(database: Database, clock: Clock, id: string): Review | undefined {
  const row = database.get<Row>('SELECT * FROM reviews WHERE id = ?', id);
  if (row === undefined || !isFree(row, clock.now())) return undefined;
  if (row.attempts >= MOST_ATTEMPTS) {
    database.run("UPDATE reviews SET status = 'failed', runner = NULL, ended_at = ? WHERE id = ?", clock.now(), id);
    return undefined;
  }
  const runner = `${holderName()} ${clock.now()}`;
  database.run("UPDATE reviews SET status = 'running', runner = ?, attempts = attempts + 1 WHERE id = ?", runner, id);
  return need(database, id);
}

function finish(database: Database, clock: Clock, ended: ReviewOutcome & { readonly id: string }): void {
  const { id, kept, refused, pending, tokens, cost, model, drafts = [] } = ended;
  database.run(
    `UPDATE reviews SET status = 'done', kept = ?, refused = ?, pending = ?, tokens = ?, cost = ?, model = ?,
       runner = NULL, ended_at = ? WHERE id = ?`,
    ...[kept, refused, pending, tokens, cost, model, clock.now(), id],
  );
  for (const draft of drafts)
    database.run('INSERT OR REPLACE INTO review_drafts(proposal, review) VALUES(?, ?)', draft, id);
}

function draftDecided(database: Database, proposalId: string, end: DraftEnd): void {
  const row = database.get<{ review: string }>('SELECT review FROM review_drafts WHERE proposal = ?', proposalId);
  if (row === undefined) return;
  if ('waitsAs' in end) {
    database.run('UPDATE review_drafts SET proposal = ? WHERE proposal = ?', end.waitsAs, proposalId);
    return;
  }
  database.run('DELETE FROM review_drafts WHERE proposal = ?', proposalId);
  database.run(
    'UPDATE reviews SET pending = max(0, pending - 1), kept = kept + ? WHERE id = ?',
    end.kept ? 1 : 0,
    row.review,
  );
}

interface GivenBack {
  readonly id: string;
  readonly detail: string;
  readonly final?: boolean;
}

function giveBack(database: Database, clock: Clock, { id, detail, final }: GivenBack): void {
  const row = database.get<Row>('SELECT * FROM reviews WHERE id = ?', id);
  if (row === undefined || row.status === 'done') return;
  const failed = final === true || row.attempts >= MOST_ATTEMPTS;
  database.run(
    'UPDATE reviews SET status = ?, detail = ?, runner = NULL, ended_at = ? WHERE id = ?',
    failed ? 'failed' : 'due',
    detail.toWellFormed(),
    failed ? clock.now() : null,
    id,
  );
}

function openRows(database: Database): readonly Row[] {
  return database.all<Row>("SELECT * FROM reviews WHERE status IN ('due', 'running') ORDER BY key");
}

function isFree({ status, runner }: Row, now: number): boolean {
  if (status === 'due') return true;
  if (status !== 'running') return false;
  const words = runner?.split(' ') ?? [];
  const since = Number(words.pop() ?? 0);
  return Math.abs(now - since) > RUN_MS || holderState(words.join(' ')) === 'gone';
}

function need(database: Database, id: string): Review {
  return reviewOf(database.get<Row>('SELECT * FROM reviews WHERE id = ?', id) as Row);
}

function reasonsOf(row: Row): readonly ReviewReason[] {
  const parsed = parseJson(row.reasons);
  return parsed.ok && Array.isArray(parsed.value) ? (parsed.value as readonly ReviewReason[]) : [];
}

function reviewOf(row: Row): Review {
  const { id, kind, status, attempts, kept, refused, pending, tokens, cost, at } = row;
  return {
    ...{ id, kind, status, attempts, kept, refused, pending, tokens, cost, at },
    sessionId: row.session_id,
    reasons: reasonsOf(row),
    through: row.through_message,
    ...(row.hint === '' ? {} : { hint: row.hint }),
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.detail === null ? {} : { detail: row.detail }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
  };
}
