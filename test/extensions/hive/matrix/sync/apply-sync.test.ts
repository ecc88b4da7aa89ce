/** What the answer to a sync makes of the book: state, messages, notes, invitations, and whatever is malformed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorCode } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { createAccountData } from '#extensions/hive/matrix/account-data/account-data.ts';
import type { AccountDataCipher } from '#extensions/hive/matrix/account-data/account-data-cipher.ts';
import { judgeRoom } from '#extensions/hive/matrix/rooms/judge-room.ts';
import { EMPTY_BOOK, type RoomBook } from '#extensions/hive/matrix/rooms/room-book.ts';
import { applySync } from '#extensions/hive/matrix/sync/apply-sync.ts';
import { readSync } from '#extensions/hive/matrix/sync/read-sync.ts';
import { verifies } from '../../../../verifies.ts';

const SELF = '@bob:x';
const ROOM = '!r:x';
const noHttp = async () => ({});

const state = (type: string, sender: string, content: unknown, key = ''): unknown => ({
  type,
  sender,
  state_key: key,
  content,
  event_id: `$${type}${key}`,
  origin_server_ts: 1_000,
});
const member = (userId: string, membership: string, sender = userId) =>
  state('m.room.member', sender, { membership }, userId);
const say = (id: string, sender: string, body: string, at = 2_000): unknown => ({
  type: 'm.room.message',
  sender,
  event_id: id,
  origin_server_ts: at,
  content: { msgtype: 'm.text', body },
});
const note = (type: string, content: unknown): unknown => ({ type, content });

const joined = (parts: { state?: unknown[]; timeline?: unknown[]; notes?: unknown[]; limited?: boolean }): unknown => ({
  state: { events: parts.state ?? [] },
  timeline: { events: parts.timeline ?? [], limited: parts.limited ?? false, prev_batch: 'p' },
  account_data: { events: parts.notes ?? [] },
});
const answerOf = (rooms: unknown, rest: object = {}): JsonObject =>
  ({ next_batch: 's1', rooms, ...rest }) as JsonObject;

function apply(before: RoomBook, answer: JsonObject, isWhole = false, cipher?: AccountDataCipher): RoomBook {
  const { open } = createAccountData(noHttp, SELF, cipher);
  return applySync(before, readSync(answer), { selfId: SELF, open, isWhole });
}

const BASE = [state('m.room.create', '@alice:x', {}), member('@alice:x', 'join'), member(SELF, 'join', '@alice:x')];
const first = () => apply(EMPTY_BOOK, answerOf({ join: { [ROOM]: joined({ state: BASE }) } }), true);
const roomIn = (book: RoomBook) => {
  const room = book.rooms.get(ROOM);
  assert.ok(room);
  return room;
};

describe('applying a sync', () => {
  verifies(['R4.54', 'R4.61'], 'state comes from state and timeline, in their order, on and on', () => {
    const one = first();
    const timeline = [
      member('@carol:x', 'invite', '@alice:x'),
      say('$1', '@alice:x', 'About @carol:x: c'),
      member('@carol:x', 'join'),
    ];
    const two = apply(one, answerOf({ join: { [ROOM]: joined({ timeline }) } }));
    assert.deepEqual([...roomIn(two).members.values()], ['join', 'join', 'join']);
    assert.deepEqual(
      roomIn(two).seen.map(({ id, isIntroduction }) => [id, isIntroduction]),
      [['$1', true]],
    );
    const three = apply(
      two,
      answerOf({ join: { [ROOM]: joined({ state: [member('@carol:x', 'ban', '@alice:x')] }) } }),
    );
    assert.equal(roomIn(three).members.get('@carol:x'), 'gone');
    assert.equal(roomIn(one).members.size, 2, 'the book of before is as it was');
    assert.equal(roomIn(two).members.get('@carol:x'), 'join');
  });

  test('the same answer again changes nothing, one without news gives the same book', () => {
    const answer = answerOf({ join: { [ROOM]: joined({ state: BASE, timeline: [say('$1', '@alice:x', 'hi')] }) } });
    const once = apply(EMPTY_BOOK, answer);
    assert.deepEqual(apply(once, answer), once);
    assert.equal(apply(once, answerOf({})), once);
  });

  test('somebody with an id that is none is in the room all the same, and gives no peer', () => {
    const odd = '@a b:x';
    for (const event of [member(odd, 'join'), member(odd, 'invite', '@alice:x')]) {
      const book = apply(first(), answerOf({ join: { [ROOM]: joined({ timeline: [event] }) } }));
      assert.equal(roomIn(book).members.has(odd), true);
      const verdict = judgeRoom(roomIn(book), { selfId: SELF, isWelcome: () => true });
      assert.deepEqual([verdict.kind, verdict.kind === 'none' && verdict.isOdd], ['none', true]);
    }
    const invited = { invite: { '!i:x': { invite_state: { events: [member(SELF, 'invite', odd)] } } } };
    assert.deepEqual(apply(first(), answerOf(invited)).invites.get('!i:x'), { roomId: '!i:x' });
  });

  test('what is over goes: left rooms, taken back invitations, and all that a whole answer does not name', () => {
    const invited = { invite: { '!i:x': { invite_state: { events: [member(SELF, 'invite', '@alice:x')] } } } };
    const book = apply(first(), answerOf(invited));
    assert.equal(book.invites.get('!i:x')?.inviter, '@alice:x');
    assert.equal(apply(book, answerOf({ leave: { '!i:x': {} } })).invites.size, 0);
    assert.equal(apply(book, answerOf({ leave: { [ROOM]: {} } })).rooms.size, 0);
    assert.equal(apply(book, answerOf({ join: { '!i:x': joined({}) } })).invites.size, 0);
    const again = apply(book, answerOf({ invite: { [ROOM]: {} } }));
    assert.deepEqual([again.rooms.size, again.invites.get(ROOM)], [0, { roomId: ROOM }]);
    const whole = apply(book, answerOf({}), true);
    assert.deepEqual([whole.rooms.size, whole.invites.size], [0, 0]);
  });

  verifies('R4.74', 'encryption is never taken back', () => {
    const on = state('m.room.encryption', '@alice:x', { algorithm: 'm.megolm.v1.aes-sha2' });
    for (const later of [{}, { algorithm: 7 }, { algorithm: null }]) {
      const book = apply(first(), answerOf({ join: { [ROOM]: joined({ state: [on] }) } }));
      const off = state('m.room.encryption', '@alice:x', later);
      const after = apply(book, answerOf({ join: { [ROOM]: joined({ timeline: [off] }) } }));
      assert.equal(roomIn(after).encryption?.algorithm, 'm.megolm.v1.aes-sha2');
    }
    const odd = apply(
      first(),
      answerOf({ join: { [ROOM]: joined({ state: [state('m.room.encryption', '@a:x', {})] }) } }),
    );
    assert.deepEqual(roomIn(odd).encryption, {});
  });

  verifies(
    ['R4.35', 'R4.63'],
    'B18: the creator is the sender of the first creation event, whatever its content says',
    () => {
      const create = state('m.room.create', '@alice:x', { creator: '@mallory:x', additional_creators: ['@eve:x'] });
      const book = apply(EMPTY_BOOK, answerOf({ join: { '!v12hash': joined({ state: [create] }) } }), true);
      assert.equal(book.rooms.get('!v12hash')?.creation?.sender, '@alice:x');
      const forged = state('m.room.create', '@mallory:x', {});
      const later = apply(book, answerOf({ join: { '!v12hash': joined({ timeline: [forged] }) } }));
      assert.equal(later.rooms.get('!v12hash')?.creation?.sender, '@alice:x');
    },
  );
});

describe('notes of a sync', () => {
  const stored = {
    peer_name: 'ignored',
    peer_id: '@carol:x',
    context: 'c',
    introduced_by: 'ignored',
    introduced_by_id: '@alice:x',
    introduced_at: '2026-04-03T20:00:00Z',
    status: 'active',
    room_id: '!elsewhere',
  };
  const withNotes = (notes: unknown[], before = first(), cipher?: AccountDataCipher) =>
    apply(before, answerOf({ join: { [ROOM]: joined({ notes }) } }), false, cipher);

  verifies(['R4.56', 'R4.58', 'R4.60', 'R4.63'], 'they are read from the one sync; garbage counts as none', () => {
    const peer = roomIn(withNotes([note('social.awareness.peer', stored)])).notes.peer;
    assert.deepEqual([peer?.peer_name, peer?.introduced_by, peer?.room_id], ['carol', 'alice', ROOM]);
    for (const broken of [
      7,
      null,
      [],
      'x',
      {},
      { ...stored, peer_id: 'carol' },
      { ...stored, introduced_at: 'soon' },
    ]) {
      const notes = roomIn(
        withNotes([
          note('social.awareness.peer', broken),
          note('social.awareness.read', broken),
          note('social.awareness.summary', broken),
        ]),
      ).notes;
      assert.deepEqual(notes, { behind: [] }, JSON.stringify(broken));
    }
  });

  test('of two read marks the further one stays', () => {
    const talk = [say('$1', '@alice:x', 'a', 1), say('$2', '@alice:x', 'b', 2)];
    const book = apply(first(), answerOf({ join: { [ROOM]: joined({ timeline: talk }) } }));
    const mark = (id: string) => note('social.awareness.read', { event_id: id, at: '1970-01-01T00:00:00.001Z' });
    const two = withNotes([mark('$2')], book);
    assert.equal(roomIn(two).notes.read?.eventId, '$2');
    const back = withNotes([mark('$1')], two);
    assert.deepEqual([roomIn(back).notes.read?.eventId, roomIn(back).notes.behind], ['$2', ['read']]);
  });

  const spark = (a: string, b: string, status: string) => ({
    id: '01234567',
    peer_a: a,
    peer_b: b,
    peer_a_id: `${a}@x`,
    peer_b_id: `${b}@x`,
    reason: 'r',
    confidence: 'high',
    created_at: '2026-04-03T20:00:00Z',
    status,
    by: 'model',
  });
  const withSparks = (before: RoomBook, list: unknown[], cipher?: AccountDataCipher) =>
    apply(
      before,
      answerOf({}, { account_data: { events: [note('social.awareness.sparks', { sparks: list })] } }),
      false,
      cipher,
    );

  verifies(['R4.28', 'R4.59'], 'B13: sparks that another process overwrote stay, and are to be written again', () => {
    const one = withSparks(EMPTY_BOOK, [spark('a', 'b', 'dismissed'), spark('a', 'c', 'pending')]);
    assert.equal(one.sparks.isBehind, false);
    const two = withSparks(one, [spark('b', 'a', 'pending'), { of: 'another version' }]);
    assert.deepEqual(
      two.sparks.sparks.map(({ peer_a, peer_b, status }) => `${peer_a}${peer_b} ${status}`),
      ['ba dismissed', 'ac pending'],
    );
    assert.deepEqual([two.sparks.isBehind, two.sparks.foreign], [true, [{ of: 'another version' }]]);
  });

  test('sealed notes without a key are no notes, plain ones where sealed ones are wanted are to be written again', () => {
    const cipher: AccountDataCipher = {
      seal: (value) => ({ encrypted: 'v1', ciphertext: JSON.stringify(value) }),
      open: (value) => (value.ciphertext === 'lost' ? undefined : (stored as JsonObject)),
    };
    const lost = { encrypted: 'v1', nonce: 'n', ciphertext: 'lost' };
    assert.deepEqual(roomIn(withNotes([note('social.awareness.peer', lost)], first(), cipher)).notes, { behind: [] });
    assert.deepEqual(roomIn(withNotes([note('social.awareness.peer', lost)])).notes, { behind: [] });
    assert.deepEqual(roomIn(withNotes([note('social.awareness.peer', stored)], first(), cipher)).notes.behind, [
      'peer',
    ]);
    const good = { ...lost, ciphertext: 'good' };
    assert.deepEqual(roomIn(withNotes([note('social.awareness.peer', good)], first(), cipher)).notes.behind, []);
    const locked = apply(
      withSparks(EMPTY_BOOK, [spark('a', 'b', 'pending')]),
      answerOf({}, { account_data: { events: [note('social.awareness.sparks', lost)] } }),
    );
    assert.deepEqual([locked.sparks.isLocked, locked.sparks.sparks.length], [true, 1]);
  });
});

describe('answers that are malformed', () => {
  test('a room id that no address could carry is none', () => {
    const rooms = { invite: { '!\ud800:x': {}, '!i:x': {} } };
    assert.deepEqual([...apply(EMPTY_BOOK, answerOf(rooms)).invites.keys()], ['!i:x']);
  });

  test('a position that no next request could carry is refused', () => {
    const at = (length: number) => readSync({ next_batch: 's'.repeat(length) }).next.length;
    assert.equal(at(4_096), 4_096);
    assert.throws(
      () => at(4_097),
      (error) => errorCode(error) === 'peers-bad-response',
    );
  });

  test('no answer to a sync is refused, everything else is read as far as it goes', () => {
    for (const answer of [{}, { next_batch: 7 }, { next_batch: '' }, { rooms: {} }])
      assert.throws(
        () => readSync(answer as JsonObject),
        (error) => errorCode(error) === 'peers-bad-response',
      );
    for (const rooms of [7, null, [], { join: [] }, { join: { [ROOM]: null } }, { join: { bad: {}, '!a b': {} } }])
      assert.equal(apply(EMPTY_BOOK, answerOf(rooms), true).rooms.size, 0);
    const odd = [
      null,
      7,
      [],
      {},
      { type: 'm.room.member' },
      { type: 'm.room.member', sender: SELF, state_key: 'x', content: {} },
    ];
    const book = apply(
      first(),
      answerOf({
        join: {
          [ROOM]: joined({
            state: [...odd, member('@carol:x', 'join')],
            timeline: [...odd, say('$9', '@carol:x', 'x')],
          }),
        },
      }),
    );
    assert.equal(roomIn(book).members.get('@carol:x'), 'join');
    assert.deepEqual(
      roomIn(book).seen.map(({ id }) => id),
      ['$9'],
    );
    const proto = JSON.parse(
      `{"next_batch":"s","rooms":{"join":{"__proto__":{},"${ROOM}":{"timeline":{"events":{"0":1}}}}}}`,
    );
    assert.equal(apply(EMPTY_BOOK, proto, true).rooms.size, 1);
  });
});
