/** Properties of taking in a sync: nothing in it breaks what is known, and a rebuild equals what grew piece by piece. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '#base/json.ts';
import { createPeerViewer } from '#extensions/hive/matrix/rooms/peer-view.ts';
import { EMPTY_BOOK, type RoomBook } from '#extensions/hive/matrix/rooms/room-book.ts';
import { applySync } from '#extensions/hive/matrix/sync/apply-sync.ts';
import { readSync } from '#extensions/hive/matrix/sync/read-sync.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

const SELF = '@me:x';
const PEOPLE = [SELF, '@alice:x', '@bob:x', '@carol:x'];
const open = (value: JsonObject) => ({ value, isAsWanted: true });
const viewer = createPeerViewer({ selfId: SELF, isWelcome: () => true, canEncrypt: false });

function apply(book: RoomBook, answer: unknown, isWhole = false): RoomBook {
  return applySync(book, readSync(answer as JsonObject), { selfId: SELF, open, isWhole });
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

  verifies(
    ['R4.54', 'R4.57', 'R4.61'],
    'a rebuild from one whole answer gives the same peers as all the answers before',
    () => {
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
    },
  );
});
