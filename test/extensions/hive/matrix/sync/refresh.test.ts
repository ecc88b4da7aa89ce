/** What a refresh makes up for: introductions that come in pieces, notes that could not be written, invitations that cannot be accepted. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HiveConfig } from '#extensions/hive/hive-config.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import { type FakeServer, startFake } from '../../../../contract/hive/hive-fake-server.ts';
import type { TestAccount, WireRequest } from '../../../../contract/hive/hive-homeserver.ts';
import { sparkOf } from '../../../../contract/hive/hive-transport-ground.ts';
import { verifies } from '../../../../verifies.ts';
import { hastyClock } from '../hive-hasty-clock.ts';
import { transportFor } from '../hive-matrix-ground.ts';

const NEVER = new AbortController().signal;
const ALICE = '@alice:localhost';
const CAROL = '@carol:localhost';

interface Scene {
  readonly server: FakeServer;
  readonly account: TestAccount;
  readonly bob: PeerTransport;
  readonly warnings: string[];
  /** A new handle of Bob: a restart. */
  readonly again: (join?: Partial<HiveConfig['join']>) => PeerTransport;
  readonly asked: (part: string, method?: string) => readonly WireRequest[];
}

async function inScene(body: (scene: Scene) => Promise<void>): Promise<void> {
  const server = await startFake();
  try {
    const account = await server.register('bob');
    for (const name of ['alice', 'carol', 'dave']) server.doors.addAccount(name);
    const warnings: string[] = [];
    const again = (join = {}) => transportFor(server, account, { clock: hastyClock, warnings, join });
    const asked = (part: string, method?: string) =>
      server.wire.requests().filter((one) => one.path.includes(part) && (method ?? one.method) === one.method);
    await body({ server, account, warnings, again, asked, bob: again() });
  } finally {
    await server.stop();
  }
}

const about = (text: string) => `About ${CAROL}: ${text}`;
const contexts = (bob: PeerTransport) => bob.peers().map(({ peer }) => [peer.id, peer.context]);
const say = ({ server }: Scene, room: string, sender: string, body: string) =>
  server.doors.inject(room, { type: 'm.room.message', sender, content: { msgtype: 'm.text', body } });
const isNote = ({ path, method }: WireRequest) => method === 'PUT' && path.includes('social.awareness.peer');

describe('introductions that come in pieces', () => {
  verifies(
    ['R4.34', 'R4.47'],
    'who joined before the introducer had spoken learns the context with the next turn',
    () =>
      inScene(async (scene) => {
        const room = scene.server.doors.addRoom({ creator: ALICE, invite: ['@bob:localhost', CAROL] });
        await scene.bob.refresh(NEVER);
        assert.deepEqual(contexts(scene.bob), [['carol@localhost', '']]);
        say(scene, room, CAROL, about('forged'));
        await scene.bob.refresh(NEVER);
        assert.deepEqual(contexts(scene.bob), [['carol@localhost', '']]);
        say(scene, room, ALICE, about('audits'));
        await scene.bob.refresh(NEVER);
        assert.deepEqual(contexts(scene.bob), [['carol@localhost', 'audits']]);
        assert.equal(
          scene.server.doors.accountData('@bob:localhost', 'social.awareness.peer', room)?.context,
          'audits',
        );
        scene.server.wire.clear();
        say(scene, room, ALICE, about('audits no more'));
        await scene.bob.refresh(NEVER);
        assert.deepEqual(contexts(scene.bob), [['carol@localhost', 'audits']]);
        assert.equal(scene.server.wire.requests().length, 1);
      }),
  );

  verifies('R4.34', 'B3, B4: the earliest words of the creator count, behind a thousand messages of others', () =>
    inScene(async (scene) => {
      const room = scene.server.doors.addRoom({
        creator: ALICE,
        invite: ['@bob:localhost'],
        join: [CAROL],
        messages: [about('first\nand second line'), ...Array.from({ length: 130 }, (_, at) => about(`later ${at}`))],
      });
      for (let at = 0; at < 1_200; at += 1) say(scene, room, CAROL, about(`flood ${at}`));
      await scene.bob.refresh(NEVER);
      assert.deepEqual(contexts(scene.bob), [['carol@localhost', 'first\nand second line']]);
      assert.ok(scene.asked('/messages').length <= 5);
    }),
  );
});

describe('what could not be done yet', () => {
  verifies(
    ['R4.47', 'R4.56', 'R4.72'],
    'a note that could not be written is written with a later turn, also after a restart',
    () =>
      inScene(async (scene) => {
        const room = scene.server.doors.addRoom({
          creator: ALICE,
          invite: ['@bob:localhost'],
          join: [CAROL],
          messages: [about('audits')],
        });
        const heal = scene.server.wire.fail(isNote, { type: 'status', status: 500, body: '{}' }, 1_000);
        await scene.bob.refresh(NEVER);
        assert.deepEqual(contexts(scene.bob), [['carol@localhost', 'audits']]);
        assert.ok(scene.warnings.length > 0);
        heal();
        const stored = () => scene.server.doors.accountData('@bob:localhost', 'social.awareness.peer', room);
        assert.equal(stored(), undefined);
        const restarted = scene.again();
        await restarted.refresh(NEVER);
        assert.deepEqual(contexts(restarted), [['carol@localhost', 'audits']]);
        assert.equal(stored()?.context, 'audits');
        await scene.bob.refresh(NEVER);
        scene.server.wire.clear();
        await scene.bob.refresh(NEVER);
        assert.equal(scene.server.wire.requests().length, 1, 'then nothing is left to do');
      }),
  );

  verifies(['R4.46', 'R4.72'], 'B7: invitations that fail again and again do not keep others waiting', () =>
    inScene(async (scene) => {
      const bob = scene.again({ per_turn: 2 });
      const rooms = ['one', 'two', 'three'].map((name) =>
        scene.server.doors.addRoom({
          creator: ALICE,
          invite: ['@bob:localhost'],
          join: [CAROL],
          name,
          messages: [about(name)],
        }),
      );
      const bad = rooms.slice(0, 2).map(encodeURIComponent);
      scene.server.wire.fail(
        ({ path }) => path.includes('/join/') && bad.some((room) => path.endsWith(room)),
        { type: 'status', status: 404, body: '{"errcode":"M_UNKNOWN","error":"no servers"}' },
        1_000,
      );
      const first = await bob.refresh(NEVER);
      assert.equal(first.filter((text) => text.includes('could not be accepted')).length, 2);
      assert.deepEqual(await bob.refresh(NEVER), ['1 more introduction will be accepted in the next turns.']);
      assert.deepEqual(contexts(bob), [['carol@localhost', 'three']]);
      for (let turn = 0; turn < 10; turn += 1) await bob.refresh(NEVER);
      assert.ok(scene.asked('/join/').length <= 11, 'and end some time');
    }),
  );

  test('a network that breaks in the middle stops what is left, and the next turn catches up', () =>
    inScene(async (scene) => {
      for (const name of ['x', 'y', 'z']) {
        const { userId } = scene.server.doors.addAccount(name);
        scene.server.doors.addRoom({
          creator: ALICE,
          invite: ['@bob:localhost'],
          join: [userId],
          messages: [`About ${userId}: ${name}`],
        });
      }
      const heal = scene.server.wire.fail(({ path }) => path.includes('/join/'), { type: 'reset' }, 1_000);
      await scene.bob.refresh(NEVER);
      assert.equal(scene.asked('/join/').length, 3, 'three attempts at the first, none at the others');
      heal();
      await scene.bob.refresh(NEVER);
      assert.equal(scene.bob.peers().length, 3);
    }));

  verifies(['R4.59', 'R4.40'], 'B13: suggestions that another process overwrote are written again', () =>
    inScene(async (scene) => {
      const ours = sparkOf('a@x', 'b@x', { status: 'dismissed' });
      const theirs = sparkOf('a@x', 'c@x');
      await scene.bob.refresh(NEVER);
      await scene.bob.changeSparks(() => [ours], NEVER);
      scene.server.doors.setAccountData('@bob:localhost', 'social.awareness.sparks', { sparks: [{ ...theirs }] });
      await scene.bob.refresh(NEVER);
      const restarted = scene.again();
      await restarted.refresh(NEVER);
      assert.deepEqual(new Set(restarted.sparks().map(({ status }) => status)), new Set(['dismissed', 'pending']));
    }),
  );

  verifies(
    ['R4.45', 'R4.57', 'R4.72'],
    'a position that the server does not know any more is given up for a whole sync',
    () =>
      inScene(async (scene) => {
        scene.server.doors.addRoom({ creator: ALICE, join: ['@bob:localhost', CAROL], messages: [about('audits')] });
        await scene.bob.refresh(NEVER);
        const before = scene.bob.peers();
        scene.server.wire.fail(({ query }) => query.since !== undefined, {
          type: 'status',
          status: 400,
          body: '{"errcode":"M_UNKNOWN","error":"Invalid stream token"}',
        });
        await scene.bob.refresh(NEVER);
        assert.deepEqual(scene.bob.peers(), before);
        assert.deepEqual(
          scene
            .asked('/sync')
            .slice(-2)
            .map(({ query }) => query.since === undefined),
          [false, true],
        );
      }),
  );
});

describe('what the owner hears', () => {
  test('who cut a connection is said; a room that gives no peer is named once, with the reason', () =>
    inScene(async (scene) => {
      const { server, bob } = scene;
      server.doors.addRoom({ creator: ALICE, invite: ['@bob:localhost'], join: [CAROL, '@dave:localhost'] });
      assert.match((await bob.refresh(NEVER)).join(), /alice@localhost gives no peer: 4 are in it/);
      const room = server.doors.addRoom({
        creator: ALICE,
        invite: ['@bob:localhost'],
        join: [CAROL],
        messages: [about('x')],
      });
      assert.deepEqual(await bob.refresh(NEVER), []);
      server.doors.inject(room, {
        type: 'm.room.member',
        stateKey: '@bob:localhost',
        sender: ALICE,
        content: { membership: 'leave' },
      });
      assert.deepEqual(await bob.refresh(NEVER), ['alice@localhost has cut our connection to carol@localhost.']);
      assert.deepEqual(bob.peers(), []);
    }));

  verifies(['R4.72', 'R4.3'], 'the examination names what is wrong, and with whom, and what mends it', () =>
    inScene(async (scene) => {
      const { server, account } = scene;
      server.doors.addRoom({ creator: ALICE, invite: ['@bob:localhost'], join: [CAROL] });
      const odd = server.doors.addRoom({ creator: ALICE, join: ['@bob:localhost', CAROL, '@dave:localhost'] });
      const { checks } = await scene.again({ deny: ['alice@*'] }).examine(NEVER);
      const named = new Map(checks.map((check) => [check.name, check]));
      assert.match(named.get('invitations')?.detail ?? '', /peers\.join does not let alice@localhost introduce/);
      assert.ok(named.get('rooms without a peer')?.detail.includes(odd));
      assert.equal(scene.asked('/join/').length, 0);
      const other = await server.register('erin');
      const wrong = transportFor(server, { ...account, accessToken: other.accessToken });
      const mixed = (await wrong.examine(NEVER)).checks.find(({ ok }) => !ok);
      assert.match(`${mixed?.detail} ${mixed?.fix}`, /@erin:localhost.*@bob:localhost.*talaria peers login/);
      server.doors.expireToken(account.accessToken);
      const expired = await scene.bob.examine(NEVER);
      assert.match(expired.checks.find(({ ok }) => !ok)?.fix ?? '', /talaria peers login/);
      assert.ok(!JSON.stringify(expired).includes(account.accessToken));
    }),
  );
});
