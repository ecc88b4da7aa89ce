/** Server and wire at fault (R4.70, R4.72, R4.74): the turn goes on with what is known, and works again after it. Fake ground only. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';
import { verifies } from '../../../verifies.ts';
import type { HiveAgent } from '../agent/hive-agent.ts';
import { namesOf, refuses, send, speaksOfPeersOnly, talkOf } from '../agent/hive-answers.ts';
import { allIntroduced, bobIntroduced, introduceByHand, localpart, NEVER, opaque } from '../agent/hive-scenes.ts';
import { type HiveStage, hasty, type Rows } from '../agent/hive-stage.ts';
import type { WireFault, WireRequest } from '../hive-homeserver.ts';

export function rowsOfFaults(rows: Rows): void {
  if (!rows.ground.isFake) return;
  describe(`faults: ${rows.title}`, () => {
    for (const fault of FAULTS) ofOneFault(rows, fault);
    ofWorseDays(rows);
    ofEncryption(rows);
  });
}

interface Fault {
  readonly name: string;
  readonly fault: WireFault;
  /** What the transport throws. */
  readonly codes: readonly string[];
}

const answer = (status: number, errcode: string, more: Readonly<Record<string, unknown>> = {}): WireFault => ({
  type: 'status',
  status,
  body: JSON.stringify({ errcode, error: 'a room on the homeserver @bob:localhost', ...more }),
  headers: { 'content-type': 'application/json' },
});

const FAULTS: readonly Fault[] = [
  { name: '403', fault: answer(403, 'M_FORBIDDEN'), codes: ['peers-forbidden'] },
  {
    name: '429 with a time to wait',
    fault: answer(429, 'M_LIMIT_EXCEEDED', { retry_after_ms: 20 }),
    codes: ['peers-rate-limited'],
  },
  {
    name: '429 for an hour',
    fault: answer(429, 'M_LIMIT_EXCEEDED', { retry_after_ms: 3_600_000 }),
    codes: ['peers-rate-limited'],
  },
  { name: '500', fault: answer(500, 'M_UNKNOWN'), codes: ['peers-server-error'] },
  {
    name: '502 with a web page',
    fault: {
      type: 'status',
      status: 502,
      body: '<html>Bad gateway of the homeserver</html>',
      headers: { 'content-type': 'text/html' },
    },
    codes: ['peers-server-error'],
  },
  { name: 'a web page', fault: { type: 'html' }, codes: ['peers-bad-response'] },
  { name: 'a reset', fault: { type: 'reset' }, codes: ['peers-unreachable'] },
  { name: 'an expired token', fault: answer(401, 'M_UNKNOWN_TOKEN', { soft_logout: false }), codes: ['peers-auth'] },
  {
    name: 'JSON cut short',
    fault: { type: 'status', status: 200, body: '{"next_batch": "s1', headers: { 'content-type': 'application/json' } },
    codes: ['peers-bad-response'],
  },
  {
    name: 'a JSON list',
    fault: { type: 'status', status: 200, body: '[1,2]', headers: { 'content-type': 'application/json' } },
    codes: ['peers-bad-response'],
  },
  { name: 'an endless wait', fault: { type: 'slow', ms: 20_000 }, codes: ['peers-timeout'] },
];

function ofOneFault({ stage }: Rows, { name, fault, codes }: Fault): void {
  verifies(
    ['R4.72', 'R4.74'],
    `${name}: the turn goes on with the peers that are known, errors are typed and speak of peers, and it heals`,
    stage(async (on) => {
      const { bob: first, carol, room } = await bobIntroduced(on);
      await first.prefetch();
      await first.close();
      const bob = await on.restart(first, { clock: hasty(fault.type === 'slow' ? 20 : 10) });
      await bob.prefetch();
      const heal = on.wire.fail(isOf(bob), fault, Number.POSITIVE_INFINITY);
      speaksOfPeersOnly(await degraded(bob), name);
      assert.deepEqual(await namesOf(bob), [localpart(carol.userId)]);
      await assert.rejects(bob.transport.refresh(NEVER), (error: unknown) => {
        assert.ok(error instanceof PeerError, String(error));
        assert.ok(codes.includes(error.code), `${error.code}: ${error.message}`);
        speaksOfPeersOnly(error.forModel, name);
        assert.ok(!error.message.includes(bob.account.accessToken));
        return true;
      });
      await refuses(bob, ['hivemind_send_to_peer', { peer: opaque(carol), message: 'in a fault' }]);
      await refuses(bob, ['hivemind_check_messages', { peer: opaque(carol) }]);
      heal();
      await bob.prefetch();
      await send(bob, opaque(carol), 'after it');
      const texts = await carol.texts(room);
      assert.ok(texts.includes('after it'));
      assert.ok(texts.filter((text) => text === 'in a fault').length <= (fault.type === 'slow' ? 1 : 0), texts.join());
    }),
  );
}

const isOf =
  (agent: HiveAgent) =>
  ({ headers }: WireRequest): boolean =>
    headers.authorization === `Bearer ${agent.account.accessToken}`;

/** A prefetch that may fail for the host to report, and never breaks the agent. */
async function degraded(agent: HiveAgent): Promise<string> {
  return agent.prefetch().catch((error: unknown) => {
    assert.ok(error instanceof PeerError, String(error));
    return error.forModel;
  });
}

function ofWorseDays({ stage }: Rows): void {
  verifies(
    ['R4.72', 'R4.70', 'R4.57'],
    'a homeserver that is down from the start: tools say so in words for the model, and all is there once it is up',
    stage(async (on) => {
      const { bob: gone, carol } = await bobIntroduced(on);
      const bob = await on.restart(gone, { clock: hasty(10) });
      await on.wire.down();
      await degraded(bob);
      const list = await bob.call('hivemind_list_peers');
      speaksOfPeersOnly(list.text, 'list');
      assert.ok(list.isError || (list.json as { peers: readonly unknown[] }).peers.length === 0, list.text);
      await refuses(bob, ['hivemind_send_to_peer', { peer: opaque(carol), message: 'hello' }]);
      await on.wire.up();
      await bob.prefetch();
      assert.deepEqual(await namesOf(bob), [localpart(carol.userId)]);
    }),
  );

  verifies(
    ['R4.72', 'R4.47', 'R4.46'],
    'a fault at each single request of a turn with an invitation: the next turn has the peer with its context',
    stage(async (on) => {
      const alice = await on.raw('hermes-of-alice');
      let survived = false;
      for (let nth = 1; nth <= 20 && !survived; nth++) {
        const carol = await on.raw(`carol-${nth}`);
        const bob = await on.agent(`bob-${nth}`, { clock: hasty(25) });
        const room = await introduceByHand(alice, [
          [bob, 'Bob'],
          [carol, 'Carol audits.'],
        ]);
        await carol.join(room);
        let count = 0;
        const heal = on.wire.fail(
          (request) => isOf(bob)(request) && ++count >= nth,
          answer(500, 'M_UNKNOWN'),
          Number.POSITIVE_INFINITY,
        );
        await degraded(bob);
        heal();
        survived = count < nth;
        for (let turn = 0; turn < 2; turn++) await bob.prefetch();
        const found = bob.transport.peers().map(({ peer }) => [peer.id, peer.context]);
        assert.deepEqual(found, [[opaque(carol), 'Carol audits.']], `fault from request ${nth} on`);
        const again = await on.restart(bob);
        await again.prefetch();
        assert.deepEqual(
          again.transport.peers().map(({ peer }) => [peer.id, peer.context]),
          found,
          `restart after ${nth}`,
        );
      }
      assert.ok(survived, 'a turn has fewer requests than that');
    }),
  );

  verifies(
    ['R4.72', 'R4.44'],
    'an abort in mid-request ends the turn; what was known is known',
    stage(async (on) => {
      const { bob, carol } = await bobIntroduced(on);
      await bob.prefetch();
      on.wire.fail(isOf(bob), { type: 'slow', ms: 600_000 }, 3);
      await bob.provider.prefetch('hello', AbortSignal.timeout(50)).catch(() => []);
      await assert.rejects(bob.transport.send(opaque(carol), 'x', AbortSignal.timeout(50)));
      assert.deepEqual(
        bob.transport.peers().map(({ peer }) => peer.id),
        [opaque(carol)],
      );
    }),
  );

  verifies(
    ['R4.72', 'R4.58'],
    'B6: a fault while account data are read is not taken for data, and nothing kept is overwritten by it',
    stage(async (on) => {
      const alice = await on.agent('hermes-of-alice', { clock: hasty(10) });
      const { acquainted } = await import('../agent/hive-scenes.ts');
      const { bob, carol, dave } = await acquainted(on, alice, { bob: 'Bob', carol: 'Carol', dave: 'Dave' });
      await alice.call('hivemind_dismiss_spark', { peer_a: bob.name, peer_b: carol.name });
      const heal = on.wire.fail(
        (request) => isOf(alice)(request) && request.method === 'GET' && request.path.includes('account_data'),
        answer(500, 'M_UNKNOWN', { sparks: [] }),
        Number.POSITIVE_INFINITY,
      );
      await alice.call('hivemind_dismiss_spark', { peer_a: bob.name, peer_b: dave.name });
      heal();
      const again = await on.restart(alice);
      await again.prefetch();
      const kept = again.transport.sparks().map((spark) => [spark.peer_a, spark.peer_b].sort().join());
      assert.ok(kept.includes([bob.name, carol.name].sort().join()), kept.join(' | '));
    }),
  );

  verifies(
    ['R4.72', 'R4.37'],
    'a message of a megabyte that comes is shown shortened',
    stage(async (on) => {
      const { bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      const content = { msgtype: 'm.text', body: `begin ${'€'.repeat(1_000_000)}` };
      for (let i = 0; i < 5; i++) on.doors.inject(room, { type: 'm.room.message', sender: carol.userId, content });
      await bob.prefetch();
      const answered = await bob.call('hivemind_check_messages', { peer: opaque(carol) });
      assert.equal(answered.isError, false, answered.text.slice(0, 200));
      assert.ok(answered.text.length < 100_000, String(answered.text.length));
      assert.match(answered.text, /begin €/);
    }),
  );
}

function ofEncryption({ stage, mode }: Rows): void {
  if (!mode.e2ee) {
    verifies(
      ['R4.74', 'R4.36'],
      'e2ee off: a send into an encrypted room is refused, nothing is sent, its peer is listed',
      stage(async (on) => {
        const { alice, bob, carol, room } = await bobIntroduced(on, { encrypted: true });
        await bob.prefetch();
        assert.deepEqual(await namesOf(bob), [localpart(carol.userId)]);
        await refuses(bob, ['hivemind_send_to_peer', { peer: opaque(carol), message: 'in clear?' }]);
        await assert.rejects(bob.transport.send(opaque(carol), 'in clear?', NEVER), { code: 'peers-encryption' });
        assert.ok(!(await alice.texts(room)).includes('in clear?'));
      }),
    );
    return;
  }

  verifies(
    ['R4.74', 'R4.36'],
    'a clear message in an encrypted room is shown as unprotected, and an About in clear gives no context',
    stage(async (on) => {
      const { bob, carol, room } = await bobIntroduced(on, { encrypted: true });
      await carol.say(room, 'in clear');
      await bob.prefetch();
      const [peer] = bob.transport.peers();
      assert.deepEqual([peer?.peer.id, peer?.peer.context, peer?.isProtected], [opaque(carol), '', true]);
      const [message] = await bob.transport.messages(opaque(carol), {}, NEVER);
      assert.equal(message?.state, 'clear');
    }),
  );

  for (const path of ['keys/query', 'keys/claim', 'sendToDevice'])
    verifies(
      ['R4.74', 'R4.36'],
      `encryption that fails at ${path}: an error, and nothing in clear`,
      stage(async (on) => {
        const { alice, bob, carol } = await strangersMeet(on);
        const heal = on.wire.fail(
          (request) => isOf(bob)(request) && request.path.includes(path),
          answer(500, 'M_UNKNOWN'),
          Number.POSITIVE_INFINITY,
        );
        const said = await bob.call('hivemind_send_to_peer', { peer: carol.name, message: 'never in clear' });
        heal();
        assert.ok(!(await on.server.storedText()).includes('never in clear'), said.text);
        await send(bob, carol.name, 'healed');
        await carol.prefetch();
        assert.equal((await talkOf(carol, bob.name))[0], 'healed');
        assert.ok(alice.name.length > 0);
      }),
    );
}

/** Three agents, introduced; Carol has signed in on a second device that Bob never wrote to. */
async function strangersMeet(on: HiveStage): ReturnType<typeof allIntroduced> {
  const scene = await allIntroduced(on);
  const second = await on.open(await on.server.signIn(scene.carol.account), { clock: hasty(10) });
  await second.prefetch();
  await scene.bob.close();
  const bob = await on.restart(scene.bob, { clock: hasty(10) });
  await bob.prefetch();
  return { ...scene, bob };
}
