// Owns carrying the sessions of any sources into the ledger, newest first (curator notes 4). Knows no source's format.
// Invariants: one session at a time, in memory and in the file; a session that cannot be read is counted and passed over; whatever is
// stopped half-way can be run again.
import { throwIfAborted } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import type { Redact } from '#mind/evidence/redact-json.ts';
import { type Counts, noCounts, type SourceReport } from './backfill-report.ts';
import { type SessionEvents, sessionEvents } from './session-events.ts';
import type { Candidate, SessionSource } from './stored-session.ts';
import { type StandingEvents, standingEvents, writeEvents } from './write-events.ts';

export interface FillPlace {
  /** Asked anew for each session: a damaged file may have been replaced. */
  readonly ledger: () => Database;
  readonly redact: Redact;
  /** Epoch ms. */
  readonly now: number;
  /** Sessions whose last activity is before it (epoch ms) are passed over. */
  readonly since: number;
  /** So many sessions of the window at most. */
  readonly limit: number | undefined;
}

export interface Filled {
  readonly total: Counts;
  readonly sources: readonly SourceReport[];
  /** How many sessions could not be read, and the first few with path and reason. */
  readonly problems: readonly string[];
}

const MOST_PROBLEMS = 5;
const BUSY_MS = 50;

export async function fillEvidence(
  sources: readonly SessionSource[],
  place: FillPlace,
  signal: AbortSignal,
): Promise<Filled> {
  const filling = new Filling(sources, place);
  let rested = systemClock.monotonic();
  for (const session of newestFirst(sources)) {
    throwIfAborted(signal);
    if (filling.isFull) break;
    await filling.take(session);
    if (systemClock.monotonic() - rested < BUSY_MS) continue;
    await systemClock.sleep(0); // the process's other work, and whoever wants to stop this, gets a turn
    rested = systemClock.monotonic();
  }
  return filling.end();
}

/** One session, in every source that has it. */
interface Session {
  readonly id: string;
  at: number;
  readonly held: { readonly source: SessionSource; readonly candidate: Candidate }[];
}

function newestFirst(sources: readonly SessionSource[]): readonly Session[] {
  const sessions = new Map<string, Session>();
  for (const source of sources) {
    for (const candidate of source.candidates) {
      const session = sessions.get(candidate.id) ?? { id: candidate.id, at: candidate.at, held: [] };
      session.at = Math.max(session.at, candidate.at);
      session.held.push({ source, candidate });
      sessions.set(candidate.id, session);
    }
  }
  return [...sessions.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1));
}

type Outcome = 'imported' | 'same' | 'old' | 'failed';

class Filling {
  readonly #place: FillPlace;
  readonly #total = noCounts();
  readonly #counts: Map<SessionSource, Counts>;
  readonly #problems: string[] = [];
  #inWindow = 0;

  constructor(sources: readonly SessionSource[], place: FillPlace) {
    this.#place = place;
    this.#counts = new Map(sources.map((source) => [source, noCounts()]));
    for (const [source, counts] of this.#counts) {
      for (const one of [counts, this.#total]) {
        one.sessions_seen += source.old;
        one.sessions_skipped_old += source.old;
      }
    }
  }

  get isFull(): boolean {
    return this.#place.limit !== undefined && this.#inWindow >= this.#place.limit;
  }

  async take({ held }: Session): Promise<void> {
    const outcomes = new Set<Outcome>();
    for (const { source, candidate } of held) outcomes.add(await this.#takeFrom(source, candidate));
    this.#total.sessions_seen += 1;
    if (outcomes.has('imported')) this.#total.sessions_imported += 1;
    if (outcomes.has('imported') || outcomes.has('same')) this.#inWindow += 1;
    else if (outcomes.has('old')) this.#total.sessions_skipped_old += 1;
  }

  end(): Filled {
    const sources = [...this.#counts].map(([{ kind, path }, counts]) => ({ source: kind, path, ...counts }));
    const failed = this.#total.files_failed;
    const head = failed > 0 ? [`${plural(failed, 'session')} could not be read:`] : [];
    const rest = failed > MOST_PROBLEMS ? [`and ${failed - MOST_PROBLEMS} more`] : [];
    return { total: this.#total, sources, problems: [...head, ...this.#problems, ...rest] };
  }

  async #takeFrom(source: SessionSource, candidate: Candidate): Promise<Outcome> {
    const counts = this.#counts.get(source) ?? noCounts();
    counts.sessions_seen += 1;
    const read = this.#read(candidate);
    if (!read.ok) {
      counts.files_failed += 1;
      this.#total.files_failed += 1;
      if (this.#problems.length < MOST_PROBLEMS)
        this.#problems.push(`not read: ${candidate.path ?? candidate.id}: ${read.detail}`);
      return 'failed';
    }
    if (read.value === 'old') {
      counts.sessions_skipped_old += 1;
      return 'old';
    }
    return await this.#write(read.value, counts);
  }

  async #write({ events, standing }: Read, counts: Counts): Promise<Outcome> {
    const { tools, turns, ends } = await writeEvents(this.#place.ledger(), events, standing);
    for (const one of [counts, this.#total]) {
      one.tool_events_imported += tools;
      one.turn_events_imported += turns;
      one.session_events_imported += ends;
    }
    if (tools + turns + ends === 0) return 'same';
    counts.sessions_imported += 1;
    return 'imported';
  }

  #read(candidate: Candidate): Result<Read | 'old'> {
    return readable((): Result<Read | 'old'> => {
      const session = candidate.read();
      if (!session.ok) return session;
      if (session.value.lastActiveAt < this.#place.since) return ok('old');
      const standing = standingEvents(this.#place.ledger(), session.value.id);
      const { now, redact } = this.#place;
      return ok({ standing, events: sessionEvents(session.value, { standing: standing.keys, now, redact }) });
    });
  }
}

interface Read {
  readonly events: SessionEvents;
  readonly standing: StandingEvents;
}

const UNREADABLE = new Set(['database-corrupt', 'database-failed', 'database-io', 'no-such-session']);

/** A damaged row, or data of a shape that nothing wrote on purpose (nested a hundred thousand times, numbers for names). */
function readable<T>(read: () => Result<T>): Result<T> {
  try {
    return read();
  } catch (error) {
    const strange = error instanceof RangeError || error instanceof TypeError;
    if (!strange && !UNREADABLE.has(errorCode(error) ?? '')) throw error;
    return refuse('unreadable', errorText(error));
  }
}
