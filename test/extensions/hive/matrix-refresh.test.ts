/** What a refresh makes up for: introductions in pieces, notes that could not be written, invitations that cannot be accepted; and reading back. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { PeerTransport } from '#public/peers.ts';
import type { JsonObject } from '#public/talaria.ts';
import { onFake, type WireFault, type WireRequest } from '../../contract/hive/hive-stage.ts';
import { hiveTransportContract } from '../../contract/hive/hive-transport.contract.ts';
import { sparkOf } from '../../contract/hive/hive-transport-ground.ts';
import { type MatrixScene, matrixGround, NEVER, testsOf, transportFor } from './matrix-stage.ts';

const BOB = '@bob:localhost';

const ALICE = '@alice:localhost';

const CAROL = '@carol:localhost';

const PEER = 'social.awareness.peer';

const SPARKS = 'social.awareness.sparks';

const { test, verifies } = testsOf('bob', 'alice', 'carol', 'dave');

const about = (text: string) => `About ${CAROL}: ${text}`;

const contexts = (bob: PeerTransport) => bob.peers().map(({ peer }) => [peer.id, peer.context]);

const answer = (status: number, errcode = 'M_UNKNOWN'): WireFault => ({
  type: 'status',
  status,
  body: JSON.stringify({ errcode, error: 'no' }),
});

/** Alice introduces Bob and Carol, who is there. */
const introduced = ({ server }: MatrixScene, words: string, name?: string) =>
  server.doors.addRoom({
    creator: ALICE,
    invite: [BOB],
    join: [CAROL],
    messages: [about(words)],
    ...(name === undefined ? {} : { name }),
  });

describe('introductions that come in pieces', () => {
  verifies(['R4.34', 'R4.47'], 'who joined before the introducer spoke learns the context later', async (scene) => {
    const { server } = scene;
    const bob = scene.open();
    const room = server.doors.addRoom({ creator: ALICE, invite: [BOB, CAROL] });
    for (const [sender, words, known] of [
      [ALICE, undefined, ''],
      [CAROL, about('forged'), ''],
      [ALICE, about('audits'), 'audits'],
      [ALICE, about('audits no more'), 'audits'],
    ] as const) {
      if (words !== undefined) scene.say(room, sender, words);
      server.wire.clear();
      await bob.refresh(NEVER);
      assert.deepEqual(contexts(bob), [['carol@localhost', known]]);
    }
    assert.equal(server.wire.requests().length, 1);
    assert.equal(server.doors.accountData(BOB, PEER, room)?.context, 'audits');
  });
});

describe('what could not be done yet', () => {
  const isNote = ({ path, method }: WireRequest) => method === 'PUT' && path.includes(PEER);

  verifies(['R4.47', 'R4.56', 'R4.72'], 'a note that could not be written is written later', async (scene) => {
    const { server, warnings } = scene;
    const [bob, restarted] = [scene.open(), scene.open()];
    const room = introduced(scene, 'audits');
    const heal = server.wire.fail(isNote, answer(500), 1_000);
    await bob.refresh(NEVER);
    assert.deepEqual(contexts(bob), [['carol@localhost', 'audits']]);
    assert.ok(warnings.length > 0);
    heal();
    assert.equal(server.doors.accountData(BOB, PEER, room), undefined);
    await restarted.refresh(NEVER);
    assert.deepEqual(contexts(restarted), [['carol@localhost', 'audits']]);
    assert.equal(server.doors.accountData(BOB, PEER, room)?.context, 'audits');
    await bob.refresh(NEVER);
    server.wire.clear();
    await bob.refresh(NEVER);
    assert.equal(server.wire.requests().length, 1, 'then nothing is left to do');
  });

  verifies(['R4.46', 'R4.72'], 'B7: invitations that fail again and again keep no others waiting', async (scene) => {
    const bob = scene.open({ join: { per_turn: 2 } });
    const rooms = ['one', 'two', 'three'].map((name) => introduced(scene, name, name));
    const bad = rooms.slice(0, 2).map(encodeURIComponent);
    const isBad = ({ path }: WireRequest) => path.includes('/join/') && bad.some((room) => path.endsWith(room));
    scene.server.wire.fail(isBad, answer(404), 1_000);
    const first = await bob.refresh(NEVER);
    assert.equal(first.filter((text) => text.includes('could not be accepted')).length, 2);
    assert.deepEqual(await bob.refresh(NEVER), ['1 more introduction will be accepted in the next turns.']);
    assert.deepEqual(contexts(bob), [['carol@localhost', 'three']]);
    for (let turn = 0; turn < 10; turn += 1) await bob.refresh(NEVER);
    assert.ok(scene.asked('/join/').length <= 11, 'and end some time');
  });

  test('a network that breaks in the middle stops what is left, and the next turn catches up', async (scene) => {
    const { server } = scene;
    const bob = scene.open();
    for (const name of ['x', 'y', 'z']) {
      const { userId } = server.doors.addAccount(name);
      server.doors.addRoom({ creator: ALICE, invite: [BOB], join: [userId], messages: [`About ${userId}: ${name}`] });
    }
    const heal = server.wire.fail(({ path }) => path.includes('/join/'), { type: 'reset' }, 1_000);
    await bob.refresh(NEVER);
    assert.equal(scene.asked('/join/').length, 3, 'three attempts at the first, none at the others');
    heal();
    await bob.refresh(NEVER);
    assert.equal(bob.peers().length, 3);
  });

  verifies(['R4.59', 'R4.40'], 'B13: suggestions that another process overwrote are written again', async (scene) => {
    const bob = scene.open();
    await bob.refresh(NEVER);
    await bob.changeSparks(() => [sparkOf('a@x', 'b@x', { status: 'dismissed' })], NEVER);
    scene.server.doors.setAccountData(BOB, SPARKS, { sparks: [{ ...sparkOf('a@x', 'c@x') }] });
    await bob.refresh(NEVER);
    const restarted = scene.open();
    await restarted.refresh(NEVER);
    assert.deepEqual(new Set(restarted.sparks().map(({ status }) => status)), new Set(['dismissed', 'pending']));
  });

  verifies(['R4.45', 'R4.57', 'R4.72'], 'a position that the server forgot is given up', async (scene) => {
    const bob = scene.open();
    introduced(scene, 'audits');
    await bob.refresh(NEVER);
    const before = bob.peers();
    scene.server.wire.fail(({ query }) => query.since !== undefined, answer(400));
    await bob.refresh(NEVER);
    assert.deepEqual(bob.peers(), before);
    const asked = scene.asked('/sync').slice(-2);
    assert.deepEqual(
      asked.map(({ query }) => query.since === undefined),
      [false, true],
    );
  });
});

describe('what the owner hears', () => {
  test('who cut a connection is said; a room that gives no peer is named once, with the reason', async (scene) => {
    const bob = scene.open();
    scene.server.doors.addRoom({ creator: ALICE, invite: [BOB], join: [CAROL, '@dave:localhost'] });
    assert.match((await bob.refresh(NEVER)).join(), /alice@localhost gives no peer: 4 are in it/);
    const room = introduced(scene, 'x');
    assert.deepEqual(await bob.refresh(NEVER), []);
    scene.member(room, BOB, 'leave', ALICE);
    assert.deepEqual(await bob.refresh(NEVER), ['alice@localhost has cut our connection to carol@localhost.']);
    assert.deepEqual(bob.peers(), []);
  });

  verifies(['R4.72', 'R4.3'], 'the examination names what is wrong, with whom, what mends it', async (scene) => {
    const { server, account } = scene;
    server.doors.addRoom({ creator: ALICE, invite: [BOB], join: [CAROL] });
    const odd = server.doors.addRoom({ creator: ALICE, join: [BOB, CAROL, '@dave:localhost'] });
    const { checks } = await scene.open({ join: { deny: ['alice@*'] } }).examine(NEVER);
    const named = new Map(checks.map((check) => [check.name, check]));
    assert.match(named.get('invitations')?.detail ?? '', /peers\.join does not let alice@localhost introduce/);
    assert.ok(named.get('rooms without a peer')?.detail.includes(odd));
    assert.equal(scene.asked('/join/').length, 0);
    const other = await server.register('erin');
    const wrong = transportFor(server, { ...account, accessToken: other.accessToken });
    const mixed = (await wrong.examine(NEVER)).checks.find(({ ok }) => !ok);
    assert.match(`${mixed?.detail} ${mixed?.fix}`, /@erin:localhost.*@bob:localhost.*talaria peers login/);
    server.doors.expireToken(account.accessToken);
    const expired = await scene.open().examine(NEVER);
    assert.match(expired.checks.find(({ ok }) => !ok)?.fix ?? '', /talaria peers login/);
    assert.ok(!JSON.stringify(expired).includes(account.accessToken));
  });
});

describe('going back', () => {
  const state = (type: string, key: string, sender: string, content: JsonObject): JsonObject => ({
    ...{ type, state_key: key, sender, content },
    event_id: `$${type}${key}`,
    origin_server_ts: 1,
  });
  const members = [ALICE, BOB, CAROL].map((id) => state('m.room.member', id, id, { membership: 'join' }));
  const events = [state('m.room.create', '', ALICE, {}), ...members];
  const joined: JsonObject = { next_batch: 's', rooms: { join: { '!r:x': { state: { events } } } } };

  for (const [end, pages] of [
    ['same', 2],
    [undefined, 10],
  ] as const)
    test(`attack: a server that ${end ? 'turns in a circle' : 'never comes to the start'} is left`, async (scene) => {
      const paths: (readonly string[])[] = [];
      const bob = scene.open({
        http: async ({ path }) => {
          paths.push(path);
          if (path.includes('sync')) return joined;
          return path.includes('messages') ? { chunk: [], end: end ?? `p${paths.length}` } : {};
        },
      });
      await bob.refresh(NEVER);
      assert.equal(paths.filter((path) => path.includes('messages')).length, pages);
      assert.deepEqual(await bob.messages('carol@localhost', {}, NEVER), []);
      assert.ok(paths.length < 20);
    });

  verifies(['R4.34', 'R4.74'], 'clear words in an encrypted room are not shown and give no context', async (scene) => {
    const { server, crypto } = scene;
    const bob = scene.openEncrypting();
    const room = server.doors.addRoom({
      creator: ALICE,
      join: [BOB, CAROL],
      messages: [about('clear')],
      encrypted: true,
    });
    await bob.refresh(NEVER);
    assert.deepEqual(contexts(bob), [['carol@localhost', '']]);
    const clear = { content: { msgtype: 'm.text', body: about('sealed') } };
    const [content = {}] = await crypto.encrypt({ members: [] }, [clear]);
    server.doors.inject(room, { type: 'm.room.encrypted', sender: ALICE, content });
    server.doors.inject(room, { type: 'm.room.encrypted', sender: CAROL, content: { ciphertext: {} } });
    await bob.refresh(NEVER);
    assert.deepEqual(contexts(bob), [['carol@localhost', 'sealed']]);
    const messages = await bob.messages('carol@localhost', {}, NEVER);
    assert.deepEqual(
      messages.map(({ state: shown }) => shown),
      ['unreadable', 'text', 'clear'],
    );
    assert.ok(!messages.some(({ text }) => text.includes('About carol@localhost: clear')));
  });
});

describe('what is kept on the server', () => {
  const spark = sparkOf('a@x', 'b@x');

  verifies(['R4.40', 'R4.72'], 'B6: only the word of the server is absence; nothing is written over', async (scene) => {
    const { server } = scene;
    for (const body of ['<html>not found', '{"errcode":"M_UNKNOWN"}', '{"errcode":"M_FORBIDDEN"}']) {
      const bob = scene.open();
      server.wire.clear();
      const isRead = ({ method, path }: WireRequest) => method === 'GET' && path.includes('sparks');
      const heal = server.wire.fail(isRead, { type: 'status', status: 404, body });
      await assert.rejects(
        bob.changeSparks(() => [spark], NEVER),
        { code: /^peers-/ },
      );
      heal();
      assert.ok(server.wire.requests().every(({ method }) => method === 'GET'));
      assert.deepEqual(bob.sparks(), []);
    }
  });

  verifies(['R4.59', 'R4.40'], 'suggestions that are sealed with a lost key are never written over', async (scene) => {
    const sealed = { encrypted: 'v1', nonce: 'n', ciphertext: 'of another key' };
    scene.server.doors.setAccountData(BOB, SPARKS, sealed);
    for (const given of [{}, { cipher: { seal: (value: JsonObject) => value, open: () => undefined } }]) {
      const bob = scene.open(given);
      await bob.refresh(NEVER);
      await assert.rejects(
        bob.changeSparks(() => [spark], NEVER),
        { code: 'peers-encryption' },
      );
      assert.deepEqual(scene.server.doors.accountData(BOB, SPARKS), sealed);
      assert.ok((await bob.examine(NEVER)).checks.some(({ ok, name }) => !ok && name === 'notes'));
    }
  });
});

/** The transport contract over the Matrix backend, on a strict fake homeserver; other versions of rooms in the deep run. */

hiveTransportContract('matrix, rooms of version 11', () => matrixGround(onFake()));
