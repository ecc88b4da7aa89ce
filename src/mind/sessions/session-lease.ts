// Owns who has a live session: a lease row with the holder's name and heartbeat. Knows no message. Invariant: at most one live holder a
// session; a dead process, or one that has been silent for two minutes, is replaced. Neither a clock that was set nor a sleep counts as silence.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { newId } from '#base/ids.ts';
import { holderName, holderState, holderWords, isOfThisBoot } from '#base/process/holder.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { SessionLease } from '#core/agent/session-store.ts';
import { findSession } from './session-rows.ts';

const BEAT_MS = 15_000;
const SILENT_MS = 120_000;

interface LeaseRow {
  readonly holder: string;
  readonly pid: number;
  /** The rest of the holder's name behind its pid, and the monotonic time of its last beat. */
  readonly host: string;
  /** Epoch ms of the last beat. */
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
    const lease = this.#database.get<LeaseRow>('SELECT * FROM leases WHERE session = ?', session.key);
    if (lease !== undefined && isLive(lease, this.#clock)) {
      const holder = holderWords(`${lease.pid} ${lease.host}`);
      return refuse('owned-elsewhere', `Another program has this session open (${holder}): read it or fork it.`);
    }
    this.#database.run(
      'INSERT OR REPLACE INTO leases(session, holder, host, pid, heartbeat) VALUES(?, ?, ?, ?, ?)',
      ...[session.key, holder, placeNow(this.#clock), process.pid, this.#clock.now()],
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
    for (const [key, holder] of this.#held) {
      const done = this.#database.tryRun(
        'UPDATE leases SET heartbeat = ?, host = ? WHERE session = ? AND holder = ?',
        this.#clock.now(),
        placeNow(this.#clock),
        key,
        holder,
      );
      if (done === 0) this.#held.delete(key); // somebody took it over while we were silent
    }
  }
}

/** Has a live process this session? `session`: number of its row. */
export function isHeld(database: Database, session: number, clock: Clock): boolean {
  const lease = database.get<LeaseRow>('SELECT * FROM leases WHERE session = ?', session);
  return lease !== undefined && isLive(lease, clock);
}

/** Processes of this machine that have a session open. Throws TalariaError for a file that is no store of sessions. */
export function liveHolders(database: Database, clock: Clock): readonly number[] {
  const leases = database.all<LeaseRow>('SELECT * FROM leases');
  const ours = leases.filter((lease) => isOfThisBoot(nameOf(lease)) && isLive(lease, clock));
  return [...new Set(ours.map(({ pid }) => pid))];
}

function placeNow(clock: Clock): string {
  return `${holderName().replace(/^\d+ /, '')} ${Math.round(clock.monotonic())}`;
}

function nameOf({ pid, host }: LeaseRow): string {
  return [pid, ...host.split(' ').slice(0, 4)].join(' ');
}

function isLive(lease: LeaseRow, clock: Clock): boolean {
  const name = nameOf(lease);
  if (holderState(name) === 'gone') return false;
  const silence = clock.monotonic() - Number(lease.host.split(' ')[4]);
  if (isOfThisBoot(name) && silence >= -1) return silence <= SILENT_MS;
  return Math.abs(clock.now() - lease.heartbeat) <= SILENT_MS;
}
