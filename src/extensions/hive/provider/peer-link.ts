// Owns the provider's hold on its transport: opened at first use, refreshed once a turn and once for everybody who wants what is new at the same
// time, the spark engine after it (seed 004, on-demand; R4.50, R4.51). Knows no protocol and no tool. Invariants: nothing runs between turns; what
// fails is said to the owner once, and again only after it worked in between, and never breaks a turn (R4.25); never two transports or two
// refreshes at a time; a transport that comes after the close is closed too.
import { AbortedError, deadline, raceAbort, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { PeerTransport } from '../peer.ts';
import type { SparkEngine } from './spark-engine.ts';

export interface LinkParts {
  /** Asked at first use, and again after it failed. Throws PeerError. */
  readonly open: () => Promise<PeerTransport>;
  /** Absent: nothing is suggested. */
  readonly engine?: SparkEngine;
  readonly clock: Clock;
  /** One sentence for the owner. */
  readonly warn: (problem: string) => void;
}

export interface TurnWork {
  /** Neither ever rejects. */
  readonly refreshed: Promise<void>;
  readonly done: Promise<void>;
  stop(reason: Error): void;
}

interface Refreshing {
  readonly done: Promise<PeerTransport>;
  readonly control: AbortController;
  waiting: number;
}

const NEVER = new AbortController().signal;
/** How long an aborted work may take to let go, ms. */
const LET_GO_MS = 1_000;
/** Sentences that are remembered as said. */
const MOST_SAID = 500;

export class PeerLink {
  readonly #parts: LinkParts;
  readonly #said = new Set<string>();
  #failure = '';
  #opening: Promise<PeerTransport> | undefined;
  /** Open already. */
  opened: PeerTransport | undefined;
  #wasRefreshed = false;
  #refreshing: Refreshing | undefined;
  #turn: TurnWork | undefined;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /** Begins the work of a turn, or finds it begun: a refresh, then the engine. */
  beginTurn(): TurnWork {
    if (this.#turn !== undefined) return this.#turn;
    const begun = this.#workOfTurn();
    this.#turn = begun;
    const over = () => {
      if (this.#turn === begun) this.#turn = undefined;
    };
    begun.done.then(over, over);
    return begun;
  }

  /** With what is known: waits for a refresh only when there never was one. Throws when that fails. */
  ready(signal: AbortSignal): Promise<PeerTransport> {
    return this.#wasRefreshed ? this.#get(signal) : this.fresh(signal);
  }

  /** With what is new. Throws when that fails. A caller's abort ends its own waiting; the refresh ends when nobody waits for it any more. */
  async fresh(signal: AbortSignal): Promise<PeerTransport> {
    this.#refreshing ??= this.#beginRefresh();
    const mine = this.#refreshing;
    mine.waiting += 1;
    try {
      return await raceAbort(mine.done, signal);
    } finally {
      mine.waiting -= 1;
      if (mine.waiting === 0) {
        if (this.#refreshing === mine) this.#refreshing = undefined;
        mine.control.abort(new AbortedError('nobody waits for it any more'));
      }
    }
  }

  /** When the engine of this turn, if it runs, has done what it can. */
  async suggested(signal: AbortSignal): Promise<void> {
    if (this.#turn !== undefined) await raceAbort(this.#turn.done, signal);
  }

  /** Tells the owner what could not be done for the network's sake. */
  failed(error: unknown): void {
    const fix = error instanceof TalariaError && error.fix !== undefined ? ` ${error.fix}` : '';
    const text = `peers: ${errorText(error)}.${fix}`.replace(/\.\.(?= |$)/, '.');
    if (text !== this.#failure) this.#parts.warn(text);
    this.#failure = text;
  }

  /** Lets the turn's work end, or ends it. */
  async endTurn(waitMs: number): Promise<void> {
    const { clock } = this.#parts;
    if (this.#turn === undefined) return;
    const { done, stop } = this.#turn;
    if (waitMs > 0 && (await settledWithin(done, clock, waitMs, NEVER))) return;
    stop(new AbortedError('the turn is over'));
    await settledWithin(done, clock, LET_GO_MS, NEVER);
  }

  async close(): Promise<void> {
    await this.endTurn(0);
    this.#wasRefreshed = false;
    const closing = this.#opening;
    this.#opening = undefined;
    this.opened = undefined;
    try {
      await (await closing)?.close();
    } catch (error) {
      this.#parts.warn(`peers were not let go of in order: ${errorText(error)}`);
    }
  }

  /** Never rejects: what went wrong was said to the owner. */
  #workOfTurn(): TurnWork {
    const control = new AbortController();
    const { signal } = control;
    const { promise: refreshed, resolve: through } = Promise.withResolvers<void>();
    const work = async (): Promise<void> => {
      try {
        const transport = await this.fresh(signal);
        through();
        await this.#parts.engine?.run(transport, signal);
        this.#failure = '';
      } catch (error) {
        if (!signal.aborted) this.failed(error);
      } finally {
        through();
      }
    };
    return { refreshed, done: work(), stop: (reason) => control.abort(reason) };
  }

  #beginRefresh(): Refreshing {
    const control = new AbortController();
    const begun: Refreshing = { done: this.#refresh(control.signal), control, waiting: 0 };
    const over = () => {
      if (this.#refreshing === begun) this.#refreshing = undefined;
    };
    begun.done.then(over, over);
    return begun;
  }

  async #refresh(signal: AbortSignal): Promise<PeerTransport> {
    const transport = await this.#get(signal);
    for (const sentence of await transport.refresh(signal)) {
      if (this.#said.has(sentence)) continue;
      if (this.#said.size >= MOST_SAID) this.#said.clear();
      this.#said.add(sentence);
      this.#parts.warn(sentence);
    }
    this.#wasRefreshed = true;
    return transport;
  }

  async #get(signal: AbortSignal): Promise<PeerTransport> {
    throwIfAborted(signal);
    this.#opening ??= this.#open();
    return raceAbort(this.#opening, signal);
  }

  /** Opened once; again after it failed. */
  #open(): Promise<PeerTransport> {
    const mine = this.#parts.open();
    mine.then(
      (transport) => {
        if (this.#opening === mine) this.opened = transport;
      },
      () => {
        if (this.#opening === mine) this.#opening = undefined;
      },
    );
    return mine;
  }
}

/** True when the work has settled in time; the work is not touched. Rejects only with the signal's reason. */
export async function settledWithin(
  work: Promise<unknown>,
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  const late = new AbortedError('not in time');
  const limit = deadline(clock, signal, Math.max(0, ms), () => late);
  try {
    await raceAbort(work, limit.signal);
    return true;
  } catch {
    throwIfAborted(signal);
    return !limit.signal.aborted;
  } finally {
    limit.clear();
  }
}
