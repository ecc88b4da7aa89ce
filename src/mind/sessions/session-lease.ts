// Owns who has a live session: a lease row with host, process and heartbeat. Knows no message. Invariant: at most one live holder a
// session; a dead process, or one that has been silent for two minutes, is replaced.
import { hostname } from 'node:os';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { newId } from '#base/ids.ts';
import { isProcessAlive } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { SessionLease } from '#core/agent/session-store.ts';
import { findSession } from './session-rows.ts';

const BEAT_MS = 15_000;
const SILENT_MS = 120_000;

interface LeaseRow {
  readonly holder: string;
  readonly host: string;
  readonly pid: number;
  readonly heartbeat: number;
}

export class LeaseKeeper {
  readonly #database: Database;
  readonly #clock: Clock;
  /** Session key → our token. */
  readonly #held = new Map<number, string>();
  #stopBeating: (() => void) | undefined;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async claim(sessionId: string): Promise<Result<SessionLease, 'owned-elsewhere' | 'no-such-session'>> {
    const holder = newId('lease');
    const taken = await this.#database.lightTransaction(() => this.#take(sessionId, holder));
    if (!taken.ok) return taken;
    const key = taken.value;
    this.#held.set(key, holder);
    this.#beatLater();
    return ok({ sessionId, release: () => this.#release(key, holder) });
  }

  async releaseAll(): Promise<void> {
    this.#stopBeating?.();
    this.#stopBeating = undefined;
    for (const [key, holder] of [...this.#held]) await this.#release(key, holder);
  }

  #take(sessionId: string, holder: string): Result<number, 'owned-elsewhere' | 'no-such-session'> {
    const session = findSession(this.#database, sessionId);
    if (session === undefined) return refuse('no-such-session', `There is no session ${sessionId}.`);
    const now = this.#clock.now();
    const lease = this.#database.get<LeaseRow>('SELECT * FROM leases WHERE session = ?', session.key);
    if (lease !== undefined && isLive(lease, now)) {
      return refuse(
        'owned-elsewhere',
        `Process ${lease.pid} on ${lease.host} has this session open: read it or fork it.`,
      );
    }
    this.#database.run(
      'INSERT OR REPLACE INTO leases(session, holder, host, pid, heartbeat) VALUES(?, ?, ?, ?, ?)',
      session.key,
      holder,
      hostname(),
      process.pid,
      now,
    );
    return ok(session.key);
  }

  async #release(key: number, holder: string): Promise<void> {
    this.#held.delete(key);
    if (this.#database.isClosed) return;
    await this.#database.lightTransaction(() => {
      this.#database.run('DELETE FROM leases WHERE session = ? AND holder = ?', key, holder);
    });
  }

  #beatLater(): void {
    this.#stopBeating ??= this.#clock.after(BEAT_MS, () => {
      this.#stopBeating = undefined;
      this.#beat();
      if (this.#held.size > 0) this.#beatLater();
    });
  }

  /** A beat that finds the database busy is left out: the next one comes long before the lease counts as silent. */
  #beat(): void {
    if (this.#database.isClosed) return;
    const now = this.#clock.now();
    for (const [key, holder] of this.#held) {
      const done = this.#database.tryRun(
        'UPDATE leases SET heartbeat = ? WHERE session = ? AND holder = ?',
        now,
        key,
        holder,
      );
      if (done === 0) this.#held.delete(key); // somebody took it over while we were silent
    }
  }
}

/** Has a live process this session? `session`: number of its row; `now`: epoch ms. */
export function isHeld(database: Database, session: number, now: number): boolean {
  const lease = database.get<LeaseRow>('SELECT * FROM leases WHERE session = ?', session);
  return lease !== undefined && isLive(lease, now);
}

function isLive(lease: LeaseRow, now: number): boolean {
  if (now - lease.heartbeat > SILENT_MS) return false;
  return lease.host !== hostname() || isProcessAlive(lease.pid);
}
