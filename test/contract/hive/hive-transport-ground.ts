/** What a suite over PeerTransport stands on: agents that can reach each other, and the small acts by which they come to know each other; with both switches on as well. */

import { join } from 'node:path';
import { test } from 'node:test';
import { openAccountDataCipher } from '#extensions/hive/crypto/account-data-key.ts';
import { openMachineCrypto } from '#extensions/hive/crypto/machine-crypto.ts';
import type { MatrixHttp } from '#extensions/hive/matrix/matrix-http.ts';
import type { MatrixParts } from '#extensions/hive/matrix/matrix-transport.ts';
import type { KnownPeer, PeerMessage, PeerSummary, PeerTransport, Spark } from '#public/peers.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { realClock } from '../../ground.ts';
import { verifies } from '../../verifies.ts';
import type { TestAccount } from './hive-stage.ts';

export interface HiveTransportGround {
  /**
   * A handle of the agent of that name (`alice`, `bob`, …), who is there from its first call on. Called again it is another handle of the
   * same agent: after a `close` a restart, before one a second process.
   */
  start(name: string): Promise<PeerTransport>;
  /** Breaks the connection of everybody until the returned function is called. */
  breakNetwork(): Promise<() => Promise<void>>;
  /** The agent goes away from what connects it with that peer, for good. Absent where a test cannot make it. */
  leave?(name: string, peerId: string): Promise<void>;
  /** Closes every handle that is still open, too. */
  close(): Promise<void>;
}

/** `test` and `verifies` whose bodies get a ground of their own, which is closed after them. */
export interface GroundTests {
  readonly test: (name: string, body: (ground: HiveTransportGround) => Promise<void>) => void;
  readonly verifies: (
    ids: string | readonly string[],
    name: string,
    body: (ground: HiveTransportGround) => Promise<void>,
  ) => void;
}

export function testsOnGround(make: () => Promise<HiveTransportGround>): GroundTests {
  const run = (body: (ground: HiveTransportGround) => Promise<void>) => async () => {
    const ground = await make();
    try {
      await body(ground);
    } finally {
      await ground.close();
    }
  };
  return {
    test: (name, body) => void test(name, run(body)),
    verifies: (ids, name, body) => verifies(ids, name, run(body)),
  };
}

export const NEVER = new AbortController().signal;

export const CONTEXT_OF_BOB = 'Bob builds compilers and needs a security audit';

export const CONTEXT_OF_CAROL = 'Carol specializes in TEE\nattestation and security audits';

/** Alice has made contact with everybody named, and everybody has taken it in. */
export async function aliceKnows(ground: HiveTransportGround, names: readonly string[]): Promise<PeerTransport> {
  const alice = await ground.start('alice');
  for (const name of names) {
    const other = await ground.start(name);
    await alice.contact({ id: other.selfId, context: `${name}, met at work`, about: 'Alice knows people' }, NEVER);
    await other.refresh(NEVER);
    await other.close();
  }
  await alice.refresh(NEVER);
  return alice;
}

export interface Three {
  readonly alice: PeerTransport;
  readonly bob: PeerTransport;
  readonly carol: PeerTransport;
}

/** Alice has introduced Bob and Carol, and both have taken it in. */
export async function introduced(ground: HiveTransportGround): Promise<Three> {
  const alice = await aliceKnows(ground, ['bob', 'carol']);
  const bob = await ground.start('bob');
  const carol = await ground.start('carol');
  await introduceThem({ alice, bob, carol });
  for (const transport of [bob, carol, bob, alice]) await transport.refresh(NEVER);
  return { alice, bob, carol };
}

export async function introduceThem({ alice, bob, carol }: Three): Promise<void> {
  await alice.introduce(
    {
      a: bob.selfId,
      b: carol.selfId,
      contextOfA: CONTEXT_OF_BOB,
      contextOfB: CONTEXT_OF_CAROL,
      reason: 'Carol can audit what Bob builds',
    },
    NEVER,
  );
}

export function known(transport: PeerTransport, id: string): KnownPeer {
  const found = transport.peers().find(({ peer }) => peer.id === id);
  if (found === undefined) throw new Error(`${transport.selfId} does not know ${id}`);
  return found;
}

export function peerIds(transport: PeerTransport): readonly string[] {
  return transport.peers().map(({ peer }) => peer.id);
}

/** What the two said to each other, without the lines by which somebody was introduced. */
export function said(messages: readonly PeerMessage[], transport: PeerTransport, id: string): readonly PeerMessage[] {
  return messages
    .filter(({ fromId }) => fromId === id || fromId === transport.selfId)
    .filter(({ text }) => !/^(?:About|Why)\b/.test(text));
}

export async function textsWith(transport: PeerTransport, id: string): Promise<readonly string[]> {
  const messages = await transport.messages(id, { limit: 50 }, NEVER);
  return said(messages, transport, id).map(({ text }) => text);
}

export function summaryOf(name: string, change: Partial<PeerSummary> = {}): PeerSummary {
  return {
    peer_name: name,
    needs: ['a security audit'],
    offers: ['compilers — 東京'],
    expertise: ['parsing'],
    summary_text: `${name} builds compilers`,
    last_updated: '2026-04-03T20:00:00.000Z',
    message_count_at_update: 0,
    by: 'rule',
    ...change,
  };
}

export function sparkOf(a: string, b: string, change: Partial<Spark> = {}): Spark {
  const name = (id: string) => id.slice(0, id.lastIndexOf('@'));
  return {
    id: '0123abcd',
    peer_a: name(a),
    peer_b: name(b),
    peer_a_id: a,
    peer_b_id: b,
    reason: 'the one needs what the other offers',
    confidence: 'medium',
    created_at: '2026-04-03T20:00:00.000Z',
    status: 'pending',
    by: 'rule',
    ...change,
  };
}

type Parts = Pick<MatrixParts, 'crypto' | 'cipher'>;

type MakeGround = (
  partsOf: (name: string, account: TestAccount, http: MatrixHttp) => Parts,
) => Promise<HiveTransportGround>;

/** The ground that `make` gives with such parts; its folder goes with it. */
export async function withSealedParts(make: MakeGround): Promise<HiveTransportGround> {
  const home = createTempHome();
  const ground = await make((name, account, http) => sealedParts(join(home.path, name), account, http));
  const close = async () => {
    await ground.close();
    home.remove();
  };
  return { ...ground, close };
}

function sealedParts(folder: string, { userId, deviceId }: TestAccount, http: MatrixHttp): Parts {
  const options = { http, userId, deviceId, folder, clock: realClock, warn: () => undefined };
  return { crypto: () => openMachineCrypto(options), cipher: openAccountDataCipher(folder) };
}
