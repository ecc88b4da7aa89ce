// Owns what one handle has taken in of the hub: its knowledge between two refreshes. Knows no network.
// Invariant: what others did since the last refresh is not seen; what this handle did itself is.
import type { Peer, PeerSummary } from '../peers/peer.ts';
import type { KnownPeer, PeerTraffic } from '../peers/peer-transport.ts';
import type { HubLine, HubState, Meeting, MeetingNotes } from './hub-state.ts';
import { peerIdIn, peerIn } from './meeting-peer.ts';

interface Taken {
  readonly meeting: Meeting;
  readonly status: Peer['status'];
  /** How many lines there were. */
  readonly lines: number;
  readonly notes: MeetingNotes;
}

export interface HubView {
  /** Takes in everything that this agent may see now. */
  take(): void;
  /** Changes the notes of a meeting here and in the hub; the meeting counts as taken in. */
  note(meeting: Meeting, change: MeetingNotes): void;
  peers(): readonly KnownPeer[];
  /** The meeting by which one talks with that peer. */
  meetingWith(id: string): { readonly meeting: Meeting; readonly status: Peer['status'] } | undefined;
}

export function createHubView(state: HubState, self: string, notes: Map<string, MeetingNotes>): HubView {
  const taken = new Map<string, Taken>();
  const takeIn = (meeting: Meeting): void => {
    const id = peerIdIn(meeting, self);
    if (id === undefined || meeting.members.get(self) !== 'active') taken.delete(meeting.id);
    else
      taken.set(meeting.id, {
        meeting,
        status: meeting.members.get(id) ?? 'left',
        lines: meeting.lines.length,
        notes: notes.get(meeting.id) ?? {},
      });
  };
  /** By id, oldest first; of several meetings with one peer the first that is not over. */
  const chosen = (): ReadonlyMap<string, Taken> => {
    const byId = new Map<string, Taken>();
    for (const one of taken.values()) {
      const id = peerIdIn(one.meeting, self) ?? '';
      const known = byId.get(id);
      if (known === undefined || (known.status === 'left' && one.status !== 'left')) byId.set(id, one);
    }
    return byId;
  };
  return {
    take: () => {
      for (const meeting of state.meetings.values()) takeIn(meeting);
    },
    note: (meeting, change) => {
      notes.set(meeting.id, changed(notes.get(meeting.id) ?? {}, change));
      const known = taken.get(meeting.id);
      if (known === undefined) takeIn(meeting);
      else taken.set(meeting.id, { ...known, notes: changed(known.notes, change) });
    },
    peers: () => [...chosen()].map(([id, one]) => knownPeer(one, self, id)),
    meetingWith: (id) => chosen().get(id),
  };
}

/** The read mark only goes forward. */
function changed(notes: MeetingNotes, change: MeetingNotes): MeetingNotes {
  return { ...notes, ...change, readTo: Math.max(notes.readTo ?? 0, change.readTo ?? 0) };
}

function knownPeer({ meeting, status, lines, notes }: Taken, self: string, id: string): KnownPeer {
  const seen = meeting.lines.slice(0, lines);
  const peer = peerIn(meeting, self, { status, lines: seen, notes });
  const traffic = trafficOf(seen, { self, id, notes });
  return {
    peer,
    ...(notes.summary ? { summary: notes.summary } : {}),
    traffic,
    isProtected: false,
    introducedById: meeting.creator,
  };
}

function trafficOf(
  seen: readonly HubLine[],
  { self, id, notes }: { readonly self: string; readonly id: string; readonly notes: MeetingNotes },
): PeerTraffic {
  const sinceSummary = seen.slice(afterSummary(seen, notes.summary)).filter(({ from }) => from === self || from === id);
  const unread = seen.slice(notes.readTo ?? 0).filter(({ from }) => from === id);
  return { sinceSummary: sinceSummary.length, unread: unread.length, atLeast: false, lastAt: seen.at(-1)?.at ?? 0 };
}

function afterSummary(seen: readonly HubLine[], summary: PeerSummary | undefined): number {
  return seen.findIndex((line) => line.id === summary?.last_message_id) + 1;
}
