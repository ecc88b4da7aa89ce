/** What is counted between two: since the summary, unread, and whether there may be more. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countTraffic } from '#extensions/hive/matrix/rooms/count-traffic.ts';
import { emptyRoom, type RoomRecord } from '#extensions/hive/matrix/rooms/room-book.ts';
import { addSeen } from '#extensions/hive/matrix/rooms/seen-messages.ts';
import { verifies } from '../../../../verifies.ts';
import { roomOf, SELF, seenOf } from './hive-room.ts';

const CAROL = '@carol:x';
const count = (room: RoomRecord, lastSummarised?: string) =>
  countTraffic([room], { selfId: SELF, peerId: CAROL, lastSummarised });

const talk = seenOf(['$1', '@alice:x'], ['$2', CAROL], ['$3', SELF], ['$4', CAROL], ['$5', '@alice:x'], ['$6', CAROL]);

describe('traffic', () => {
  verifies(['R4.17', 'R4.18'], 'B5: both sides count since the message of the last summary, wherever it stands', () => {
    const room = roomOf({ seen: talk });
    assert.deepEqual(
      [undefined, '$1', '$2', '$3', '$5', '$6', '$gone'].map((last) => count(room, last).sinceSummary),
      [4, 4, 3, 2, 1, 0, 4],
    );
    assert.equal(count(room).atLeast, false);
    assert.equal(count({ ...room, hasMore: true }).atLeast, true);
    const read = { behind: [], read: { eventId: '$6', at: 1 } };
    assert.equal(count({ ...room, hasMore: true, notes: read }, '$6').atLeast, false);
  });

  test('unread are messages of the peer behind the mark; a mark that is no longer known counts by its time', () => {
    const marked = (eventId: string, at: number, hasMore = false) =>
      count(roomOf({ seen: talk, hasMore, notes: { read: { eventId, at } } }), '$6');
    assert.equal(count(roomOf({ seen: talk })).unread, 3);
    assert.deepEqual(
      ['$2', '$3', '$4', '$5', '$6'].map((id) => marked(id, 0).unread),
      [2, 2, 1, 1, 0],
    );
    assert.equal(marked('$old', 1_001).unread, 2);
    assert.deepEqual([marked('$old', 0, true).atLeast, marked('$old', 9_999, true).atLeast], [true, false]);
  });

  test('in two rooms with one peer both are counted', () => {
    const first = roomOf({
      id: '!1',
      seen: seenOf(['$1', CAROL], ['$2', CAROL]),
      notes: { read: { eventId: '$1', at: 1 } },
    });
    const second = roomOf({ id: '!2', seen: seenOf(['$a', CAROL]) });
    assert.equal(countTraffic([first, second], { selfId: SELF, peerId: CAROL, lastSummarised: undefined }).unread, 2);
  });
});

describe('messages that are remembered', () => {
  const event = (id: string) => ({ id, type: 'm.room.message', sender: CAROL, at: 1, content: {}, isRedacted: false });
  const events = (...ids: readonly number[]) => ids.map((id) => event(`$${id}`));
  const ids = (room: { readonly seen: RoomRecord['seen'] }) => room.seen.map(({ id }) => Number(id.slice(1)));
  const many = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

  test('duplicates change nothing, a gap is known as one, twenty are kept', () => {
    const empty = emptyRoom('!r');
    const first = { ...empty, ...addSeen(empty, { events: events(1, 2, 2, 3), isAfterGap: false }) };
    assert.deepEqual(ids(first), [1, 2, 3]);
    const again = addSeen(first, { events: events(1, 2, 3), isAfterGap: false });
    assert.equal(again.seen, first.seen);
    // A limited stretch that begins within what is known has no gap.
    assert.deepEqual(addSeen(first, { events: events(2, 3, 4), isAfterGap: true }).hasMore, false);
    assert.deepEqual(ids(addSeen(first, { events: events(2, 3, 4), isAfterGap: true })), [1, 2, 3, 4]);
    const behind = addSeen(first, { events: events(7, 8), isAfterGap: true });
    assert.deepEqual([ids(behind), behind.hasMore], [[7, 8], true]);
    const full = addSeen(first, { events: events(...many(4, 30)), isAfterGap: false });
    assert.deepEqual([ids(full), full.hasMore], [many(11, 30), true]);
  });
});
