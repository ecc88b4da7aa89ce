// Owns summaries of peers: whose is stale, what is asked, what is stored (seed 004, peer summarizer: 5+ new messages; notes 4: ten looked at,
// two written). Knows no model and no protocol. Invariants: newest traffic first, and a peer in which nothing moved is looked at once, so
// that the quiet ones have their turn; each is stored before the next; what fails is told once and rests; only an abort is thrown.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import { type Clock, isoTime } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { PeerMessage, PeerSummary } from '../peers/peer.ts';
import type { KnownPeer, PeerTransport } from '../peers/peer-transport.ts';
import type { Infer } from './infer.ts';
import { readSummary, SUMMARY_CAPS, SUMMARY_PROMPT, type SummaryAnswer, summaryInput } from './questions.ts';

/** By id of a peer; of use only as long as its stamp is the same. */
export interface SummaryMemory {
  /** Those that needed nothing when they were looked at. */
  readonly seen: Map<string, string>;
  readonly resting: Map<string, Rest>;
}

interface Rest {
  readonly stamp: string;
  readonly tries: number;
  /** On the monotonic clock, ms. */
  readonly until: number;
}

interface SummaryRun {
  readonly transport: PeerTransport;
  readonly memory: SummaryMemory;
  readonly infer: Infer;
  readonly clock: Clock;
  readonly warn: (problem: string) => void;
}

/** New messages that make a summary stale. */
const STALE_AFTER = 5;
const MOST_LOOKED_AT = 10;
const MOST_SUMMARIES = 2;
/** Messages that are read for one summary. */
const WINDOW = 30;
/** What failed rests so long after the first time, twice as long after the second, a day at most. */
const FIRST_REST_MS = 5 * 60_000;
const LONGEST_REST_MS = 24 * 60 * 60_000;

export function createSummaryMemory(): SummaryMemory {
  return { seen: new Map(), resting: new Map() };
}

/** `onNew` hears the id of each peer whose summary is stored. */
export async function writeSummaries(run: SummaryRun, onNew: (id: string) => void, signal: AbortSignal): Promise<void> {
  const { transport, memory, clock } = run;
  const known = transport.peers();
  const ids = new Set(known.map(({ peer }) => peer.id));
  for (const kept of [memory.seen, memory.resting]) for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
  for (const one of chooseStale(known, memory, clock.monotonic())) {
    try {
      await writeOne(run, one, signal);
      memory.resting.delete(one.peer.id);
      onNew(one.peer.id);
    } catch (error) {
      throwIfAborted(signal);
      rest(run, one);
      run.warn(`${one.peer.id} could not be summed up: ${errorText(error)}`);
    }
  }
}

function chooseStale(known: readonly KnownPeer[], memory: SummaryMemory, now: number): readonly KnownPeer[] {
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

function rests(one: KnownPeer, memory: SummaryMemory, now: number): boolean {
  const resting = memory.resting.get(one.peer.id);
  return resting !== undefined && resting.stamp === stampOf(one) && now < resting.until;
}

function rest({ memory, clock }: SummaryRun, one: KnownPeer): void {
  const tries = (memory.resting.get(one.peer.id)?.tries ?? 0) + 1;
  memory.resting.set(one.peer.id, { stamp: stampOf(one), tries, until: clock.monotonic() + restAfter(tries) });
}

export function restAfter(tries: number): number {
  return Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(tries - 1, 20));
}

function newestFirst(left: KnownPeer, right: KnownPeer): number {
  if (left.traffic.lastAt !== right.traffic.lastAt) return right.traffic.lastAt - left.traffic.lastAt;
  const [a, b] = [left.peer.introduced_at, right.peer.introduced_at];
  if (a !== b) return a < b ? 1 : -1;
  return left.peer.id < right.peer.id ? -1 : 1;
}

async function writeOne(run: SummaryRun, known: KnownPeer, signal: AbortSignal): Promise<void> {
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
