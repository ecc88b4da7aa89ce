// Owns reviews: rows of state.db, recorded before they run, so that none is lost with its process; and when they run, one after the other beside
// the conversations, at start what is due under the home's one lease for unattended writers (design 7), now when the owner asks (`/learn`).
import { isAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { withFileLock } from '#base/platform.ts';
import { holderName, holderState } from '#base/process/holder.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Background } from '#core/agent/room.ts';
import type { SessionStore } from '#core/agent/session-store.ts';
import {
  type DraftEnd,
  type FinishedReview,
  kindOf,
  type LearnedNow,
  type Learning,
  type Review,
  type ReviewOrder,
  type ReviewOutcome,
  type ReviewReason,
} from './learning.ts';

const MOST_ATTEMPTS = 3;
/** A process number that is this old belongs to somebody else. */
const RUN_MS = 3_600_000;

interface Row extends Omit<Review, 'reasons' | 'hint' | 'attended'> {
  /** JSON. */
  readonly reasons: string;
  readonly hint: string;
  readonly runner: string | null;
  readonly attended: number;
}

const COUNTED = 'attempts, kept, refused, pending, tokens, cost, model, at, ended_at AS endedAt';
const SELECT = `SELECT id, session_id AS sessionId, kind, reasons, hint, status, through_message AS through, runner, detail,
  attended, ${COUNTED} FROM reviews`;

/** Reviews in state.db. */
export class ReviewRows {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Records a review as due. An open one of the session that nobody runs takes the new reasons instead. */
  order(order: ReviewOrder): Promise<Review> {
    return this.#database.transaction(() => {
      const open = this.#open().find((row) => row.sessionId === order.sessionId && row.status === 'due');
      const reasons = [...new Set([...(open ? reasonsOf(open) : []), ...order.reasons])];
      const id = open?.id ?? newId('rev');
      const hint = order.hint ?? open?.hint ?? '';
      const attended = order.attended === true || open?.attended === 1 ? 1 : 0;
      const values = [kindOf(reasons), JSON.stringify(reasons), hint, order.through, attended, id] as const;
      const set = 'kind = ?, reasons = ?, hint = ?, through_message = ?, attended = ?';
      const columns = 'kind, reasons, hint, through_message, attended, id, session_id, status, at';
      if (open) this.#database.run(`UPDATE reviews SET ${set} WHERE id = ?`, ...values);
      else
        this.#database.run(
          `INSERT INTO reviews(${columns}) VALUES(?, ?, ?, ?, ?, ?, ?, 'due', ?)`,
          ...[...values, order.sessionId, this.#clock.now()],
        );
      return this.#need(id);
    });
  }

  /** Takes a due review for this process; undefined when another has it, or it was tried too often. */
  take(id: string): Promise<Review | undefined> {
    return this.#database.transaction(() => {
      const row = this.#row(id);
      const now = this.#clock.now();
      if (row === undefined || !isFree(row, now)) return undefined;
      if (row.attempts >= MOST_ATTEMPTS) {
        this.#database.run("UPDATE reviews SET status = 'failed', runner = NULL, ended_at = ? WHERE id = ?", now, id);
        return undefined;
      }
      const sql = "UPDATE reviews SET status = 'running', runner = ?, attempts = attempts + 1 WHERE id = ?";
      this.#database.run(sql, `${holderName()} ${now}`, id);
      return this.#need(id);
    });
  }

  /** Drafts that wait are tied to it: a later yes counts as kept. */
  finish(id: string, ended: ReviewOutcome): Promise<void> {
    const { kept, refused, pending, tokens, cost, model, drafts = [] } = ended;
    return this.#database.transaction(() => {
      this.#database.run(
        `UPDATE reviews SET status = 'done', kept = ?, refused = ?, pending = ?, tokens = ?, cost = ?, model = ?,
           runner = NULL, ended_at = ? WHERE id = ?`,
        ...[kept, refused, pending, tokens, cost, model, this.#clock.now(), id],
      );
      const sql = 'INSERT OR REPLACE INTO review_drafts(proposal, review) VALUES(?, ?)';
      for (const draft of drafts) this.#database.run(sql, draft, id);
    });
  }

  /** The owner decided about a draft; no more than that when no review made it. */
  draftDecided(proposalId: string, end: DraftEnd): Promise<void> {
    return this.#database.transaction(() => {
      const found = 'SELECT review FROM review_drafts WHERE proposal = ?';
      const row = this.#database.get<{ review: string }>(found, proposalId);
      if (row === undefined) return;
      if ('waitsAs' in end) {
        this.#database.run('UPDATE review_drafts SET proposal = ? WHERE proposal = ?', end.waitsAs, proposalId);
        return;
      }
      this.#database.run('DELETE FROM review_drafts WHERE proposal = ?', proposalId);
      const sql = 'UPDATE reviews SET pending = max(0, pending - 1), kept = kept + ? WHERE id = ?';
      this.#database.run(sql, end.kept ? 1 : 0, row.review);
    });
  }

  /** Could a person answer in the session when one of its reviews was ordered? */
  wasAttended(sessionId: string): boolean {
    const sql = 'SELECT 1 FROM reviews WHERE session_id = ? AND attended = 1';
    return this.#database.get(sql, sessionId) !== undefined;
  }

  /** Back to due, to be run at the next start; `failed` after the last attempt, or at once when it can never work. */
  giveBack(id: string, { detail, final }: { readonly detail: string; readonly final?: boolean }): Promise<void> {
    return this.#database.transaction(() => {
      const row = this.#row(id);
      if (row === undefined || row.status === 'done') return;
      const failed = final === true || row.attempts >= MOST_ATTEMPTS;
      const sql = 'UPDATE reviews SET status = ?, detail = ?, runner = NULL, ended_at = ? WHERE id = ?';
      const values = [failed ? 'failed' : 'due', detail.toWellFormed(), failed ? this.#clock.now() : null];
      this.#database.run(sql, ...values, id);
    });
  }

  /** Due ones, and those of dead processes; oldest first. */
  due(): readonly Review[] {
    return this.#open().flatMap((row) => (isFree(row, this.#clock.now()) ? [reviewOf(row)] : []));
  }

  get(id: string): Review | undefined {
    const row = this.#row(id);
    return row && reviewOf(row);
  }

  /** Newest first. */
  list(sessionId: string): readonly Review[] {
    return this.#database.all<Row>(`${SELECT} WHERE session_id = ? ORDER BY key DESC`, sessionId).map(reviewOf);
  }

  /** The last ones that cost tokens, oldest first: what a review by rule keeps says nothing about a model. */
  finished(limit: number): readonly FinishedReview[] {
    const sql = `SELECT kept, ended_at AS endedAt FROM reviews WHERE status = 'done' AND tokens > 0
      ORDER BY ended_at DESC, key DESC LIMIT ?`;
    return this.#database.all<FinishedReview>(sql, limit).reverse();
  }

  /** Entries that they kept since then. */
  keptSince(at: number): number {
    const sql = "SELECT sum(kept) AS kept FROM reviews WHERE status = 'done' AND tokens > 0 AND ended_at >= ?";
    return this.#database.get<{ kept: number | null }>(sql, at)?.kept ?? 0;
  }

  #row(id: string): Row | undefined {
    return this.#database.get<Row>(`${SELECT} WHERE id = ?`, id);
  }

  #open(): readonly Row[] {
    return this.#database.all<Row>(`${SELECT} WHERE status IN ('due', 'running') ORDER BY key`);
  }

  #need(id: string): Review {
    return reviewOf(this.#row(id) as Row);
  }
}

function isFree({ status, runner }: Row, now: number): boolean {
  if (status !== 'running') return status === 'due';
  const words = runner?.split(' ') ?? [];
  const since = Number(words.pop() ?? 0);
  return Math.abs(now - since) > RUN_MS || holderState(words.join(' ')) === 'gone';
}

function reasonsOf(row: Row): readonly ReviewReason[] {
  const parsed = parseJson(row.reasons);
  return parsed.ok && Array.isArray(parsed.value) ? (parsed.value as readonly ReviewReason[]) : [];
}

/** Absent is what the row has not; only an unknown price is null. */
function reviewOf(row: Row): Review {
  const { runner, attended, cost, hint, reasons, ...rest } = row;
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)) as typeof rest;
  return { ...known, cost, reasons: reasonsOf(row), ...(hint === '' ? {} : { hint }) };
}

interface ReviewDeskParts {
  readonly rows: ReviewRows;
  readonly run: (review: Review, signal: AbortSignal) => Promise<ReviewOutcome>;
  /** Is there budget for one more of this session? Asked before each review that nobody asked for by hand. */
  readonly mayRun: (sessionId: string) => Promise<boolean>;
  readonly background: Background;
  readonly clock: Clock;
  /** File of the home's lease for unattended writers. */
  readonly leasePath: string;
  readonly log: (event: string, text: string) => void;
  /** How long an ordered review waits before it asks a model, ms: a program that ends right away leaves it due instead of half done. */
  readonly delayMs: () => number;
}

export type ReviewDesk = ReturnType<typeof createReviewDesk>;

/** Due reviews that one start takes on. */
const MOST_DUE = 5;

export function createReviewDesk(parts: ReviewDeskParts) {
  const { rows, background } = parts;
  const ending = new AbortController();
  const closing = new AbortController();
  const stop = AbortSignal.any([background.signal, ending.signal]);
  let line: Promise<unknown> = Promise.resolve();
  /** After the reviews that wait before it. */
  const inLine = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = line.then(work);
    line = mine.catch(() => undefined);
    return mine;
  };
  const quietly = async (review: Review, signal: AbortSignal): Promise<boolean> => {
    if (signal.aborted) return false;
    try {
      return (await parts.mayRun(review.sessionId)) && (await takeAndRun(parts, review, signal)) !== undefined;
    } catch (error) {
      parts.log('review-failed', `${review.id} of ${review.sessionId}: ${errorText(error)}`);
      return false;
    }
  };
  return {
    /** Records the review and starts it beside the conversation; without budget, or at the end of the program, it stays due. */
    async order(order: ReviewOrder): Promise<void> {
      const review = await rows.order(order);
      const early = AbortSignal.any([background.signal, closing.signal]);
      background.hold(
        'review',
        inLine(async () => (await waited(parts, early)) && (await quietly(review, stop))),
      );
    },
    /** Runs it now. Throws what the review throws; the row is decided. */
    async runNow(order: ReviewOrder, signal: AbortSignal) {
      const review = await rows.order(order);
      const outcome = await inLine(() => takeAndRun(parts, review, AbortSignal.any([signal, stop])));
      return { review, outcome: outcome ?? NOTHING_KEPT };
    },
    async runDue(signal: AbortSignal): Promise<number> {
      const both = AbortSignal.any([signal, stop]);
      let ran = 0;
      try {
        const runAll = async () => {
          for (const review of rows.due().slice(0, MOST_DUE))
            ran += (await inLine(() => quietly(review, both))) ? 1 : 0;
        };
        await withUnattendedLease(parts.leasePath, runAll, parts.clock);
      } catch (error) {
        parts.log('review-failed', `due reviews: ${errorText(error)}`);
      }
      return ran;
    },
    async drain(signal: AbortSignal): Promise<void> {
      closing.abort();
      await untilAborted(line, signal);
      ending.abort();
      await line;
    },
  };
}

export const NOTHING_KEPT: ReviewOutcome = { kept: 0, refused: 0, pending: 0, tokens: 0, cost: 0, model: '' };

/** Undefined when another process has it, or it was tried too often. Throws what the run throws, after the row is given back. */
async function takeAndRun(
  parts: ReviewDeskParts,
  due: Review,
  signal: AbortSignal,
): Promise<ReviewOutcome | undefined> {
  const review = await parts.rows.take(due.id);
  if (review === undefined) return undefined;
  try {
    const outcome = await parts.run(review, signal);
    await parts.rows.finish(review.id, outcome);
    return outcome;
  } catch (error) {
    const stopped = signal.aborted || isAborted(error);
    await parts.rows.giveBack(review.id, {
      detail: stopped ? 'it was stopped when the program ended' : errorText(error),
      final: errorCode(error) === 'no-such-session',
    });
    throw error;
  }
}

/** False when the program ended meanwhile. */
async function waited({ clock, delayMs }: ReviewDeskParts, signal: AbortSignal): Promise<boolean> {
  const ms = delayMs();
  if (ms === 0) return true;
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return Promise.race([work, promise]);
}

export async function withUnattendedLease<T>(
  path: string,
  work: () => Promise<T>,
  clock: Clock,
): Promise<Result<T, 'lease-held'>> {
  let begun = false;
  const held = () => {
    begun = true;
    return work();
  };
  try {
    return ok(await withFileLock(path, held, { clock, waitMs: 0 }));
  } catch (error) {
    if (begun || errorCode(error) !== 'locked') throw error;
    return refuse('lease-held', 'Another process of this home is at it.');
  }
}

/** `/learn`: a review that the owner asks for now. */
export async function learnNow(
  store: Pick<SessionStore, 'get' | 'messages'>,
  rows: Pick<ReviewRows, 'get'>,
  desk: Pick<ReviewDesk, 'runNow'>,
  ...[sessionId, hint, signal]: Parameters<Learning['learnNow']>
): ReturnType<Learning['learnNow']> {
  if (!(await store.get(sessionId))) return refuse('no-such-session', `There is no session ${sessionId}.`);
  const through = (await store.messages(sessionId)).at(-1)?.id;
  if (through === undefined) return refuse('nothing-to-review', 'Nothing was said in this conversation yet.');
  const wish = hint.trim();
  try {
    const order = { sessionId, reasons: ['asked' as const], through, ...(wish === '' ? {} : { hint: wish }) };
    const { review, outcome } = await desk.runNow(order, signal);
    return ok(learned((rows.get(review.id) ?? review).kind, outcome));
  } catch (error) {
    if (!(error instanceof TalariaError) || signal.aborted) throw error;
    return refuse('failed', error.message);
  }
}

function learned(kind: LearnedNow['kind'], { kept, pending, refused, refusals = [] }: ReviewOutcome): LearnedNow {
  const counts = new Map<string, number>();
  for (const reason of refusals) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const parts = [
    kept > 0 ? `${kept} kept` : '',
    pending > 0 ? `${pending} ${pending === 1 ? 'waits' : 'wait'} for your yes` : '',
    refused > 0 ? `${refused} refused${reasonsLine(counts)}` : '',
  ].filter(Boolean);
  const line = parts.length === 0 ? 'Nothing was found that is worth keeping.' : `${parts.join(', ')}.`;
  return { kind, kept, pending, refused, reasons: Object.fromEntries(counts), line };
}

/** `: you took it back before`; with counts where there are several. */
function reasonsLine(reasons: ReadonlyMap<string, number>): string {
  const counts = new Map<string, number>();
  for (const [reason, count] of reasons) {
    const words = WORDS[reason] ?? reason.replaceAll(/[_-]/g, ' ');
    counts.set(words, (counts.get(words) ?? 0) + count);
  }
  const [only, ...more] = counts.keys();
  if (only === undefined) return '';
  return more.length === 0 ? `: ${only}` : `: ${[...counts].map(([words, count]) => `${count} ${words}`).join(', ')}`;
}

const UNCITED = 'without words of this conversation behind it';
const THERE = 'kept already';
const MISFIT = 'no valid change';

const WORDS: Readonly<Record<string, string>> = {
  contradicts: 'against what was said',
  'one-off': 'of no use later',
  'no-citation': UNCITED,
  'unknown-handle': UNCITED,
  'quote-too-short': UNCITED,
  'quote-not-found': UNCITED,
  'already-pending': 'waiting for your yes already',
  'rejected-before': 'you said no to it before',
  'taken-back': 'you took it back before',
  unchanged: THERE,
  duplicate: THERE,
  'repeats-skill': THERE,
  'name-taken': THERE,
  over_limit: 'no room in the memory file',
  'guard-refused': 'refused by the guard',
  secret: 'with a secret in it',
  'guard-asks': 'asked about by the guard',
  incomplete: MISFIT,
  'invalid-name': MISFIT,
  'invalid-skill': MISFIT,
  'description-too-long': MISFIT,
  'too-large': MISFIT,
  'text-not-found': MISFIT,
  'text-ambiguous': MISFIT,
};
