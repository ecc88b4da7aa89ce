// Owns who is whose peer in a meeting, by the rules that hold for every transport (ADR 0023; hivemind notes 6, B3, B8, B9, B17). Pure.
// Invariant: exactly one besides self and creator is the peer; with none there it is the creator; with more, or in one's own introduction, nobody is.
import { isoTime } from '#base/clock.ts';
import { sliceText } from '#base/text.ts';
import { peerName } from '../peers/find-peer.ts';
import type { Peer } from '../peers/peer.ts';
import type { HubLine, Meeting, MeetingNotes } from './hub-state.ts';

const CONTEXT_LIMIT = 4_000;

export function peerIdIn(meeting: Meeting, self: string): string | undefined {
  const others = [...meeting.members.keys()].filter((id) => id !== self && id !== meeting.creator);
  const [only] = others;
  if (others.length > 1) return undefined;
  if (meeting.creator === self) return meeting.isDirect ? only : undefined;
  return only ?? meeting.creator;
}

/** The view of `self`, from the lines that it has taken in. */
export function peerIn(
  meeting: Meeting,
  self: string,
  taken: { readonly status: Peer['status']; readonly lines: readonly HubLine[]; readonly notes: MeetingNotes },
): Peer {
  const id = peerIdIn(meeting, self) ?? '';
  return {
    name: peerName(id),
    id,
    context: taken.notes.context ?? contextOf(taken.lines, meeting.creator, id),
    introduced_by: peerName(meeting.creator),
    introduced_at: isoTime(meeting.at),
    status: taken.status,
  };
}

/** The creator's own words, the earliest of them: nobody else says what a peer is like. */
function contextOf(lines: readonly HubLine[], creator: string, id: string): string {
  const start = aboutLine(id, '');
  const line = lines.find(({ from, text }) => from === creator && text.startsWith(start));
  return line === undefined ? '' : sliceText(line.text.slice(start.length).trim(), CONTEXT_LIMIT);
}

export function aboutLine(id: string, context: string): string {
  return `About ${id}: ${context}`;
}
