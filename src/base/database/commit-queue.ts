// Owns group commit: pieces of work that are handed in at about the same time share one transaction, so many writers pay for one flush.
// Knows nothing of what is written. Invariant: a promise of `commit` resolves only after its work is durable; a failing piece fails alone.
import type { Database } from './connection.ts';

/** Pieces in one transaction at most: other processes wait for the write lock that long. */
const LARGEST_BATCH = 512;

interface Piece {
  readonly work: () => unknown;
  readonly durable: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

export class CommitQueue {
  readonly #database: Database;
  #waiting: Piece[] = [];
  #running: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Runs `work` (synchronous, repeatable until it is committed) inside a shared transaction, in the order of the calls. */
  commit<T>(work: () => T): Promise<T> {
    return this.#enqueue(work, true);
  }

  /** As `commit`, but does not wait for the disk unless it shares its transaction with work that does (`Database.lightTransaction`). */
  commitLightly<T>(work: () => T): Promise<T> {
    return this.#enqueue(work, false);
  }

  #enqueue<T>(work: () => T, durable: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, durable, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when everything handed in so far is settled. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await new Promise<void>((resume) => setImmediate(resume)); // lets the other writers hand in theirs
        const batch = this.#waiting.splice(0, LARGEST_BATCH);
        await this.#commitBatch(batch);
      }
    } finally {
      this.#running = undefined;
    }
  }

  async #commitBatch(batch: readonly Piece[]): Promise<void> {
    try {
      const all = () => batch.map((piece) => piece.work());
      const isDurable = batch.some((piece) => piece.durable);
      const values = await (isDurable ? this.#database.transaction(all) : this.#database.lightTransaction(all));
      batch.forEach((piece, at) => {
        piece.resolve(values[at]);
      });
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const piece of batch) await this.#commitBatch([piece]);
    }
  }
}
