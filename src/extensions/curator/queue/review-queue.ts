// Owns the review queue: what was mined waits here for a person (seed 002; curator notes 7). Knows no command and no skill. Invariants: a
// candidate stands once, whatever it is given; one call adds all of its candidates or none; deciding changes a status and nothing else.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { eventTime } from '#mind/evidence/ledger/event-rows.ts';
import type { Candidate, CandidateType } from '../mine/candidate.ts';
import {
  type CandidateRow,
  type CandidateStatus,
  candidateOf,
  type QueuedCandidate,
  rowOf,
} from './queued-candidate.ts';

export interface QueueFilter {
  readonly status?: CandidateStatus;
  readonly candidateType?: CandidateType;
}

export interface ReviewQueue {
  /**
   * For each candidate whether it is new, in order. All in one transaction.
   * @throws TalariaError `unsafe-candidate` | `invalid-candidate`; nothing was added then.
   */
  enqueue(candidates: readonly Candidate[], signal?: AbortSignal): Promise<readonly boolean[]>;
  /** Oldest first, then by id. */
  list(filter?: QueueFilter): readonly QueuedCandidate[];
  /** Those whose id begins so; at most two. */
  find(idPrefix: string): readonly QueuedCandidate[];
  /** Whether the row is there and had another status. */
  decide(id: string, status: CandidateStatus): Promise<boolean>;
  close(): void;
}

/** `database`: opened with `queueSchema`, or for reading a file that may lack the table. */
export function reviewQueue(database: Database, clock: Clock): ReviewQueue {
  return new SqliteReviewQueue(database, clock);
}

class SqliteReviewQueue implements ReviewQueue {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  enqueue(candidates: readonly Candidate[], signal?: AbortSignal): Promise<readonly boolean[]> {
    const at = eventTime(this.#clock.now());
    return this.#database.transaction(() => candidates.map((candidate) => this.#insert(rowOf(candidate, at))), signal);
  }

  list({ status, candidateType }: QueueFilter = {}): readonly QueuedCandidate[] {
    if (!this.#hasTable()) return [];
    const rows = this.#database.all<CandidateRow>(
      `SELECT * FROM review_candidates WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR candidate_type = ?2)
       ORDER BY created_at, id`,
      status ?? null,
      candidateType ?? null,
    );
    return rows.map(candidateOf);
  }

  find(idPrefix: string): readonly QueuedCandidate[] {
    if (!this.#hasTable()) return [];
    const exact = this.#database.all<CandidateRow>('SELECT * FROM review_candidates WHERE id = ?', idPrefix);
    if (exact.length > 0) return exact.map(candidateOf);
    const rows = this.#database.all<CandidateRow>(
      'SELECT * FROM review_candidates WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2',
      idPrefix,
    );
    return rows.map(candidateOf);
  }

  async decide(id: string, status: CandidateStatus): Promise<boolean> {
    const at = eventTime(this.#clock.now());
    const { changes } = await this.#database.transaction(() =>
      this.#database.run(
        'UPDATE review_candidates SET status = ?1, updated_at = ?2 WHERE id = ?3 AND status <> ?1',
        status,
        at,
        id,
      ),
    );
    return changes > 0;
  }

  close(): void {
    this.#database.close();
  }

  #hasTable(): boolean {
    return (
      this.#database.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'review_candidates'") !==
      undefined
    );
  }

  #insert(row: CandidateRow): boolean {
    const { changes } = this.#database.run(
      `INSERT INTO review_candidates(id, candidate_type, title, rationale, confidence, evidence_refs_json, target_skill,
         auto_apply_allowed, requires_human_review, metadata_json, status, created_at, updated_at)
       VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO NOTHING`,
      ...[row.id, row.candidate_type, row.title, row.rationale, row.confidence, row.evidence_refs_json],
      ...[row.target_skill, row.auto_apply_allowed, row.requires_human_review, row.metadata_json],
      ...[row.status, row.created_at, row.updated_at],
    );
    return changes > 0;
  }
}
