// Owns the provider's hold on its transport: opened at first use, refreshed once a turn, the spark engine after it (seed 004, on-demand).
// Knows no protocol and no tool. Invariants: nothing runs between turns; what fails is said to the owner once and never breaks a turn (R4.25);
// never two transports or two refreshes at a time.
import { AbortedError, raceAbort, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { PeerTransport } from '../peers/peer-transport.ts';
import type { SparkEngine } from '../sparks/spark-engine.ts';

export interface LinkParts {
  /** Asked at first use, and again after it failed. Throws PeerError. */
  readonly open: () => Promise<PeerTransport>;
  /** Absent: nothing is suggested. */
  readonly engine?: SparkEngine;
  readonly clock: Clock;
  /** One sentence for the owner. */
  readonly warn: (problem: string) => void;
}

export interface PeerLink {
  /** Open already. */
  readonly opened: PeerTransport | undefined;
  /** Begins the work of a turn, or finds it begun: a refresh, then the engine. */
  beginTurn(): TurnWork;
  /** With what is known: waits for a refresh only when there never was one. Throws when that fails. */
  ready(signal: AbortSignal): Promise<PeerTransport>;
  /** With what is new. Throws when that fails. */
  fresh(signal: AbortSignal): Promise<PeerTransport>;
  /** When the engine of this turn, if it runs, has done what it can. */
  suggested(signal: AbortSignal): Promise<void>;
  /** Tells the owner what a tool could not do for the network's sake. */
  failed(error: unknown): void;
  /** Lets the turn's work end, or ends it. */
  endTurn(waitMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface TurnWork {
  /** Neither ever rejects. */
  readonly refreshed: Promise<void>;
  readonly done: Promise<void>;
  stop(reason: Error): void;
}

const NEVER = new AbortController().signal;
/** How long an aborted work may take to let go, ms. */
const LET_GO_MS = 1_000;

export function createPeerLink(parts: LinkParts): PeerLink {
  const notices = createNotices(parts.warn);
  const hold = holdTransport(parts.open);
  const knowledge = createKnowledge(hold, notices);
  let turn: TurnWork | undefined;
  const beginTurn = (): TurnWork => {
    if (turn !== undefined) return turn;
    const begun = workOfTurn(knowledge, { ...parts, notices });
    turn = begun;
    const over = () => {
      if (turn === begun) turn = undefined;
    };
    begun.done.then(over, over);
    return begun;
  };
  const endTurn = async (waitMs: number): Promise<void> => {
    if (turn !== undefined) await endWork(turn, parts.clock, waitMs);
  };
  return {
    get opened() {
      return hold.opened;
    },
    beginTurn,
    ready: (signal) => knowledge.ready(signal),
    fresh: (signal) => knowledge.fresh(signal),
    suggested: async (signal) => {
      if (turn !== undefined) await raceAbort(turn.done, signal);
    },
    failed: notices.fails,
    endTurn,
    close: async () => {
      await endTurn(0);
      knowledge.forget();
      try {
        await hold.close();
      } catch (error) {
        parts.warn(`peers were not let go of in order: ${errorText(error)}`);
      }
    },
  };
}

/** Never rejects: what went wrong was said to the owner. */
function workOfTurn(
  knowledge: Knowledge,
  { engine, notices }: { readonly engine?: SparkEngine; readonly notices: Notices },
): TurnWork {
  const control = new AbortController();
  const { signal } = control;
  const { promise: refreshed, resolve: through } = Promise.withResolvers<void>();
  const work = async (): Promise<void> => {
    try {
      const transport = await knowledge.fresh(signal);
      through();
      await engine?.run(transport, signal);
      notices.works();
    } catch (error) {
      if (!signal.aborted) notices.fails(error);
    } finally {
      through();
    }
  };
  return { refreshed, done: work(), stop: (reason) => control.abort(reason) };
}

async function endWork({ done, stop }: TurnWork, clock: Clock, waitMs: number): Promise<void> {
  if (waitMs > 0 && (await settledWithin(done, { clock, ms: waitMs }, NEVER))) return;
  stop(new AbortedError('the turn is over'));
  await settledWithin(done, { clock, ms: LET_GO_MS }, NEVER);
}

/** When the transport is refreshed: once for everybody who wants what is new at the same time (R4.50, R4.51). */
interface Knowledge {
  /** With what is known: refreshes only when that never went through. Throws when it fails. */
  ready(signal: AbortSignal): Promise<PeerTransport>;
  /** With what is new. Throws when it fails. */
  fresh(signal: AbortSignal): Promise<PeerTransport>;
  forget(): void;
}

interface Running {
  readonly done: Promise<PeerTransport>;
  readonly control: AbortController;
  waiting: number;
}

function createKnowledge(hold: TransportHold, notices: Notices): Knowledge {
  let wasRefreshed = false;
  let running: Running | undefined;
  const refresh = async (signal: AbortSignal): Promise<PeerTransport> => {
    const transport = await hold.get(signal);
    notices.say(await transport.refresh(signal));
    wasRefreshed = true;
    return transport;
  };
  const begin = (): Running => {
    const control = new AbortController();
    const begun: Running = { done: refresh(control.signal), control, waiting: 0 };
    const over = () => {
      if (running === begun) running = undefined;
    };
    begun.done.then(over, over);
    return begun;
  };
  /** A caller's abort ends its own waiting; the refresh ends when nobody waits for it any more. */
  const fresh = async (signal: AbortSignal): Promise<PeerTransport> => {
    running ??= begin();
    const mine = running;
    mine.waiting += 1;
    try {
      return await raceAbort(mine.done, signal);
    } finally {
      mine.waiting -= 1;
      if (mine.waiting === 0) {
        if (running === mine) running = undefined;
        mine.control.abort(new AbortedError('nobody waits for it any more'));
      }
    }
  };
  return {
    fresh,
    ready: (signal) => (wasRefreshed ? hold.get(signal) : fresh(signal)),
    forget: () => {
      wasRefreshed = false;
    },
  };
}

/** The one transport: opened at first use, again after a failed opening or a close; one that comes after the close is closed too. */
interface TransportHold {
  readonly opened: PeerTransport | undefined;
  get(signal: AbortSignal): Promise<PeerTransport>;
  close(): Promise<void>;
}

function holdTransport(open: () => Promise<PeerTransport>): TransportHold {
  let opening: Promise<PeerTransport> | undefined;
  let opened: PeerTransport | undefined;
  const begin = (): Promise<PeerTransport> => {
    const mine = open();
    mine.then(
      (transport) => {
        if (opening === mine) opened = transport;
      },
      () => {
        if (opening === mine) opening = undefined;
      },
    );
    return mine;
  };
  return {
    get opened() {
      return opened;
    },
    get: async (signal) => {
      throwIfAborted(signal);
      opening ??= begin();
      return raceAbort(opening, signal);
    },
    close: async () => {
      const closing = opening;
      [opening, opened] = [undefined, undefined];
      await (await closing)?.close();
    },
  };
}

/** The owner hears each sentence once, and a failure again only after it worked in between; the model never. */
interface Notices {
  say(sentences: readonly string[]): void;
  fails(error: unknown): void;
  works(): void;
}

const MOST = 500;

function createNotices(warn: (problem: string) => void): Notices {
  const said = new Set<string>();
  let failure = '';
  return {
    say: (sentences) => {
      for (const sentence of sentences) {
        if (said.has(sentence)) continue;
        if (said.size >= MOST) said.clear();
        said.add(sentence);
        warn(sentence);
      }
    },
    fails: (error) => {
      const text = ownerText(error);
      if (text !== failure) warn(text);
      failure = text;
    },
    works: () => {
      failure = '';
    },
  };
}

function ownerText(error: unknown): string {
  const fix = error instanceof TalariaError && error.fix !== undefined ? ` ${error.fix}` : '';
  return `peers: ${errorText(error)}.${fix}`.replace(/\.\.(?= |$)/, '.');
}

/** True when the work has settled in time; the work is not touched. Rejects only with the signal's reason. */
export function settledWithin(
  work: Promise<unknown>,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => end(() => reject(signal.reason));
    const cancel = clock.after(Math.max(0, ms), () => end(() => resolve(false)));
    signal.addEventListener('abort', onAbort, { once: true });
    const settled = (): void => end(() => resolve(true));
    work.then(settled, settled);
  });
}
