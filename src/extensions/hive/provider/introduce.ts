// Owns introducing two peers: what both will be told, and what becomes of the suggestion (R4.30, R4.41, R4.42). Knows no tool and no surface.
// Invariant: what is sent is exactly what was drafted, with nothing in it that a reader of the draft cannot see; whoever asks for a yes shows
// the draft.
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { sliceText } from '#base/text.ts';
import { findPeer } from '../peers/find-peer.ts';
import type { Spark, SparkStatus } from '../peers/peer.ts';
import { PeerError } from '../peers/peer-error.ts';
import type { Introduction, KnownPeer, PeerTransport } from '../peers/peer-transport.ts';
import { plainText } from '../peers/plain-text.ts';
import { newSpark, pairKey, pairOf } from '../peers/sparks.ts';

export interface PeerPair {
  readonly a: KnownPeer;
  readonly b: KnownPeer;
}

const CONTEXT_LIMIT = 4_000;

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
  for (const { peer } of [a, b])
    if (peer.status === 'left') throw new PeerError(`${peer.id} has left`, { code: 'peer-left' });
  const why = seen(reason);
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
  const told = [summary?.summary_text ?? '', peer.context].map(seen).find((text) => text !== '');
  return sliceText(told ?? NOTHING_KNOWN, CONTEXT_LIMIT).trim();
}

function seen(text: string): string {
  return plainText(text)
    .replace(/\t/g, '  ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Every word that both will read. */
export function introductionText({ a, b, contextOfA, contextOfB, reason }: Introduction): string {
  const why = reason === undefined ? [] : [`Why: ${reason}`];
  return [`About ${a}: ${contextOfA}`, `About ${b}: ${contextOfB}`, ...why].join('\n');
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

/** How many pending suggestions it was; kept also when there was none, so that the pair is never suggested (hivemind notes 6, B16). */
export async function dismissPair(
  acting: Acting,
  pair: PeerPair,
  signal: AbortSignal,
): Promise<{ readonly matched: number }> {
  const key = pairKey(pair.a.peer.id, pair.b.peer.id);
  const isPending = (spark: Spark) => spark.status === 'pending' && pairOf(spark) === key;
  let matched = 0;
  const count = (sparks: readonly Spark[]) => {
    matched = Math.max(matched, sparks.filter(isPending).length);
  };
  await settlePair(acting, pair, { status: 'dismissed', reason: '', seen: count }, signal);
  return { matched };
}

async function settlePair(
  { transport, clock }: Acting,
  { a, b }: PeerPair,
  to: { readonly status: SparkStatus; readonly reason: string; readonly seen?: (sparks: readonly Spark[]) => void },
  signal: AbortSignal,
): Promise<void> {
  const key = pairKey(a.peer.id, b.peer.id);
  const { status, reason } = to;
  const record = newSpark(clock, [a.peer, b.peer], { reason, confidence: 'low', status, by: 'rule' });
  await transport.changeSparks((sparks) => {
    to.seen?.(sparks);
    const settled = sparks.map((spark) => (pairOf(spark) === key ? { ...spark, status } : spark));
    return settled.some((spark) => pairOf(spark) === key) ? settled : [...settled, record];
  }, signal);
}
