/** Properties of taking in a sync: nothing in it breaks what is known, and a rebuild equals what grew piece by piece. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { AccountData } from '#extensions/hive/matrix/notes.ts';
import { createPeerViewer } from '#extensions/hive/matrix/peer-view.ts';
import { EMPTY_BOOK, type RoomBook } from '#extensions/hive/matrix/room-book.ts';
import { applySync, readSync } from '#extensions/hive/matrix/sync.ts';
import type { JsonObject } from '#public/talaria.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

const SELF = '@me:x';
const PEOPLE = [SELF, '@alice:x', '@bob:x', '@carol:x'];
const data = new AccountData(async () => ({}), SELF, undefined);
const viewer = createPeerViewer({ selfId: SELF, isWelcome: () => true, canEncrypt: false });

function apply(book: RoomBook, answer: unknown, isWhole = false): RoomBook {
  return applySync(book, readSync(answer as JsonObject), { selfId: SELF, data }, isWhole);
}

const key = fc.constantFrom(
  ...[
    'type',
    'sender',
    'state_key',
    'content',
    'event_id',
    'origin_server_ts',
    'unsigned',
    'membership',
    'body',
    'msgtype',
  ],
  ...[
    'events',
    'timeline',
    'state',
    'account_data',
    'limited',
    'invite_state',
    'redacted_because',
    '__proto__',
    'creator',
  ],
);
const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    'm.room.member',
    'm.room.create',
    'm.room.message',
    'm.room.encryption',
    'join',
    'leave',
    '',
    'social.awareness.peer',
  ),
  fc.constantFrom<unknown>(...PEOPLE, '$1', '!r:x', null, true, 0, -1, 1e300),
  fc.string(),
);
const { odd } = fc.letrec<{ odd: unknown }>((tie) => ({
  odd: fc.oneof(
    { maxDepth: 5 },
    scalar,
    fc.array(tie('odd'), { maxLength: 4 }),
    fc.dictionary(key, tie('odd'), { maxKeys: 8 }),
  ),
}));
const events = fc.record({
  events: fc.array(fc.oneof(odd, fc.dictionary(key, odd, { maxKeys: 9 })), { maxLength: 4 }),
});
const room = fc.record({ state: events, timeline: events, account_data: events, invite_state: events });
const section = fc.dictionary(fc.constantFrom('!r:x', '!s:x', '!v12', 'bad'), fc.oneof(odd, room), { maxKeys: 3 });

const known = {
  next_batch: 's0',
  rooms: {
    join: {
      '!known:x': {
        state: {
          events: [
            { type: 'm.room.create', sender: '@alice:x', state_key: '', content: {}, origin_server_ts: 1 },
            ...PEOPLE.slice(0, 3).map((userId) => ({
              type: 'm.room.member',
              sender: userId,
              state_key: userId,
              content: { membership: 'join' },
            })),
          ],
        },
      },
    },
  },
};

describe('answers that are malformed', () => {
  const created = (sender: string, content: object = {}) => ({ type: 'm.room.create', sender, state_key: '', content });

  verifies(['R4.35', 'R4.63'], 'B18: the creator is the sender of the first creation event, whatever it says', () => {
    const first = created('@alice:x', { creator: '@mallory:x', additional_creators: ['@eve:x'] });
    const rooms = { join: { '!v12hash': { state: { events: [first] } } } };
    const book = apply(EMPTY_BOOK, { next_batch: 's1', rooms }, true);
    const forged = { join: { '!v12hash': { timeline: { events: [created('@mallory:x')] } } } };
    for (const known of [book, apply(book, { next_batch: 's2', rooms: forged })])
      assert.equal(known.rooms.get('!v12hash')?.creation?.sender, '@alice:x');
  });

  test('what no address and no next request could carry is refused or left out', () => {
    const rooms = { invite: { '!\ud800:x': {}, '!i:x': {} }, join: { bad: {}, '!a b': {} } };
    const book = apply(EMPTY_BOOK, { next_batch: 's1', rooms });
    assert.deepEqual([[...book.invites.keys()], book.rooms.size], [['!i:x'], 0]);
    assert.equal(readSync({ next_batch: 's'.repeat(4_096) }).next.length, 4_096);
    for (const answer of [{}, { next_batch: 7 }, { next_batch: '' }, { rooms: {} }, { next_batch: 's'.repeat(4_097) }])
      assert.throws(() => readSync(answer), { code: 'peers-bad-response' });
  });

  test('events around those that are none are read', () => {
    const odd = [null, 7, [], {}, { type: 'm.room.member' }, { type: 'm.room.member', sender: SELF, state_key: 'x' }];
    const join = { type: 'm.room.member', sender: '@carol:x', state_key: '@carol:x', content: { membership: 'join' } };
    const said = { type: 'm.room.message', sender: '@carol:x', event_id: '$9', origin_server_ts: 1, content: {} };
    const room = { state: { events: [...odd, join] }, timeline: { events: [...odd, said] } };
    const read = apply(apply(EMPTY_BOOK, known, true), { next_batch: 's1', rooms: { join: { '!known:x': room } } });
    const { members, seen } = read.rooms.get('!known:x') ?? assert.fail();
    assert.deepEqual([members.get('@carol:x'), seen.map(({ id }) => id)], ['join', ['$9']]);
    const proto = JSON.parse(
      '{"next_batch":"s","rooms":{"join":{"__proto__":{},"!r:x":{"timeline":{"events":{"0":1}}}}}}',
    );
    assert.equal(apply(EMPTY_BOOK, proto, true).rooms.size, 1);
  });
});

describe('taking in a sync', () => {
  test('whatever a server sends about other rooms, what is known stays and nothing throws', () => {
    const before = apply(EMPTY_BOOK, known, true);
    const shown = [...viewer.view(before).values()].map(({ known: peer }) => peer);
    assert.equal(shown.length, 1);
    fc.assert(
      fc.property(section, section, section, odd, (join, invite, leave, data) => {
        const answer = {
          next_batch: 's1',
          rooms: { join, invite, leave },
          account_data: data,
          to_device: data,
          device_lists: data,
        };
        const after = apply(before, answer);
        const view = viewer.view(after);
        assert.deepEqual(view.get('bob@x')?.known.peer, shown[0]?.peer);
        assert.deepEqual(apply(after, answer), after, 'duplicate answers change nothing');
      }),
      { numRuns: runs(2_000) },
    );
  });

  const event = fc.oneof(
    fc.record({ kind: fc.constant('say' as const), by: fc.constantFrom(...PEOPLE) }),
    fc.record({
      kind: fc.constantFrom('join' as const, 'leave' as const, 'invite' as const),
      by: fc.constantFrom(...PEOPLE.slice(1)),
    }),
  );

  verifies(['R4.54', 'R4.57', 'R4.61'], 'a rebuild from one whole answer gives the same peers', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 17 }), fc.array(fc.nat(5), { maxLength: 17 }), (acts, cuts) => {
        const events = acts.map(({ kind, by }, index) =>
          kind === 'say'
            ? {
                type: 'm.room.message',
                sender: by,
                event_id: `$${index}`,
                origin_server_ts: index + 1,
                content: { msgtype: 'm.text', body: 'x' },
              }
            : {
                type: 'm.room.member',
                sender: by,
                state_key: by,
                event_id: `$${index}`,
                origin_server_ts: index + 1,
                content: { membership: kind },
              },
        );
        const roomOf = (timeline: readonly unknown[]) => ({
          join: { '!known:x': { timeline: { events: timeline } } },
        });
        let grown = apply(EMPTY_BOOK, known, true);
        for (let at = 0, cut = 0; at < events.length; cut += 1) {
          const size = (cuts[cut] ?? 0) + 1;
          grown = apply(grown, { next_batch: `s${at}`, rooms: roomOf(events.slice(at, at + size)) });
          at += size;
        }
        const { state } = known.rooms.join['!known:x'];
        const whole = { next_batch: 'w', rooms: { join: { '!known:x': { state, timeline: { events } } } } };
        const rebuilt = apply(EMPTY_BOOK, whole, true);
        assert.deepEqual([...viewer.view(rebuilt).values()], [...viewer.view(grown).values()]);
      }),
      { numRuns: runs(500) },
    );
  });
});
