/** What goes over the wire, and when (R4.2, R4.3, R4.38 to R4.50, R4.61, R4.66; notes 6: B7, B15, B19; conflicts H5, H9). Fake ground only. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { verifies } from '../../../verifies.ts';
import type { HiveAgent } from '../agent/hive-agent.ts';
import { listed, namesOf, peersOf } from '../agent/hive-answers.ts';
import { bobIntroduced, introduceByHand, localpart, OF_CAROL, opaque } from '../agent/hive-scenes.ts';
import { inferring } from '../agent/hive-scripted-infer.ts';
import type { HiveStage, Rows } from '../agent/hive-stage.ts';
import type { WireRequest } from '../hive-homeserver.ts';

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

function ofOneTurn({ stage }: Rows): void {
  verifies(
    ['R4.43', 'R4.44', 'R4.45', 'R4.50', 'R4.61'],
    'a turn without news is one request that does not wait, with the position; tools then need none; nothing runs between turns',
    stage(async (on) => {
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
    }),
  );

  verifies(
    ['R4.45', 'R4.57'],
    'the first sync of all has no position, each later one the position of the one before',
    stage(async (on) => {
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
    }),
  );

  verifies(
    ['R4.46', 'R4.47', 'R4.66', 'R4.38', 'R4.49', 'R4.2'],
    'after an invitation: join, read messages, keep the peer, in one turn and this order; then the engine',
    stage(async (on) => {
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
    }),
  );

  verifies(
    ['R4.61', 'R4.57', 'R4.50', 'R4.53'],
    'H5: after a restart one sync rebuilds everything, account data with it',
    stage(async (on) => {
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
    }),
  );
}

const ENDPOINTS =
  /^\/_matrix\/client\/(?:versions|v3\/(?:sync|createRoom|account\/whoami|login|join\/[^/]+|rooms\/[^/]+\/(?:leave|invite|members|joined_members|state(?:\/.*)?|messages|event\/[^/]+|send\/[^/]+\/[^/]+)|user\/[^/]+(?:\/rooms\/[^/]+)?\/account_data\/[^/]+|user\/[^/]+\/filter|keys\/(?:upload|query|claim)|sendToDevice\/[^/]+\/[^/]+))$/;

function ofRequests({ stage }: Rows): void {
  verifies(
    ['R4.3', 'R4.66', 'R4.67', 'R4.68'],
    'H9: every request is one of the standard interface, escaped, with a token in its header and JSON in each POST and PUT',
    stage(async (on) => {
      const { alice, bob } = await import('../agent/hive-scenes.ts').then(({ allIntroduced }) => allIntroduced(on));
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
    }),
  );

  verifies(
    ['R4.72', 'R4.36'],
    'a message whose answer was lost is sent again under the same transaction and arrives once',
    stage(async (on) => {
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
    }),
  );

  verifies(
    ['R4.72', 'R4.41'],
    'an introduction that broke in the middle is finished by the same words again: one room, each line once',
    stage(async (on) => {
      const { acquainted, OF_BOB, roomOf } = await import('../agent/hive-scenes.ts');
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
    }),
  );
}

function ofInvitations({ stage, mode }: Rows): void {
  const join = { enabled: true, allow: [], deny: [], per_turn: 10 };

  verifies(
    ['R4.46', 'R4.72'],
    'B7: an invitation that could not be accepted is tried again, though the server names it once',
    stage(async (on) => {
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
    }),
  );

  verifies(
    ['R4.46', 'R4.44'],
    'B15: invitations in bulk are accepted a few a turn, none is lost',
    stage(async (on) => {
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
    }),
  );

  verifies(
    ['R4.46', 'R4.73'],
    'B15: who may introduce is the owner’s choice; a refused invitation is not answered and said to the owner',
    stage(async (on) => {
      const [alice, mallory] = [await on.raw('hermes-of-alice'), await on.raw('mallory')];
      const [carol, dave] = [await on.raw('hermes-of-carol'), await on.raw('hermes-of-dave')];
      const account = await on.server.register('hermes-of-bob');
      const ways = [
        { ...join, deny: ['mallory@*'] },
        { ...join, allow: ['hermes-of-*@*'] },
        { ...join, allow: ['*@localhost*'], deny: ['mal*@*'] },
        { ...join, enabled: false },
      ];
      await introduceByHand(mallory, [
        [account, 'Bob'],
        [dave, 'Dave is a bank.'],
      ]);
      await introduceByHand(alice, [
        [account, 'Bob'],
        [carol, OF_CAROL],
      ]);
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
    }),
  );

  verifies(
    ['R4.38', 'R4.39', 'R4.40', 'R4.22', 'R4.23'],
    'B19: notes lie under their four keys, are read with the one sync, and no sync asks for a single room',
    stage(async (on) => {
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
    }),
  );
}
