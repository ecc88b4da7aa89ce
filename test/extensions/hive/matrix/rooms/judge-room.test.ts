/** Which rooms give a peer, and whom. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readStoredPeer } from '#extensions/hive/matrix/account-data/stored-peer.ts';
import { createJoinPolicy } from '#extensions/hive/matrix/rooms/join-policy.ts';
import { judgeRoom } from '#extensions/hive/matrix/rooms/judge-room.ts';
import { verifies } from '../../../../verifies.ts';
import { type RoomDraft, roomOf, SELF } from './hive-room.ts';

const JUDGE = { selfId: SELF, isWelcome: () => true };
const join = 'join' as const;
const invite = 'invite' as const;
const gone = 'gone' as const;

function verdictOf(draft: RoomDraft): string {
  const verdict = judgeRoom(roomOf(draft), JUDGE);
  if (verdict.kind === 'none') return verdict.isOdd ? 'none, odd' : 'none';
  return `${verdict.userId} ${verdict.status} by ${verdict.introducerId}${verdict.isShared ? ', shared' : ''}`;
}

const noteOf = (peer: string) =>
  readStoredPeer(
    {
      peer_id: peer,
      context: 'c',
      introduced_by_id: '@alice:x',
      introduced_at: '2026-04-03T20:00:00Z',
      status: 'active',
    },
    '!r',
  );

describe('which rooms give a peer', () => {
  verifies(['R4.32', 'R4.35'], 'B9: the one who is neither self nor creator; left and banned ones do not count', () => {
    const members = { '@alice:x': join, [SELF]: join };
    assert.equal(verdictOf({ members: { ...members, '@carol:x': join } }), '@carol:x active by @alice:x');
    assert.equal(verdictOf({ members: { ...members, '@carol:x': invite } }), '@carol:x invited by @alice:x');
    assert.equal(
      verdictOf({ members: { ...members, '@dave:x': gone, '@carol:x': join } }),
      '@carol:x active by @alice:x',
    );
    assert.equal(
      verdictOf({ members: { '@alice:x': gone, [SELF]: join, '@carol:x': join } }),
      '@carol:x active by @alice:x',
    );
    assert.equal(verdictOf({ members: { ...members, '@carol:x': join, '@dave:x': join } }), 'none, odd');
    assert.equal(verdictOf({ members: { ...members, '@carol:x': join, '@dave:x': invite } }), 'none, odd');
    assert.equal(verdictOf({ members: { ...members, '@carol:x': gone } }), 'none, odd');
  });

  test('B17: a room of two gives its creator, one that is alone gives nobody', () => {
    assert.equal(verdictOf({ members: { '@alice:x': join, [SELF]: join } }), '@alice:x active by @alice:x');
    assert.equal(verdictOf({ members: { '@alice:x': gone, [SELF]: join } }), 'none, odd');
    assert.equal(verdictOf({ members: { '@alice:x': join, '@carol:x': join } }), 'none, odd');
    assert.equal(verdictOf({ members: { '@alice:x': join, [SELF]: invite } }), 'none, odd');
  });

  verifies('R4.32', 'B8: a room that we made gives nobody, unless it is marked as a contact', () => {
    const members = { [SELF]: join, '@carol:x': join };
    assert.equal(verdictOf({ creator: SELF, members }), 'none');
    assert.equal(verdictOf({ creator: SELF, members, notes: { peer: noteOf('@carol:x') } as never }), 'none');
    assert.equal(verdictOf({ creator: SELF, isDirect: true, members }), `@carol:x active by ${SELF}`);
    assert.equal(verdictOf({ creator: SELF, isDirect: true, members: { ...members, '@dave:x': join } }), 'none, odd');
    assert.equal(verdictOf({ creator: '@alice:x', isDirect: true, members }), '@carol:x active by @alice:x');
  });

  test('who is known is never replaced by somebody else', () => {
    const notes = { peer: noteOf('@carol:x') } as never;
    const rest = { '@alice:x': join, [SELF]: join };
    assert.equal(verdictOf({ notes, members: { ...rest, '@carol:x': gone } }), '@carol:x left by @alice:x');
    assert.equal(verdictOf({ notes, members: { ...rest, '@mallory:x': join } }), '@carol:x left by @alice:x, shared');
    assert.equal(
      verdictOf({ notes, members: { ...rest, '@carol:x': join, '@mallory:x': invite } }),
      '@carol:x active by @alice:x, shared',
    );
    assert.equal(verdictOf({ notes, members: { ...rest, '@carol:x': join } }), '@carol:x active by @alice:x');
  });

  test('B15: nobody comes through somebody whose introductions are not accepted', () => {
    const room = roomOf({ creator: '@mallory:y', members: { '@mallory:y': join, [SELF]: join, '@dave:x': join } });
    const welcome = (allow: string[], deny: string[]) =>
      judgeRoom(room, { selfId: SELF, isWelcome: createJoinPolicy({ allow, deny }) }).kind;
    assert.equal(welcome([], []), 'peer');
    assert.equal(welcome([], ['mallory@*']), 'none');
    assert.equal(welcome(['*@x'], []), 'none');
    assert.equal(welcome(['*@y'], ['*@y']), 'none');
    assert.equal(welcome(['MAL*@Y'], []), 'peer');
    assert.equal(welcome(['mallory@.'], []), 'none');
    assert.equal(welcome(['m********************************y@y'], []), 'peer');
  });
});
