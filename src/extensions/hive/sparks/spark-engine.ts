// Owns the ambient spark engine (seed 004): stale peers are summed up, changed pairs weighed in one question, what fits is kept as a
// suggestion. Knows no model (infer.ts) and no protocol (PeerTransport). Invariants: one run at a time for a transport; one question a run
// about pairs, to a model; one spark a pair for ever (R4.28), and none for two who know each other; what is finished is kept; what the engine
// remembers is bounded and can be lost; only an abort is thrown; nothing is sent to a peer and nobody is introduced.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { Spark } from '../peers/peer.ts';
import type { KnownPeer, PeerTransport } from '../peers/peer-transport.ts';
import { knowEachOther, newSpark, openSparks, pairKey, pairOf } from '../peers/sparks.ts';
import type { Infer } from './infer.ts';
import { PAIRS_CAPS, PAIRS_PROMPT, type Pair, pairsInput, readPairs, type Summarised } from './questions.ts';
import { createSummaryMemory, restAfter, type SummaryMemory, writeSummaries } from './summaries.ts';

export interface SparkEngine {
  /**
   * Call it after `refresh`. Ends when everything that this run may do is done; a run that is under way for the same transport is waited
   * for first. Rejects with the signal's reason when aborted, and never else.
   */
  run(transport: PeerTransport, signal: AbortSignal): Promise<void>;
}

export interface EngineParts {
  readonly infer: Infer;
  readonly clock: Clock;
  /** One sentence for the owner. */
  readonly warn: (problem: string) => void;
}

/** What is remembered of one transport between two runs: it only saves asking again. */
interface EngineMemory {
  readonly summaries: SummaryMemory;
  /** Pairs that are still to be weighed, by key: ids. */
  readonly waiting: Map<string, readonly [string, string]>;
  /** Questions about pairs that got no answer, one after the other, and when the next may be asked: on the monotonic clock, ms. */
  unanswered: { readonly tries: number; readonly until: number };
  /** Found, and not yet stored. */
  readonly unsaved: Spark[];
  /** Settles, never rejects, when the run under way is over. */
  tail: Promise<void>;
}

interface EngineRun extends EngineParts {
  readonly transport: PeerTransport;
  readonly memory: EngineMemory;
}

const MOST_WAITING = 2_000;
/** Suggestions that may wait for the owner; with more, no pair is weighed. */
const MOST_PENDING = 100;
/** Rules cost nothing: so many questions a run. */
const MOST_BY_RULE = 10;

export function createSparkEngine(parts: EngineParts): SparkEngine {
  const memories = new WeakMap<PeerTransport, EngineMemory>();
  return {
    run: async (transport, signal) => {
      const memory = memories.get(transport) ?? newMemory();
      memories.set(transport, memory);
      throwIfAborted(signal);
      const before = memory.tail;
      const turn = before.then(() => runOnce({ ...parts, transport, memory }, signal));
      memory.tail = turn.catch(() => undefined);
      await raceAbort(before, signal);
      await turn;
    },
  };
}

const NONE = { unanswered: { tries: 0, until: 0 } };

function newMemory(): EngineMemory {
  return { summaries: createSummaryMemory(), waiting: new Map(), ...NONE, unsaved: [], tail: Promise.resolve() };
}

async function runOnce(run: EngineRun, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  const { transport, memory, warn } = run;
  try {
    await writeSummaries({ ...run, memory: memory.summaries }, (id) => awaitPairsOf(id, transport, memory), signal);
    await storeSparks(run, signal);
    for (let asked = 0; asked < MOST_BY_RULE; asked += 1) if (!(await weighPairs(run, signal))) break;
  } catch (error) {
    throwIfAborted(signal);
    warn(`suggestions could not be worked out: ${errorText(error)}`);
  }
}

/** The peer with this id was summed up anew: it may fit anybody else. */
function awaitPairsOf(id: string, transport: PeerTransport, { waiting }: EngineMemory): void {
  for (const { peer } of transport.peers())
    if (peer.id !== id && waiting.size < MOST_WAITING) waiting.set(pairKey(id, peer.id), [id, peer.id]);
}

/** One question, about as many pairs as it holds. True when the rules answered it, and may be asked for more at once. */
async function weighPairs(run: EngineRun, signal: AbortSignal): Promise<boolean> {
  const { transport, memory, warn, clock } = run;
  const pairs = pairsToWeigh(transport, memory);
  const pending = openSparks(transport.peers(), [...transport.sparks(), ...memory.unsaved]).length;
  const { tries, until } = memory.unanswered;
  if (pairs.length === 0 || pending >= MOST_PENDING || clock.monotonic() < until) return false;
  const input = pairsInput(pairs);
  const asked = pairs.slice(0, input.pairs.length);
  const request = { kind: 'spark', system: PAIRS_PROMPT, input, maxOutputTokens: PAIRS_CAPS.tokens } as const;
  throwIfAborted(signal);
  try {
    const { text, byRule } = await raceAbort(run.infer(request, signal), signal);
    const found = readPairs(text, asked.length);
    if (!found.ok) throw new TalariaError(found.detail, { code: found.reason });
    memory.unanswered = NONE.unanswered;
    for (const [a, b] of asked) memory.waiting.delete(pairKey(a.peer.id, b.peer.id));
    for (const { pair, ...about } of found.value) {
      const [a, b] = asked[pair - 1] ?? [];
      if (a && b) memory.unsaved.push(newSpark(clock, [a.peer, b.peer], { ...about, ...pendingBy(byRule) }));
    }
    await storeSparks(run, signal);
    return byRule;
  } catch (error) {
    throwIfAborted(signal);
    memory.unanswered = { tries: tries + 1, until: clock.monotonic() + restAfter(tries + 1) };
    warn(`peers could not be weighed: ${errorText(error)}`);
    return false;
  }
}

function pendingBy(byRule: boolean): Pick<Spark, 'status' | 'by'> {
  return { status: 'pending', by: byRule ? 'rule' : 'model' };
}

/** Those of two who are there and summed up, have no spark of any status, and do not know each other; no other pair waits on. */
function pairsToWeigh(transport: PeerTransport, { waiting, unsaved }: EngineMemory): readonly Pair[] {
  const settled = new Set([...transport.sparks(), ...unsaved].map(pairOf));
  const peers = new Map(transport.peers().flatMap((known) => (isThere(known) ? [[known.peer.id, known]] : [])));
  const pairs: Pair[] = [];
  for (const [key, [left, right]] of waiting) {
    const [a, b] = [peers.get(left), peers.get(right)];
    if (a === undefined || b === undefined || settled.has(key) || knowEachOther(a, b)) waiting.delete(key);
    else pairs.push(a.peer.id < b.peer.id ? [a, b] : [b, a]);
  }
  return pairs;
}

function isThere(known: KnownPeer): known is Summarised {
  return known.summary !== undefined && known.peer.status !== 'left';
}

/** What cannot be stored waits for the next run. */
async function storeSparks({ transport, memory, warn }: EngineRun, signal: AbortSignal): Promise<void> {
  const found = [...memory.unsaved];
  if (found.length === 0) return;
  try {
    await transport.changeSparks((kept) => withNew(kept, found), signal);
    memory.unsaved.splice(0, found.length);
  } catch (error) {
    throwIfAborted(signal);
    warn(`suggestions could not be stored: ${errorText(error)}`);
  }
}

/** Another process, or the owner, may have settled the pair meanwhile. */
function withNew(kept: readonly Spark[], found: readonly Spark[]): readonly Spark[] {
  const settled = new Set(kept.map(pairOf));
  return [...kept, ...found.filter((spark) => !settled.has(pairOf(spark)))];
}
