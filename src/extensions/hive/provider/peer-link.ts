// Owns the provider's hold on its transport: opened at first use, refreshed once a turn, the spark engine after it (seed 004, on-demand).
// Knows no protocol and no tool. Invariants: nothing runs between turns; what fails is said to the owner once and never breaks a turn (R4.25).
import { AbortedError, raceAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import type { PeerTransport } from '../peers/peer-transport.ts';
import type { SparkEngine } from '../sparks/spark-engine.ts';
import { createKnowledge, type Knowledge } from './knowledge.ts';
import { createNotices, type Notices } from './notices.ts';
import { settledWithin } from './settle-within.ts';
import { holdTransport } from './transport-hold.ts';

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
