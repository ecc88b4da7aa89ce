// Owns introductions: the lines by which two are introduced (`About id: context`, `Why: reason`; seed 004, layer 3), what both will be told, making
// one (R4.30, R4.41, R4.42); and suggestions of them, sparks: how one begins, which can be acted on, how those kept by several processes become
// one list (hivemind notes 3; 6, B2 and B13; R4.28 to R4.30). Knows no tool and no surface. Invariants: what is sent is exactly what was
// drafted; ids tell peers apart, in either order; a pair has one spark for ever, the one that was kept first; a status only goes forward.
import { type Clock, isoTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { sliceText } from '#base/text.ts';
import {
  type Introduction,
  type KnownPeer,
  leftPeer,
  type Peer,
  PeerError,
  type PeerTransport,
  type Spark,
  type SparkStatus,
} from './peer.ts';
import { findPeer, tidyText } from './peer-names.ts';

/** Characters of what is said about a peer. */
const CONTEXT_LIMIT = 4_000;

export function aboutLine(id: string, context: string): string {
  return `About ${id}: ${context}`;
}

/** Every word that both will read. */
export function introductionLines({ a, b, contextOfA, contextOfB, reason = '' }: Introduction): readonly string[] {
  return [aboutLine(a, contextOfA), aboutLine(b, contextOfB), ...(reason === '' ? [] : [`Why: ${reason}`])];
}

/** What `text` says about that one, several lines kept, at most 4,000 characters; undefined when it is about somebody else. */
export function contextIn(text: string, id: string): string | undefined {
  const start = `About ${id}:`;
  const trimmed = text.trimStart();
  return trimmed.startsWith(start) ? sliceText(trimmed.slice(start.length).trim(), CONTEXT_LIMIT) : undefined;
}

/** The same for (a, b) and (b, a). Ids hold no line break. */
export function pairKey(a: string, b: string): string {
  return a < b ? `${a}\n${b}` : `${b}\n${a}`;
}

/** The key of the pair that a spark is about. */
export function pairOf({ peer_a_id, peer_b_id }: Pick<Spark, 'peer_a_id' | 'peer_b_id'>): string {
  return pairKey(peer_a_id, peer_b_id);
}

type Named = Pick<Peer, 'name' | 'id'>;

export function newSpark(
  clock: Clock,
  [a, b]: readonly [Named, Named],
  about: Pick<Spark, 'reason' | 'confidence' | 'status' | 'by'>,
): Spark {
  return {
    id: randomHex(4),
    peer_a: a.name,
    peer_b: b.name,
    peer_a_id: a.id,
    peer_b_id: b.id,
    ...about,
    created_at: isoTime(clock.now()),
  };
}

export function openSparks(peers: readonly KnownPeer[], sparks: readonly Spark[]): readonly Spark[] {
  const here = new Map(peers.flatMap((known) => (known.peer.status === 'left' ? [] : [[known.peer.id, known]])));
  return sparks.filter(({ status, peer_a_id, peer_b_id }) => {
    const [a, b] = [here.get(peer_a_id), here.get(peer_b_id)];
    return status === 'pending' && a !== undefined && b !== undefined && !knowEachOther(a, b);
  });
}

/** Whoever introduced somebody to us knows both. */
export function knowEachOther(a: KnownPeer, b: KnownPeer): boolean {
  return a.introducedById === b.peer.id || b.introducedById === a.peer.id;
}

const RANK: Readonly<Record<SparkStatus, number>> = { pending: 0, dismissed: 1, executed: 2 };

/** `kept` is what everybody sees already; of `changed` new pairs and later statuses count. */
export function mergeSparks(kept: readonly Spark[], changed: readonly Spark[]): readonly Spark[] {
  const byPair = new Map<string, Spark>();
  for (const spark of [...kept, ...changed]) {
    const key = pairOf(spark);
    const known = byPair.get(key);
    if (known === undefined) byPair.set(key, spark);
    else if (RANK[spark.status] > RANK[known.status]) byPair.set(key, { ...known, status: spark.status });
  }
  return [...byPair.values()];
}

/** Whether everything in `wanted` is in `kept`, at least as far along. */
export function holdsSparks(kept: readonly Spark[], wanted: readonly Spark[]): boolean {
  const ranks = new Map(kept.map((spark) => [pairOf(spark), RANK[spark.status]]));
  return wanted.every((spark) => (ranks.get(pairOf(spark)) ?? -1) >= RANK[spark.status]);
}

export interface PeerPair {
  readonly a: KnownPeer;
  readonly b: KnownPeer;
}

/** Throws `peer-unknown` or `peer-ambiguous`, also for twice the same. */
export function findPair(peers: readonly KnownPeer[], askedA: string, askedB: string): PeerPair {
  const a = findPeer(peers, askedA);
  const b = findPeer(peers, askedB);
  if (a.peer.id !== b.peer.id) return { a, b };
  const text = 'both names are the same peer; it takes two';
  throw new PeerError(text, { code: 'peer-ambiguous', forModel: text, fix: 'Name two different peers.' });
}

/** Summary of each, else what we were told about it. Throws `peer-left`. */
export function draftIntroduction({ a, b }: PeerPair, reason = ''): Introduction {
  for (const { peer } of [a, b]) if (peer.status === 'left') throw leftPeer(peer.id);
  const why = tidyText(reason);
  return {
    a: a.peer.id,
    b: b.peer.id,
    contextOfA: contextOf(a),
    contextOfB: contextOf(b),
    ...(why === '' ? {} : { reason: why }),
  };
}

/** Both are told when there is nothing to tell. */
const NOTHING_KNOWN = '(nothing is known yet)';

function contextOf({ peer, summary }: KnownPeer): string {
  const told = [summary?.summary_text ?? '', peer.context].map(tidyText).find((text) => text !== '');
  return sliceText(told ?? NOTHING_KNOWN, CONTEXT_LIMIT).trim();
}

export interface Acting {
  readonly transport: PeerTransport;
  readonly clock: Clock;
  /** One sentence for the owner. */
  readonly warn: (problem: string) => void;
}

/** The pair is introduced when this resolves, whether or not it could be noted; a suggestion of it is done for ever. */
export async function introducePair(
  acting: Acting,
  pair: PeerPair,
  introduction: Introduction,
  signal: AbortSignal,
): Promise<void> {
  await acting.transport.introduce(introduction, signal);
  try {
    await settlePair(acting, pair, { status: 'executed', reason: introduction.reason ?? '' }, signal);
  } catch (error) {
    acting.warn(`peers: the introduction was made, but could not be noted: ${errorText(error)}`);
  }
}

/** `matched`: how many pending suggestions it was; kept also when there was none, so that the pair is never suggested (hivemind notes 6, B16). */
export async function dismissPair(acting: Acting, pair: PeerPair, signal: AbortSignal) {
  return { matched: await settlePair(acting, pair, { status: 'dismissed', reason: '' }, signal) };
}

/** Gives how many suggestions of the pair were pending. */
async function settlePair(
  { transport, clock }: Acting,
  { a, b }: PeerPair,
  { status, reason }: { readonly status: SparkStatus; readonly reason: string },
  signal: AbortSignal,
): Promise<number> {
  const key = pairKey(a.peer.id, b.peer.id);
  const isThis = (spark: Spark) => pairOf(spark) === key;
  const record = newSpark(clock, [a.peer, b.peer], { reason, confidence: 'low', status, by: 'rule' });
  let pending = 0;
  await transport.changeSparks((sparks) => {
    pending = Math.max(pending, sparks.filter((spark) => isThis(spark) && spark.status === 'pending').length);
    const settled = sparks.map((spark) => (isThis(spark) ? { ...spark, status } : spark));
    return settled.some(isThis) ? settled : [...settled, record];
  }, signal);
  return pending;
}
