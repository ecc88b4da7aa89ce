// Owns the review queue: what was mined waits here for a person (seed 002; curator notes 7). Knows no command and no skill. Invariants: a
// candidate stands once, whatever it is given; one call adds all of its candidates or none; deciding changes a status and nothing else; a row
// that says of itself that it may be applied was tampered with and is no candidate; reading never makes a file; a file that the person named is
// never moved aside, only the home's own evidence file is, as everywhere.
import { statSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { type DatabaseNotice, type OpenDatabaseOptions, openDatabase } from '#base/database.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { canonicalJson, isJsonObject, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { eventTime } from '#mind/evidence/ledger/event-rows.ts';
import { type CANDIDATE_STATUSES, type Candidate, type CandidateType, refuseUnsafe } from './mine.ts';

type CandidateStatus = (typeof CANDIDATE_STATUSES)[number];

export interface QueuedCandidate extends Candidate {
  readonly status: CandidateStatus;
  /** UTC ISO, whole seconds, `+00:00`. */
  readonly created_at: string;
  readonly updated_at: string;
}

type CandidateRow = Omit<
  QueuedCandidate,
  'evidence_refs' | 'metadata' | 'auto_apply_allowed' | 'requires_human_review'
> & {
  readonly evidence_refs_json: string;
  readonly metadata_json: string;
  readonly auto_apply_allowed: number;
  readonly requires_human_review: number;
};

const SCHEMA = {
  room: 'review-queue',
  steps: [
    `
CREATE TABLE IF NOT EXISTS review_candidates(
  id TEXT PRIMARY KEY,
  candidate_type TEXT NOT NULL,
  title TEXT NOT NULL,
  rationale TEXT NOT NULL,
  confidence REAL NOT NULL,
  evidence_refs_json TEXT NOT NULL,
  target_skill TEXT,
  auto_apply_allowed INTEGER NOT NULL DEFAULT 0 CHECK (auto_apply_allowed = 0),
  requires_human_review INTEGER NOT NULL DEFAULT 1 CHECK (requires_human_review = 1),
  metadata_json TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL DEFAULT 'pending',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_review_candidates_status ON review_candidates(status);
CREATE INDEX IF NOT EXISTS idx_review_candidates_type ON review_candidates(candidate_type);
`,
  ],
} as const;

const COLUMNS = 'id, candidate_type, title, rationale, confidence, evidence_refs_json, target_skill, metadata_json';
const INSERT = `INSERT INTO review_candidates(${COLUMNS}, created_at, updated_at)
  VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO NOTHING`;

export class ReviewQueue {
  readonly #database: Database;
  readonly #clock: Clock;

  /** `database`: opened with the queue's schema, or for reading a file that may lack the table. */
  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * For each candidate whether it is new, in order. All in one transaction.
   * @throws TalariaError `unsafe-candidate` | `invalid-candidate`; nothing was added then.
   */
  enqueue(candidates: readonly Candidate[], signal?: AbortSignal): Promise<readonly boolean[]> {
    const at = eventTime(this.#clock.now());
    return this.#database.transaction(() => candidates.map((candidate) => this.#insert(candidate, at)), signal);
  }

  list(status?: CandidateStatus, candidateType?: CandidateType): readonly QueuedCandidate[] {
    return this.#read(
      '(?1 IS NULL OR status = ?1) AND (?2 IS NULL OR candidate_type = ?2) ORDER BY created_at, id',
      ...[status ?? null, candidateType ?? null],
    );
  }

  find(idPrefix: string): readonly QueuedCandidate[] {
    const exact = this.#read('id = ?', idPrefix);
    return exact.length > 0 ? exact : this.#read('substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2', idPrefix);
  }

  /** Whether the row is there and had another status. */
  async decide(id: string, status: CandidateStatus): Promise<boolean> {
    const sql = 'UPDATE review_candidates SET status = ?1, updated_at = ?2 WHERE id = ?3 AND status <> ?1';
    const at = eventTime(this.#clock.now());
    const { changes } = await this.#database.transaction(() => this.#database.run(sql, status, at, id));
    return changes > 0;
  }

  close(): void {
    this.#database.close();
  }

  #read(where: string, ...values: readonly (string | null)[]): readonly QueuedCandidate[] {
    const table = this.#database.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'review_candidates'");
    if (table === undefined) return [];
    return this.#database
      .all<CandidateRow>(`SELECT * FROM review_candidates WHERE ${where}`, ...values)
      .map(candidateOf);
  }

  #insert(candidate: Candidate, at: string): boolean {
    refuseUnsafe(candidate);
    const { id, candidate_type, title, rationale, confidence, evidence_refs, target_skill, metadata } = candidate;
    const refs = JSON.stringify(evidence_refs.map((ref) => ref.toWellFormed()));
    const { changes } = this.#database.run(
      INSERT,
      ...[id, candidate_type, title.toWellFormed(), rationale.toWellFormed(), confidence, refs],
      ...[target_skill?.toWellFormed() ?? null, canonicalJson(metadata).toWellFormed(), at, at],
    );
    return changes > 0;
  }
}

/** @throws TalariaError `unsafe-candidate` for a row whose flags were changed by hand. */
function candidateOf(row: CandidateRow): QueuedCandidate {
  const { evidence_refs_json, metadata_json, auto_apply_allowed, requires_human_review, ...plain } = row;
  if (auto_apply_allowed !== 0 || requires_human_review !== 1) {
    throw new TalariaError(`Candidate ${row.id} says that it needs no person: somebody changed its row.`, {
      code: 'unsafe-candidate',
      fix: 'Delete that row, or give the queue another file.',
    });
  }
  const [refs, metadata] = [evidence_refs_json, metadata_json].map((text) => parseJson(text));
  return {
    ...plain,
    evidence_refs: refs?.ok && Array.isArray(refs.value) ? refs.value.map(String) : [],
    metadata: metadata?.ok && isJsonObject(metadata.value) ? metadata.value : {},
    auto_apply_allowed: false,
    requires_human_review: true,
  };
}

export interface QueueFile {
  readonly path: string;
  /** The home's evidence file: damaged, it may be kept aside and begun anew. */
  readonly isOwn: boolean;
  readonly clock: Clock;
}

/** Only who writes may move it. */
const OWN_FIX =
  '`talaria curator status` puts it aside, reads stored sessions again and says where it is kept; the review queue was in it.';

interface OpenedQueue {
  readonly queue: ReviewQueue;
  readonly notices: readonly DatabaseNotice[];
}

/** Opens or makes it for writing. Throws TalariaError as `openDatabase`. */
export function openQueue(file: QueueFile): OpenedQueue {
  return opened(file, { onCorrupt: file.isOwn ? 'quarantine' : 'throw' });
}

/** Opens what is there: to `read` it, or to `decide` in it. Throws TalariaError as `openDatabase`. */
export function openExistingQueue(file: QueueFile, purpose: 'read' | 'decide'): Result<OpenedQueue, 'no-such-queue'> {
  if (!statSync(file.path, { throwIfNoEntry: false })?.isFile())
    return refuse('no-such-queue', `There is no queue at ${file.path}.`);
  return ok(purpose === 'decide' ? openQueue(file) : opened(file, { readOnly: true }));
}

function opened({ path, isOwn, clock }: QueueFile, options: Partial<OpenDatabaseOptions>): OpenedQueue {
  try {
    const { database, notices } = openDatabase(path, { rooms: [SCHEMA], clock, ...options });
    return { queue: new ReviewQueue(database, clock), notices };
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt') throw error;
    throw new TalariaError(`${path} is no database that can be read.`, {
      code: 'database-corrupt',
      cause: error,
      fix: isOwn ? OWN_FIX : 'Name another file with --queue-db; this one was left as it is.',
    });
  }
}
