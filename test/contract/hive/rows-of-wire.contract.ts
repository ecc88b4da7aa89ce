/** What goes over the wire and when, and a server and a wire at fault (R4.2, R4.3, R4.38 to R4.50, R4.61, R4.66, R4.70, R4.72, R4.74). Fake ground only. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PeerError } from '#public/peers.ts';
import { hasty } from '../../ground.ts';
import type { HiveAgent } from './hive-agent.ts';
import { inferring } from './hive-agent.ts';
import {
  acquainted,
  allIntroduced,
  bobIntroduced,
  introduceByHand,
  listed,
  localpart,
  NEVER,
  namesOf,
  OF_BOB,
  OF_CAROL,
  opaque,
  peersOf,
  refuses,
  roomOf,
  send,
  speaksOfPeersOnly,
  talkOf,
} from './hive-scenes.ts';
import type { HiveStage, Rows, WireFault, WireRequest } from './hive-stage.ts';

export function rowsOfSync(rows: Rows): void {
  if (!rows.ground.isFake) return;
  describe(`the wire: ${rows.title}`, () => {
    ofOneTurn(rows);
    ofRequests(rows);
    ofInvitations(rows);
  });
}

/** What the agent itself asked since the log was cleared. */
export function askedBy(on: HiveStage, agent: HiveAgent): readonly WireRequest[] {
  const bearer = `Bearer ${agent.account.accessToken}`;
  return on.wire.requests().filter(({ headers }) => headers.authorization === bearer);
}

/** Without what encryption needs: keys, and once whose device this is. */
const plain = (requests: readonly WireRequest[]): readonly WireRequest[] =>
  requests.filter(({ path }) => !/\/v3\/(?:keys\/|sendToDevice\/|account\/whoami$)/.test(path));

function ofOneTurn({ verifies }: Rows): void {
  verifies(['R4.43', 'R4.44', 'R4.45', 'R4.50', 'R4.61'], 'a turn without news is one request', async (on) => {
    const { bob, carol } = await bobIntroduced(on);
    for (let turn = 0; turn < 3; turn++) await bob.prefetch();
    on.wire.clear();
    await bob.prefetch();
    const asked = askedBy(on, bob);
    assert.deepEqual(
      asked.map(({ method, path }) => `${method} ${path}`),
      ['GET /_matrix/client/v3/sync'],
    );
    assert.equal(asked[0]?.query.timeout, '0');
    assert.match(asked[0]?.query.since ?? '', /./);
    await listed(bob);
    await bob.call('hivemind_get_peer_info', { peer: localpart(carol.userId) });
    await pause(300);
    assert.equal(askedBy(on, bob).length, 1);
  });

  verifies(['R4.45', 'R4.57'], 'the first sync has no position, each later one that of the one before', async (on) => {
    const bob = await on.agent('hermes-of-bob');
    for (let turn = 0; turn < 3; turn++) await bob.prefetch();
    const syncs = askedBy(on, bob).filter(({ path }) => path.endsWith('/sync'));
    assert.equal(syncs.length, 3);
    assert.deepEqual(
      syncs.map(({ query }) => query.since === undefined),
      [true, false, false],
    );
    assert.deepEqual(
      syncs.map(({ query }) => query.timeout),
      ['0', '0', '0'],
    );
  });

  verifies(
    ['R4.46', 'R4.47', 'R4.66', 'R4.38', 'R4.49', 'R4.2'],
    'after an invitation: join, read messages, keep the peer, in one turn and this order; then the engine',
    async (on) => {
      let requestsAtQuestion = Number.NaN;
      const { bob, room, carol } = await bobIntroduced(on);
      const engine = await on.open(bob.account, {
        infer: async () => {
          requestsAtQuestion = on.wire.requests().length;
          return undefined;
        },
      });
      bob.kill();
      on.wire.clear();
      await engine.prefetch();
      assert.deepEqual(await namesOf(engine), [localpart(carol.userId)]);
      const asked = on.wire.requests();
      const at = (method: string, path: string): number => {
        const index = asked.findIndex(
          (request) => request.method === method && request.path === `/_matrix/client/v3${path}`,
        );
        assert.ok(
          index >= 0,
          `${method} ${path} in ${asked.map((request) => `${request.method} ${request.path}`).join('\n')}`,
        );
        return index;
      };
      const escaped = encodeURIComponent(room);
      const user = encodeURIComponent(bob.userId);
      const order = [
        at('GET', '/sync'),
        at('POST', `/join/${escaped}`),
        at('GET', `/rooms/${escaped}/messages`),
        at('PUT', `/user/${user}/rooms/${escaped}/account_data/social.awareness.peer`),
      ];
      assert.deepEqual(
        order,
        [...order].sort((a, b) => a - b),
      );
      assert.ok(requestsAtQuestion > (order.at(-1) ?? 0), 'the engine asks after the peer is kept');
      const [join] = asked.filter(({ path }) => path.includes('/join/'));
      assert.equal(join?.body, '{}');
      assert.match(String(join?.headers['content-type']), /^application\/json/);
      assert.equal(asked.find(({ path }) => path.endsWith('/messages'))?.query.dir, 'b');
    },
  );

  verifies(['R4.61', 'R4.57', 'R4.50', 'R4.53'], 'H5: after a restart one sync rebuilds everything', async (on) => {
    const { bob, carol } = await bobIntroduced(on);
    await bob.prefetch();
    on.wire.clear();
    const again = await on.restart(bob);
    await again.prefetch();
    assert.deepEqual(
      (await peersOf(again)).map(({ id, context }) => [id, context]),
      [[opaque(carol), OF_CAROL]],
    );
    const asked = plain(askedBy(on, bob));
    assert.deepEqual(
      asked.map(({ method, path }) => `${method} ${path}`),
      ['GET /_matrix/client/v3/sync'],
    );
    assert.equal(asked[0]?.query.since, undefined);
  });
}

const ENDPOINTS =
  /^\/_matrix\/client\/(?:versions|v3\/(?:sync|createRoom|account\/whoami|login|join\/[^/]+|rooms\/[^/]+\/(?:leave|invite|members|joined_members|state(?:\/.*)?|messages|event\/[^/]+|send\/[^/]+\/[^/]+)|user\/[^/]+(?:\/rooms\/[^/]+)?\/account_data\/[^/]+|user\/[^/]+\/filter|keys\/(?:upload|query|claim)|sendToDevice\/[^/]+\/[^/]+))$/;

function ofRequests({ verifies }: Rows): void {
  verifies(['R4.3', 'R4.66', 'R4.67', 'R4.68'], 'H9: every request is a standard one, escaped', async (on) => {
    const { alice, bob } = await allIntroduced(on);
    await bob.transport.examine(AbortSignal.timeout(30_000));
    const asked = [...askedBy(on, alice), ...askedBy(on, bob)];
    assert.ok(asked.length > 10);
    for (const { method, path, body, headers, query } of asked) {
      assert.match(path, ENDPOINTS);
      assert.doesNotMatch(path, /[@:]/);
      assert.equal(query.access_token, undefined);
      if (method !== 'GET') {
        assert.match(String(headers['content-type']), /^application\/json/, `${method} ${path}`);
        assert.equal(body.startsWith('{'), true, `${method} ${path}`);
      }
    }
    const sends = asked
      .filter(({ method, path }) => method === 'PUT' && path.includes('/send/'))
      .map(({ path }) => path);
    assert.equal(new Set(sends).size, sends.length, 'transaction ids are unique');
  });

  verifies(['R4.72', 'R4.36'], 'a message whose answer was lost is sent again and arrives once', async (on) => {
    const { bob, carol, room } = await bobIntroduced(on);
    await bob.prefetch();
    on.wire.clear();
    on.wire.fail(({ method, path }) => method === 'PUT' && path.includes('/send/'), { type: 'lost-answer' });
    const answer = await bob.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'only once' });
    assert.equal(answer.isError, false, answer.text);
    const sends = askedBy(on, bob).filter(({ path }) => path.includes('/send/'));
    assert.equal(sends.length, 2);
    assert.equal(new Set(sends.map(({ path }) => path)).size, 1);
    assert.deepEqual(
      (await carol.texts(room)).filter((text) => text === 'only once'),
      ['only once'],
    );
  });

  verifies(['R4.72', 'R4.41'], 'an introduction that broke is finished by the same words, in one room', async (on) => {
    const alice = await on.agent('hermes-of-alice');
    const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
    const args = { peer_a: bob.name, peer_b: carol.name, reason: 'they get on' };
    let sent = 0;
    const heal = on.wire.fail(
      ({ method, path }) => method === 'PUT' && path.includes('/send/') && ++sent > 1,
      { type: 'status', status: 403, body: '{"errcode":"M_FORBIDDEN","error":"no"}' },
      Number.POSITIVE_INFINITY,
    );
    assert.equal((await alice.call('hivemind_introduce_peers', args)).isError, true);
    heal();
    const answer = await alice.call('hivemind_introduce_peers', args);
    assert.equal(answer.isError, false, answer.text);
    const raw = on.rawOf(alice);
    const room = await roomOf(raw, [alice, bob, carol]);
    const lines = on.doors
      .timeline(room)
      .filter((event) => event.sender === alice.userId && event.state_key === undefined);
    assert.equal(lines.length, 3, JSON.stringify(lines.map(({ content }) => content)));
  });
}

function ofInvitations({ verifies, mode }: Rows): void {
  const join = { enabled: true, allow: [], deny: [], per_turn: 10 };

  verifies(['R4.46', 'R4.72'], 'B7: an invitation that could not be accepted is tried again', async (on) => {
    const { bob, carol } = await bobIntroduced(on);
    const heal = on.wire.fail(
      ({ path }) => path.includes('/join/'),
      { type: 'status', status: 403, body: '{"errcode":"M_FORBIDDEN","error":"not yet"}' },
      100,
    );
    await bob.prefetch();
    assert.deepEqual(await namesOf(bob), []);
    heal();
    await bob.prefetch();
    assert.deepEqual(await namesOf(bob), [localpart(carol.userId)]);
  });

  verifies(['R4.46', 'R4.44'], 'B15: invitations in bulk are accepted a few a turn, none is lost', async (on) => {
    const alice = await on.raw('hermes-of-alice');
    const bob = await on.agent('hermes-of-bob', { config: { join } });
    const expected = Array.from({ length: 23 }, (_, i) => on.doors.addAccount(`bulk-${String(i).padStart(2, '0')}`));
    for (const account of expected)
      on.doors.addRoom({
        creator: alice.userId,
        invite: [bob.userId],
        join: [account.userId],
        messages: [`About ${account.userId}: one of many`],
      });
    const known: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      on.wire.clear();
      await bob.prefetch();
      const joins = askedBy(on, bob).filter(({ path }) => path.includes('/join/')).length;
      assert.ok(joins <= 10, `${joins} in one turn`);
      known.push((await peersOf(bob)).length);
    }
    assert.deepEqual(known, [10, 20, 23]);
    assert.ok((await peersOf(bob)).every(({ context }) => context === 'one of many'));
  });

  verifies(['R4.46', 'R4.73'], 'B15: who may introduce is the owner’s choice', async (on) => {
    const [alice, mallory] = [await on.raw('hermes-of-alice'), await on.raw('mallory')];
    const [carol, dave] = [await on.raw('hermes-of-carol'), await on.raw('hermes-of-dave')];
    const account = await on.server.register('hermes-of-bob');
    const ways = [
      { ...join, deny: ['mallory@*'] },
      { ...join, allow: ['hermes-of-*@*'] },
      { ...join, allow: ['*@localhost*'], deny: ['mal*@*'] },
      { ...join, enabled: false },
    ];
    await introduceByHand(mallory, [account, 'Bob'], [dave, 'Dave is a bank.']);
    await introduceByHand(alice, [account, 'Bob'], [carol, OF_CAROL]);
    const known: (readonly string[])[] = [];
    for (const way of [...ways].reverse()) {
      const bob = await on.open(account, { config: { join: way } });
      await bob.prefetch();
      known.push(await namesOf(bob));
      if (mode.e2ee) await bob.close();
      bob.kill();
    }
    const carolAlone = [localpart(carol.userId)];
    assert.deepEqual(known, [[], carolAlone, carolAlone, carolAlone]);
  });

  verifies(['R4.38', 'R4.39', 'R4.40', 'R4.22', 'R4.23'], 'B19: notes lie under four keys', async (on) => {
    const { bob, carol, room } = await bobIntroduced(on);
    const engine = await on.restart(bob, { infer: inferring({ TEE: { needs: ['sleep'], summary_text: 'Carol' } }) });
    await engine.prefetch();
    await carol.say(room, 'hello');
    await engine.prefetch();
    await engine.call('hivemind_check_messages', { peer: opaque(carol) });
    const asked = askedBy(on, bob);
    const user = encodeURIComponent(bob.userId);
    const inRoom = `/_matrix/client/v3/user/${user}/rooms/${encodeURIComponent(room)}/account_data/social.awareness`;
    const put = new Set(
      asked.filter(({ method, path }) => method === 'PUT' && path.includes('account_data')).map(({ path }) => path),
    );
    assert.deepEqual([...put].sort(), [`${inRoom}.peer`, `${inRoom}.read`, `${inRoom}.summary`]);
    for (const { query } of asked.filter(({ path }) => path.endsWith('/sync')))
      assert.doesNotMatch(query.filter ?? '', /"rooms":\s*\[/);
  });
}

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

function ofOneFault({ verifies }: Rows, { name, fault, codes }: Fault): void {
  verifies(['R4.72', 'R4.74'], `${name}: the turn goes on, errors are typed, and it heals`, async (on) => {
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
  });
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

function ofWorseDays({ verifies }: Rows): void {
  verifies(['R4.72', 'R4.70', 'R4.57'], 'a homeserver down from the start: tools say so, and it heals', async (on) => {
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
  });

  verifies(['R4.72', 'R4.47', 'R4.46'], 'a fault at each request: the next turn has the peer', async (on) => {
    const alice = await on.raw('hermes-of-alice');
    let survived = false;
    for (let nth = 1; nth <= 20 && !survived; nth++) {
      const carol = await on.raw(`carol-${nth}`);
      const bob = await on.agent(`bob-${nth}`, { clock: hasty(25) });
      const room = await introduceByHand(alice, [bob, 'Bob'], [carol, 'Carol audits.']);
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
  });

  verifies(['R4.72', 'R4.44'], 'an abort in mid-request ends the turn; what was known is known', async (on) => {
    const { bob, carol } = await bobIntroduced(on);
    await bob.prefetch();
    on.wire.fail(isOf(bob), { type: 'slow', ms: 600_000 }, 3);
    await bob.provider.prefetch('hello', AbortSignal.timeout(50)).catch(() => []);
    await assert.rejects(bob.transport.send(opaque(carol), 'x', AbortSignal.timeout(50)));
    assert.deepEqual(
      bob.transport.peers().map(({ peer }) => peer.id),
      [opaque(carol)],
    );
  });

  verifies(['R4.72', 'R4.58'], 'B6: a fault while account data are read overwrites nothing kept', async (on) => {
    const alice = await on.agent('hermes-of-alice', { clock: hasty(10) });
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
  });

  verifies(['R4.72', 'R4.37'], 'a message of a megabyte that comes is shown shortened', async (on) => {
    const { bob, carol, room } = await bobIntroduced(on);
    await bob.prefetch();
    const content = { msgtype: 'm.text', body: `begin ${'€'.repeat(1_000_000)}` };
    for (let i = 0; i < 5; i++) on.doors.inject(room, { type: 'm.room.message', sender: carol.userId, content });
    await bob.prefetch();
    const answered = await bob.call('hivemind_check_messages', { peer: opaque(carol) });
    assert.equal(answered.isError, false, answered.text.slice(0, 200));
    assert.ok(answered.text.length < 100_000, String(answered.text.length));
    assert.match(answered.text, /begin €/);
  });
}

function ofEncryption({ verifies, mode }: Rows): void {
  if (!mode.e2ee) {
    verifies(['R4.74', 'R4.36'], 'e2ee off: a send into an encrypted room is refused, its peer listed', async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on, { encrypted: true });
      await bob.prefetch();
      assert.deepEqual(await namesOf(bob), [localpart(carol.userId)]);
      await refuses(bob, ['hivemind_send_to_peer', { peer: opaque(carol), message: 'in clear?' }]);
      await assert.rejects(bob.transport.send(opaque(carol), 'in clear?', NEVER), { code: 'peers-encryption' });
      assert.ok(!(await alice.texts(room)).includes('in clear?'));
    });
    return;
  }

  verifies(['R4.74', 'R4.36'], 'a clear message in an encrypted room is marked and gives no context', async (on) => {
    const { bob, carol, room } = await bobIntroduced(on, { encrypted: true });
    await carol.say(room, 'in clear');
    await bob.prefetch();
    const [peer] = bob.transport.peers();
    assert.deepEqual([peer?.peer.id, peer?.peer.context, peer?.isProtected], [opaque(carol), '', true]);
    const [message] = await bob.transport.messages(opaque(carol), {}, NEVER);
    assert.equal(message?.state, 'clear');
  });

  for (const path of ['keys/query', 'keys/claim', 'sendToDevice'])
    verifies(['R4.74', 'R4.36'], `encryption that fails at ${path}: an error, and nothing in clear`, async (on) => {
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
    });
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
