// Owns what account data of a sync change in the book. Pure but for the cipher. Invariant: a note that cannot be read is as one that is not
// there, but for sparks, which are never lost by it.
import type { JsonObject } from '#base/json.ts';
import { holdsSparks, mergeSparks } from '../../peers/sparks.ts';
import { type AccountData, PEER_KEY, READ_KEY, SPARKS_KEY, SUMMARY_KEY } from '../account-data/account-data.ts';
import { type ReadMark, readReadMark } from '../account-data/read-mark.ts';
import { readStoredPeer } from '../account-data/stored-peer.ts';
import { readSparks } from '../account-data/stored-sparks.ts';
import { readSummary } from '../account-data/stored-summary.ts';
import { objectAt } from '../events/json-access.ts';
import { isFurther } from '../rooms/count-traffic.ts';
import type { NoteKind, RoomBook, RoomNotes, RoomRecord } from '../rooms/room-book.ts';

type Open = AccountData['open'];

export function applyRoomNotes(room: RoomRecord, events: readonly JsonObject[], open: Open): RoomRecord {
  let notes = room.notes;
  for (const event of events) notes = withNote({ ...room, notes }, event, open);
  return notes === room.notes ? room : { ...room, notes };
}

function withNote(room: RoomRecord, event: JsonObject, open: Open): RoomNotes {
  const { id, notes } = room;
  if (typeof event.type !== 'string') return notes;
  const { value, isAsWanted } = open(objectAt(event, 'content'), { key: event.type, room: id });
  if (value === undefined) return notes;
  const keep = <T>(kind: NoteKind, note: T | undefined): RoomNotes => {
    if (note === undefined) return notes;
    const behind = notes.behind.filter((other) => other !== kind);
    return { ...notes, [kind]: note, behind: isAsWanted ? behind : [...behind, kind] };
  };
  switch (event.type) {
    case PEER_KEY:
      return keep('peer', readStoredPeer(value, id));
    case SUMMARY_KEY:
      return keep('summary', readSummary(value));
    case READ_KEY:
      return withMark(room, readReadMark(value), keep);
    default:
      return notes;
  }
}

/** Another process may know of less: the further mark stays. */
function withMark(
  room: RoomRecord,
  mark: ReadMark | undefined,
  keep: (kind: NoteKind, mark: ReadMark | undefined) => RoomNotes,
): RoomNotes {
  const ours = room.notes.read;
  if (mark === undefined || ours === undefined || !isFurther(room.seen, ours, mark)) return keep('read', mark);
  return { ...room.notes, behind: [...room.notes.behind.filter((kind) => kind !== 'read'), 'read'] };
}

/** What we have and the server has not stays, and is to be written again. */
export function applySparks(before: RoomBook['sparks'], events: readonly JsonObject[], open: Open): RoomBook['sparks'] {
  const event = events.findLast(({ type }) => type === SPARKS_KEY);
  if (event === undefined) return before;
  const { value, isAsWanted } = open(objectAt(event, 'content'), { key: SPARKS_KEY });
  if (value === undefined) return { ...before, isLocked: true };
  const { sparks, foreign } = readSparks(value);
  const isComplete = holdsSparks(sparks, before.sparks);
  return {
    sparks: mergeSparks(sparks, before.sparks),
    foreign,
    isBehind: !isComplete || (!isAsWanted && sparks.length + foreign.length > 0),
    isLocked: false,
  };
}
