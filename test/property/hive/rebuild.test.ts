/** Whatever happened, in whatever order it was taken in: one sync of a new process gives what the old one knew (R4.61). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import fc from 'fast-check';
import type { HiveAgent } from '../../contract/hive/hive-agent.ts';
import type { HiveRawClient } from '../../contract/hive/hive-raw-client.ts';
import { introduceByHand, opaque, redact } from '../../contract/hive/hive-scenes.ts';
import { HiveStage, OFF, onFake } from '../../contract/hive/hive-stage.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

const ground = { name: 'fake homeserver', isFake: true, start: onFake() };

interface Place {
  readonly room: string;
  readonly creator: HiveRawClient;
  readonly peer: HiveRawClient;
}

const acts = [
  'introduce',
  'say',
  'speak',
  'leave',
  'return',
  'redact',
  'turn',
  'read',
  'send',
  'dismiss',
  'third',
  'kick',
] as const;

const story = fc.array(fc.tuple(fc.constantFrom(...acts), fc.nat(5)), { minLength: 4, maxLength: 24 });

describe('rebuilding from the server', () => {
  verifies(['R4.61', 'R4.14', 'R4.57', 'R4.52'], 'gives the same peers, notes and marks as were known', async () => {
    await fc.assert(
      fc.asyncProperty(story, (steps) =>
        HiveStage.run({ ground, mode: OFF }, async (on) => {
          const bob = await live(on, steps);
          const again = await on.restart(bob, { config: { suggestions: false } });
          await again.prefetch();
          assert.deepEqual(known(again), known(bob));
        }),
      ),
      { numRuns: runs(160) },
    );
  });
});

/** What two processes must agree on. */
function known(agent: HiveAgent): unknown {
  const peers = agent.transport.peers().map(({ peer, summary, traffic, isProtected }) => ({
    peer,
    summary,
    unread: traffic.unread,
    lastAt: traffic.lastAt,
    isProtected,
  }));
  const sparks = [...agent.transport.sparks()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return { peers, sparks };
}

type Steps = readonly (readonly [(typeof acts)[number], number])[];

async function live(on: HiveStage, steps: Steps): Promise<HiveAgent> {
  const alice = await on.raw('hermes-of-alice');
  const bob = await on.agent('hermes-of-bob', { config: { suggestions: false } });
  const places: Place[] = [];
  for (const [act, n] of [['introduce', 0] as const, ...steps]) {
    if (act === 'introduce') places.push(await introduced(on, { alice, bob, places, n }));
    const place = places[n % places.length];
    if (place !== undefined) await doAct(on, { act, bob, place, places });
  }
  await bob.prefetch();
  return bob;
}

interface Introducing {
  readonly alice: HiveRawClient;
  readonly bob: HiveAgent;
  readonly places: readonly Place[];
  readonly n: number;
}

/** Now and then of one who is known already. */
async function introduced(on: HiveStage, { alice, bob, places, n }: Introducing): Promise<Place> {
  const known = n > 3 ? places[0] : undefined;
  const peer = known?.peer ?? (await on.raw(`peer-${places.length}`));
  const room = await introduceByHand(alice, [bob, 'Bob'], [peer, `number ${places.length}`]);
  if (n % 2 === 0) await peer.join(room);
  return { room, creator: alice, peer };
}

interface Act {
  readonly act: (typeof acts)[number];
  readonly bob: HiveAgent;
  readonly place: Place;
  readonly places: readonly Place[];
}

/** What the server does not allow now is not done. */
async function doAct(on: HiveStage, { act, bob, place, places }: Act): Promise<void> {
  const { room, creator, peer } = place;
  const done: Readonly<Record<Act['act'], () => Promise<unknown>>> = {
    introduce: async () => undefined,
    say: () => peer.say(room, 'a word'),
    speak: () => creator.say(room, `About ${peer.userId}: another word`),
    leave: () => peer.leave(room),
    return: async () => {
      await creator.invite(room, peer.userId).catch(() => undefined);
      await peer.join(room);
    },
    redact: async () => {
      const [last] = (await peer.messages(room)).chunk.filter(
        ({ type, sender }) => type === 'm.room.message' && sender === peer.userId,
      );
      if (last !== undefined) await redact(peer, room, last.event_id);
    },
    turn: () => bob.prefetch(),
    read: () => bob.call('hivemind_check_messages', { peer: opaque(peer) }),
    send: () => bob.call('hivemind_send_to_peer', { peer: opaque(peer), message: 'from bob' }),
    dismiss: () =>
      bob.call('hivemind_dismiss_spark', { peer_a: opaque(peer), peer_b: opaque(places[0]?.peer ?? peer) }),
    third: async () => creator.invite(room, (await on.raw(`third-${on.wire.requests().length}`)).userId),
    kick: () => creator.kick(room, peer.userId),
  };
  await done[act]().catch((error: unknown) => assert.match(String(error), /M_FORBIDDEN|invalid/));
}
