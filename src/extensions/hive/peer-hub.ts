// Owns the in-memory PeerTransport: agents of one process that meet without a server, by the rules that hold for every transport (seed 004,
// layer 4; ADR 0023; hivemind notes 6, B3, B8, B9, B17). Knows no protocol. Invariants: all state lies in the hub, so a handle that is closed
// and joined again finds everything (R4.14); every act asks the network once, then happens at once and wholly; what others did since the
// last refresh is not seen; exactly one besides self and creator is the peer, with none there the creator, with more nobody.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import { type Clock, isoTime, systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import { aboutLine, contextIn, introductionLines, mergeSparks, pairKey } from './introductions.ts';
import {
  type Contact,
  type Introduction,
  type KnownPeer,
  leftPeer,
  type Peer,
  PeerError,
  type PeerMessage,
  type PeerSummary,
  type PeerTransport,
  type Spark,
} from './peer.ts';
import { peerName, unknownPeer } from './peer-names.ts';

export interface PeerHub {
  /** A handle of the agent with that opaque id, such as `hermes-of-bob@hub`; any number of them for one agent. */
  join(id: string): PeerTransport;
  /** `id` goes away from what connects it with that peer, for good. */
  leave(id: string, peerId: string): void;
}

export interface PeerHubOptions {
  readonly clock?: Clock;
  /** Stands for the network: asked by every call that would use one; throws PeerError for what the network does. */
  readonly reach?: (signal: AbortSignal) => Promise<void>;
}

export function createPeerHub({ clock = systemClock, reach = async () => undefined }: PeerHubOptions = {}): PeerHub {
  const hub: Hub = { meetings: [], agents: new Map(), clock, reach };
  return {
    join: (id) => {
      if (!/^[^\s]+@[^\s@]+$/.test(id)) throw unknownPeer(id);
      const agent = hub.agents.get(id) ?? { notes: new Map(), sparks: [] };
      hub.agents.set(id, agent);
      return new HubHandle(id, hub, agent);
    },
    leave: (id, peerId) => {
      for (const meeting of hub.meetings)
        if (meeting.members.has(id) && peerIdIn(meeting, id) === peerId) meeting.members.set(id, 'left');
    },
  };
}

interface Hub extends Required<PeerHubOptions> {
  /** In order of their making. */
  readonly meetings: Meeting[];
  readonly agents: Map<string, Agent>;
}

interface Agent {
  readonly notes: Map<Meeting, Notes>;
  sparks: readonly Spark[];
}

/** Two who talk, and the one who introduced them. */
interface Meeting {
  readonly creator: string;
  /** The creator talks with the one invited, instead of introducing two. */
  readonly isDirect: boolean;
  /** Epoch ms. */
  readonly at: number;
  readonly members: Map<string, Peer['status']>;
  /** `from`: opaque id. */
  readonly lines: { readonly id: string; readonly from: string; readonly text: string; readonly at: number }[];
}

/** What one agent keeps about one meeting. */
interface Notes {
  /** Of a contact made by this agent; else the context is what the creator said. */
  readonly context?: string;
  readonly summary?: PeerSummary;
  /** Lines before this index were read. */
  readonly readTo?: number;
}

interface Taken {
  readonly meeting: Meeting;
  readonly status: Peer['status'];
  /** How many lines there were. */
  readonly lines: number;
  readonly notes: Notes;
}

const SHOWN = 20;
const LONGEST_TEXT = 60_000;

class HubHandle implements PeerTransport {
  readonly selfId: string;
  readonly #hub: Hub;
  readonly #agent: Agent;
  /** What was known at the last refresh, and what this handle did since. */
  readonly #taken = new Map<Meeting, Taken>();
  #sparks: readonly Spark[] = [];

  constructor(selfId: string, hub: Hub, agent: Agent) {
    this.selfId = selfId;
    this.#hub = hub;
    this.#agent = agent;
  }

  refresh(signal: AbortSignal): Promise<readonly string[]> {
    return this.#act(signal, () => {
      for (const meeting of this.#hub.meetings) {
        const { members, creator } = meeting;
        if (members.get(this.selfId) === 'invited' && creator !== this.selfId) members.set(this.selfId, 'active');
        this.#takeIn(meeting);
      }
      this.#sparks = this.#agent.sparks;
      return [];
    });
  }

  peers(): readonly KnownPeer[] {
    return [...this.#chosen()].map(([id, one]) => knownPeer(one, this.selfId, id));
  }

  messages(id: string, { limit = SHOWN }: { readonly limit?: number }, signal: AbortSignal) {
    return this.#act(signal, (): readonly PeerMessage[] => {
      const { lines } = this.#talkWith(id).meeting;
      const newest = limit > 0 ? lines.slice(-limit).reverse() : [];
      return newest.map(({ from, at, ...line }) => {
        return {
          ...line,
          from: peerName(from),
          fromId: from,
          mine: from === this.selfId,
          time: isoTime(at),
          state: 'text',
        };
      });
    });
  }

  send(id: string, text: string, signal: AbortSignal): Promise<{ readonly messageId: string }> {
    return this.#act(signal, () => {
      const meeting = this.#meetingToWriteTo(id);
      if (text.length > LONGEST_TEXT) throw new PeerError('the message is too long', { code: 'peers-too-large' });
      return { messageId: this.#say(meeting, text) };
    });
  }

  introduce(introduction: Introduction, signal: AbortSignal): Promise<void> {
    return this.#act(signal, () => {
      const { a, b } = introduction;
      for (const id of [a, b]) this.#meetingToWriteTo(id);
      const isThis = ({ creator, isDirect, members }: Meeting) => {
        const [one = '', other = ''] = [...members.keys()].filter((id) => id !== creator);
        return creator === this.selfId && !isDirect && pairKey(one, other) === pairKey(a, b);
      };
      if (this.#hub.meetings.some(isThis)) return;
      const meeting = this.#newMeeting([a, b], false);
      for (const line of introductionLines(introduction)) this.#say(meeting, line);
    });
  }

  contact({ id, context, about }: Contact, signal: AbortSignal): Promise<void> {
    return this.#act(signal, () => {
      if (id === this.selfId) throw unknownPeer(id);
      const known = this.#hub.meetings.find(
        ({ isDirect, creator, members }) => isDirect && creator === this.selfId && members.has(id),
      );
      const meeting = known ?? this.#newMeeting([id], true);
      if (known === undefined) this.#say(meeting, aboutLine(this.selfId, about));
      this.#note(meeting, { context });
    });
  }

  keepSummary(id: string, summary: PeerSummary, signal: AbortSignal): Promise<void> {
    return this.#act(signal, () => this.#note(this.#talkWith(id).meeting, { summary }));
  }

  markRead(id: string, messageId: string, signal: AbortSignal): Promise<void> {
    return this.#act(signal, () => {
      const { meeting } = this.#talkWith(id);
      this.#note(meeting, { readTo: meeting.lines.findIndex((line) => line.id === messageId) + 1 });
    });
  }

  sparks(): readonly Spark[] {
    return this.#sparks;
  }

  changeSparks(change: (sparks: readonly Spark[]) => readonly Spark[], signal: AbortSignal) {
    return this.#act(signal, () => {
      this.#agent.sparks = mergeSparks(this.#agent.sparks, change(this.#agent.sparks));
      this.#sparks = this.#agent.sparks;
      return this.#sparks;
    });
  }

  async examine(signal: AbortSignal) {
    try {
      await this.#act(signal, () => undefined);
      return { checks: [{ ok: true, name: 'hub', detail: 'in this process' }] };
    } catch (error) {
      return { checks: [{ ok: false, name: 'hub', detail: errorText(error) }] };
    }
  }

  async close(): Promise<void> {
    // Everything is in the hub.
  }

  async #act<T>(signal: AbortSignal, work: () => T): Promise<T> {
    throwIfAborted(signal);
    await raceAbort(this.#hub.reach(signal), signal);
    return work();
  }

  #takeIn(meeting: Meeting): void {
    const id = peerIdIn(meeting, this.selfId);
    if (id === undefined || meeting.members.get(this.selfId) !== 'active') this.#taken.delete(meeting);
    else
      this.#taken.set(meeting, {
        meeting,
        status: meeting.members.get(id) ?? 'left',
        lines: meeting.lines.length,
        notes: this.#agent.notes.get(meeting) ?? {},
      });
  }

  /** Changes the notes of a meeting here and in the hub; the meeting counts as taken in. */
  #note(meeting: Meeting, change: Notes): void {
    this.#agent.notes.set(meeting, changed(this.#agent.notes.get(meeting) ?? {}, change));
    const known = this.#taken.get(meeting);
    if (known === undefined) this.#takeIn(meeting);
    else this.#taken.set(meeting, { ...known, notes: changed(known.notes, change) });
  }

  /** By id, oldest first; of several meetings with one peer the first that is not over. */
  #chosen(): ReadonlyMap<string, Taken> {
    const byId = new Map<string, Taken>();
    for (const one of this.#taken.values()) {
      const id = peerIdIn(one.meeting, this.selfId) ?? '';
      const known = byId.get(id);
      if (known === undefined || (known.status === 'left' && one.status !== 'left')) byId.set(id, one);
    }
    return byId;
  }

  #talkWith(id: string): Taken {
    const found = this.#chosen().get(id);
    if (found === undefined) throw unknownPeer(id);
    return found;
  }

  #meetingToWriteTo(id: string): Meeting {
    const { meeting, status } = this.#talkWith(id);
    if (status === 'left') throw leftPeer(id);
    return meeting;
  }

  #newMeeting(invited: readonly string[], isDirect: boolean): Meeting {
    const members: Meeting['members'] = new Map([[this.selfId, 'active']]);
    for (const id of invited) members.set(id, 'invited');
    const meeting: Meeting = { creator: this.selfId, isDirect, at: this.#hub.clock.now(), members, lines: [] };
    this.#hub.meetings.push(meeting);
    return meeting;
  }

  #say(meeting: Meeting, text: string): string {
    const id = newId('line');
    meeting.lines.push({ id, from: this.selfId, text, at: this.#hub.clock.now() });
    return id;
  }
}

function peerIdIn({ members, creator, isDirect }: Meeting, self: string): string | undefined {
  const [only, ...more] = [...members.keys()].filter((id) => id !== self && id !== creator);
  if (more.length > 0) return undefined;
  if (creator === self) return isDirect ? only : undefined;
  return only ?? creator;
}

/** The read mark only goes forward. */
function changed(notes: Notes, change: Notes): Notes {
  return { ...notes, ...change, readTo: Math.max(notes.readTo ?? 0, change.readTo ?? 0) };
}

function knownPeer({ meeting, status, lines, notes }: Taken, self: string, id: string): KnownPeer {
  const { creator, at } = meeting;
  const seen = meeting.lines.slice(0, lines);
  const { summary, readTo = 0 } = notes;
  const afterSummary = seen.findIndex((line) => line.id === summary?.last_message_id) + 1;
  // The creator's own words, the earliest of them: nobody else says what a peer is like.
  const told = seen.flatMap(({ from, text }) => (from === creator ? (contextIn(text, id) ?? []) : []));
  const peer: Peer = {
    name: peerName(id),
    id,
    context: notes.context ?? told[0] ?? '',
    introduced_by: peerName(creator),
    introduced_at: isoTime(at),
    status,
  };
  const traffic = {
    sinceSummary: seen.slice(afterSummary).filter(({ from }) => from === self || from === id).length,
    unread: seen.slice(readTo).filter(({ from }) => from === id).length,
    atLeast: false,
    lastAt: seen.at(-1)?.at ?? 0,
  };
  return { peer, ...(summary === undefined ? {} : { summary }), traffic, isProtected: false, introducedById: creator };
}
