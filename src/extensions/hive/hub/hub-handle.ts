// Owns one agent's handle on the hub: PeerTransport over shared memory. Knows no other handle.
// Invariant: every act asks the network once, before it does anything; after that it happens at once and wholly.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import { type Clock, isoTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import { peerName, unknownPeer } from '../peers/find-peer.ts';
import type { PeerMessage, Spark } from '../peers/peer.ts';
import { PeerError } from '../peers/peer-error.ts';
import type { Contact, Introduction, PeerTransport } from '../peers/peer-transport.ts';
import { mergeSparks, pairKey } from '../peers/sparks.ts';
import { agentOf, type HubLine, type HubState, type Meeting } from './hub-state.ts';
import { createHubView, type HubView } from './hub-view.ts';
import { aboutLine } from './meeting-peer.ts';

export interface HubGround {
  readonly state: HubState;
  readonly clock: Clock;
  readonly reach: (signal: AbortSignal) => Promise<void>;
}

const SHOWN = 20;
const LONGEST_TEXT = 60_000;

export function openHandle(self: string, ground: HubGround): PeerTransport {
  if (!/^[^\s]+@[^\s@]+$/.test(self)) throw unknownPeer(self);
  const { state } = ground;
  const agent = agentOf(state, self);
  const view = createHubView(state, self, agent.notes);
  let sparks: readonly Spark[] = [];
  const act = async <T>(signal: AbortSignal, work: () => T): Promise<T> => {
    throwIfAborted(signal);
    await raceAbort(ground.reach(signal), signal);
    return work();
  };
  return {
    selfId: self,
    refresh: (signal) =>
      act(signal, () => {
        for (const { members, creator } of state.meetings.values())
          if (members.get(self) === 'invited' && creator !== self) members.set(self, 'active');
        view.take();
        sparks = agent.sparks;
        return [];
      }),
    peers: () => view.peers(),
    messages: (id, { limit = SHOWN }, signal) =>
      act(signal, () => newestFirst(meetingWith(view, id).meeting, limit).map((line) => shown(line, self))),
    send: (id, text, signal) => act(signal, () => ({ messageId: sendTo(view, { id, text, self, ground }) })),
    introduce: (introduction, signal) => act(signal, () => introduce(view, introduction, { self, ground })),
    contact: (contact, signal) => act(signal, () => meetDirectly(view, contact, { self, ground })),
    keepSummary: (id, summary, signal) => act(signal, () => view.note(meetingWith(view, id).meeting, { summary })),
    markRead: (id, messageId, signal) => act(signal, () => markRead(view, meetingWith(view, id).meeting, messageId)),
    sparks: () => sparks,
    changeSparks: (change, signal) =>
      act(signal, () => {
        agent.sparks = mergeSparks(agent.sparks, change(agent.sparks));
        sparks = agent.sparks;
        return sparks;
      }),
    examine: async (signal) => ({ checks: [await examined(() => act(signal, () => undefined))] }),
    close: async () => undefined,
  };
}

interface Doing {
  readonly self: string;
  readonly ground: HubGround;
}

function meetingWith(view: HubView, id: string): ReturnType<HubView['meetingWith']> & object {
  const found = view.meetingWith(id);
  if (found === undefined) throw unknownPeer(id);
  return found;
}

function meetingToWriteTo(view: HubView, id: string): Meeting {
  const { meeting, status } = meetingWith(view, id);
  if (status === 'left') throw new PeerError(`${id} has left`, { code: 'peer-left' });
  return meeting;
}

function sendTo(
  view: HubView,
  { id, text, self, ground }: Doing & { readonly id: string; readonly text: string },
): string {
  const meeting = meetingToWriteTo(view, id);
  if (text.length > LONGEST_TEXT) throw new PeerError('the message is too long', { code: 'peers-too-large' });
  return say(meeting, { self, ground }, text);
}

function introduce(view: HubView, { a, b, contextOfA, contextOfB, reason }: Introduction, doing: Doing): void {
  for (const id of [a, b]) meetingToWriteTo(view, id);
  const { self, ground } = doing;
  const isThis = (meeting: Meeting) =>
    meeting.creator === self && !meeting.isDirect && pairKey(...invitedIn(meeting)) === pairKey(a, b);
  if ([...ground.state.meetings.values()].some(isThis)) return;
  const meeting = newMeeting(doing, [a, b], false);
  say(meeting, doing, aboutLine(a, contextOfA));
  say(meeting, doing, aboutLine(b, contextOfB));
  if (reason !== undefined && reason !== '') say(meeting, doing, `Why: ${reason}`);
}

function invitedIn({ members, creator }: Meeting): [string, string] {
  const [a = '', b = ''] = [...members.keys()].filter((id) => id !== creator);
  return [a, b];
}

function meetDirectly(view: HubView, { id, context, about }: Contact, doing: Doing): void {
  const { self, ground } = doing;
  if (id === self) throw unknownPeer(id);
  const known = [...ground.state.meetings.values()].find(
    (meeting) => meeting.isDirect && meeting.creator === self && meeting.members.has(id),
  );
  const meeting = known ?? newMeeting(doing, [id], true);
  if (known === undefined) say(meeting, doing, aboutLine(self, about));
  view.note(meeting, { context });
}

function newMeeting({ self, ground }: Doing, invited: readonly string[], isDirect: boolean): Meeting {
  const members: Meeting['members'] = new Map([[self, 'active']]);
  for (const id of invited) members.set(id, 'invited');
  const meeting: Meeting = {
    id: newId('meeting'),
    creator: self,
    isDirect,
    at: ground.clock.now(),
    members,
    lines: [],
  };
  ground.state.meetings.set(meeting.id, meeting);
  return meeting;
}

function say(meeting: Meeting, { self, ground }: Doing, text: string): string {
  const line: HubLine = { id: newId('line'), from: self, text, at: ground.clock.now() };
  meeting.lines.push(line);
  return line.id;
}

function newestFirst({ lines }: Meeting, limit: number): readonly HubLine[] {
  return limit > 0 ? lines.slice(-limit).reverse() : [];
}

function shown({ id, from, text, at }: HubLine, self: string): PeerMessage {
  return { id, from: peerName(from), fromId: from, mine: from === self, text, time: isoTime(at), state: 'text' };
}

function markRead(view: HubView, meeting: Meeting, messageId: string): void {
  view.note(meeting, { readTo: meeting.lines.findIndex(({ id }) => id === messageId) + 1 });
}

async function examined(
  reach: () => Promise<void>,
): Promise<{ readonly ok: boolean; readonly name: string; readonly detail: string }> {
  try {
    await reach();
    return { ok: true, name: 'hub', detail: 'in this process' };
  } catch (error) {
    return { ok: false, name: 'hub', detail: errorText(error) };
  }
}
