// Owns opening the file of the review queue. Invariants: reading never makes a file; a file that the person named is never moved aside, only
// the home's own evidence file is, as everywhere.
import { statSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import { type DatabaseNotice, type OpenDatabaseOptions, openDatabase } from '#base/database.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { queueSchema } from './queue-schema.ts';
import { type ReviewQueue, reviewQueue } from './review-queue.ts';

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
