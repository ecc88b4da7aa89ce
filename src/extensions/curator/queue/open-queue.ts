// Owns opening the file of the review queue. Invariants: reading never makes a file; a file that the person named is never moved aside, only
// the home's own evidence file is, as everywhere.
import { statSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import type { RoomSchema } from '#base/database/migrate.ts';
import { type DatabaseNotice, type OpenDatabaseOptions, openDatabase } from '#base/database.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type ReviewQueue, reviewQueue } from './review-queue.ts';

const REVIEW_CANDIDATES = `
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
`;

const queueSchema: RoomSchema = { room: 'review-queue', steps: [REVIEW_CANDIDATES] };

export interface QueueFile {
  readonly path: string;
  /** The home's evidence file: damaged, it may be kept aside and begun anew. */
  readonly isOwn: boolean;
  readonly clock: Clock;
}

/** Only who writes may move it. */
const OWN_FIX =
  '`talaria curator status` puts it aside, reads stored sessions again and says where it is kept; the review queue was in it.';

export interface OpenedQueue {
  readonly queue: ReviewQueue;
  readonly notices: readonly DatabaseNotice[];
}

/** Opens or makes it for writing. Throws TalariaError as `openDatabase`. */
export function openQueue({ path, isOwn, clock }: QueueFile): OpenedQueue {
  const onCorrupt = isOwn ? 'quarantine' : 'throw';
  return opened({ path, isOwn, clock }, { rooms: [queueSchema], onCorrupt, clock });
}

/** Opens what is there: to `read` it, or to `decide` in it. Throws TalariaError as `openDatabase`. */
export function openExistingQueue(file: QueueFile, purpose: 'read' | 'decide'): Result<OpenedQueue, 'no-such-queue'> {
  if (!statSync(file.path, { throwIfNoEntry: false })?.isFile())
    return refuse('no-such-queue', `There is no queue at ${file.path}.`);
  if (purpose === 'decide') return ok(openQueue(file));
  return ok(opened(file, { rooms: [queueSchema], readOnly: true, clock: file.clock }));
}

function opened({ path, isOwn, clock }: QueueFile, options: OpenDatabaseOptions): OpenedQueue {
  try {
    const { database, notices } = openDatabase(path, options);
    return { queue: reviewQueue(database, clock), notices };
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt') throw error;
    throw new TalariaError(`${path} is no database that can be read.`, {
      code: 'database-corrupt',
      cause: error,
      fix: isOwn ? OWN_FIX : 'Name another file with --queue-db; this one was left as it is.',
    });
  }
}
