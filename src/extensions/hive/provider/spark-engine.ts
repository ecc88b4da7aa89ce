// Owns the ambient spark engine (seed 004): stale peers are summed up (5+ new messages; notes 4: ten looked at, two written), changed pairs weighed in
// one question, what fits is kept as a suggestion. Knows no model and no protocol. Invariants: one run at a time for a transport; newest traffic
// first, and a peer in which nothing moved is looked at once; one spark a pair for ever (R4.28), and none for two who know each other; what is
// finished is kept; what fails is told once and rests; what the engine remembers is bounded and can be lost; only an abort is thrown; nothing is
// sent to a peer and nobody is introduced.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import { type Clock, isoTime } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { knowEachOther, newSpark, openSparks, pairKey, pairOf } from '../introductions.ts';
import type { KnownPeer, PeerMessage, PeerSummary, PeerTransport, Spark } from '../peer.ts';
import {
  type Infer,
  PAIRS_CAPS,
  PAIRS_PROMPT,
  type Pair,
  pairsInput,
  readPairs,
  readSummary,
  SUMMARY_CAPS,
  SUMMARY_PROMPT,
  type Summarised,
  type SummaryAnswer,
  summaryInput,
} from './spark-questions.ts';

/** New messages that make a summary stale. */
const STALE_AFTER = 5;
const MOST_LOOKED_AT = 10;
const MOST_SUMMARIES = 2;
/** Messages that are read for one summary. */
const WINDOW = 30;
/** What failed rests so long after the first time, twice as long after the second, a day at most. */
const FIRST_REST_MS = 5 * 60_000;
const LONGEST_REST_MS = 24 * 60 * 60_000;

async function writeSummaries(run: EngineRun, signal: AbortSignal): Promise<void> {
  const { transport, memory, clock } = run;
  const known = transport.peers();
  const ids = new Set(known.map(({ peer }) => peer.id));
  for (const kept of [memory.seen, memory.resting]) for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
  for (const one of chooseStale(known, memory, clock.monotonic())) {
    try {
      await writeOne(run, one, signal);
      memory.resting.delete(one.peer.id);
      awaitPairsOf(one.peer.id, transport, memory);
    } catch (error) {
      throwIfAborted(signal);
      rest(run, one);
      run.warn(`${one.peer.id} could not be summed up: ${errorText(error)}`);
    }
  }
}

function chooseStale(known: readonly KnownPeer[], memory: EngineMemory, now: number): readonly KnownPeer[] {
  const lookedAt = known
    .filter((one) => one.peer.status !== 'left' && memory.seen.get(one.peer.id) !== stampOf(one))
    .filter((one) => !rests(one, memory, now))
    .toSorted(newestFirst)
    .slice(0, MOST_LOOKED_AT);
  for (const one of lookedAt) if (!isStale(one)) memory.seen.set(one.peer.id, stampOf(one));
  return lookedAt.filter(isStale).slice(0, MOST_SUMMARIES);
}

/** Differs as soon as there is something new to look at. */
function stampOf({ peer, summary, traffic }: KnownPeer): string {
  return JSON.stringify([peer.context.length, summary?.last_updated ?? null, traffic.sinceSummary, traffic.lastAt]);
}

function isStale({ summary, traffic }: KnownPeer): boolean {
  return summary === undefined || traffic.sinceSummary >= STALE_AFTER;
}

function rests(one: KnownPeer, memory: EngineMemory, now: number): boolean {
  const resting = memory.resting.get(one.peer.id);
  return resting !== undefined && resting.stamp === stampOf(one) && now < resting.until;
}

function rest({ memory, clock }: EngineRun, one: KnownPeer): void {
  const tries = (memory.resting.get(one.peer.id)?.tries ?? 0) + 1;
  memory.resting.set(one.peer.id, { stamp: stampOf(one), tries, until: clock.monotonic() + restAfter(tries) });
}

function restAfter(tries: number): number {
  return Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(tries - 1, 20));
}

function newestFirst(left: KnownPeer, right: KnownPeer): number {
  if (left.traffic.lastAt !== right.traffic.lastAt) return right.traffic.lastAt - left.traffic.lastAt;
  const [a, b] = [left.peer.introduced_at, right.peer.introduced_at];
  if (a !== b) return a < b ? 1 : -1;
  return left.peer.id < right.peer.id ? -1 : 1;
}

async function writeOne(run: EngineRun, known: KnownPeer, signal: AbortSignal): Promise<void> {
  const { transport, clock, infer } = run;
  const { peer } = known;
  const messages = await transport.messages(peer.id, { limit: WINDOW }, signal);
  const input = summaryInput(known, messages);
  const request = { kind: 'summary', system: SUMMARY_PROMPT, input, maxOutputTokens: SUMMARY_CAPS.tokens } as const;
  throwIfAborted(signal);
  const { text, byRule } = await raceAbort(infer(request, signal), signal);
  const answer = readSummary(text);
  if (!answer.ok) throw new TalariaError(answer.detail, { code: answer.reason });
  const made = { last_updated: isoTime(clock.now()), by: byRule ? 'rule' : 'model' } as const;
  await transport.keepSummary(peer.id, { ...nextSummary(known, messages, answer.value), ...made }, signal);
}

/** The bookkeeping from which the next one's time is told: a running total that the window does not bound (notes 6, B5). */
function nextSummary(known: KnownPeer, messages: readonly PeerMessage[], answer: SummaryAnswer) {
  const before = known.summary;
  const newest = messages[0]?.id ?? before?.last_message_id;
  return {
    peer_name: known.peer.name,
    ...answer,
    message_count_at_update: (before?.message_count_at_update ?? 0) + sinceBefore(before, known, messages),
    ...(newest === undefined ? {} : { last_message_id: newest }),
  };
}

/** Exact when the last one counted is among those read. */
function sinceBefore(
  before: PeerSummary | undefined,
  { traffic }: KnownPeer,
  messages: readonly PeerMessage[],
): number {
  const last = before?.last_message_id;
  const found = last === undefined ? -1 : messages.findIndex(({ id }) => id === last);
  return found === -1 ? Math.max(messages.length, traffic.sinceSummary) : found;
}

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
  /** By id of a peer that needed nothing when it was looked at: its stamp then. */
  readonly seen: Map<string, string>;
  /** By id of a peer that could not be summed up; of use only as long as its stamp is the same. `until`: on the monotonic clock, ms. */
  readonly resting: Map<string, { readonly stamp: string; readonly tries: number; readonly until: number }>;
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
  return { seen: new Map(), resting: new Map(), waiting: new Map(), ...NONE, unsaved: [], tail: Promise.resolve() };
}

async function runOnce(run: EngineRun, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  try {
    await writeSummaries(run, signal);
    await storeSparks(run, signal);
    for (let asked = 0; asked < MOST_BY_RULE; asked += 1) if (!(await weighPairs(run, signal))) break;
  } catch (error) {
    throwIfAborted(signal);
    run.warn(`suggestions could not be worked out: ${errorText(error)}`);
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
