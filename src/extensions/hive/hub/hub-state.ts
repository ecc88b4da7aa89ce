// Owns what the hub keeps for everybody: who met whom, what was said, and each agent's own notes (seed 004, layer 4, without a server).
// Knows no handle. Invariant: lines and meetings are only ever added; an agent's notes are read and changed by that agent alone.
import type { Peer, PeerSummary, Spark } from '../peers/peer.ts';

export interface HubLine {
  readonly id: string;
  /** Opaque id of who said it. */
  readonly from: string;
  readonly text: string;
  /** Epoch ms. */
  readonly at: number;
}

/** Two who talk, and the one who introduced them. */
export interface Meeting {
  readonly id: string;
  readonly creator: string;
  /** The creator talks with the one invited, instead of introducing two. */
  readonly isDirect: boolean;
  /** Epoch ms. */
  readonly at: number;
  readonly members: Map<string, Peer['status']>;
  readonly lines: HubLine[];
}

/** What one agent keeps about one meeting. */
export interface MeetingNotes {
  /** Of a contact made by this agent; else the context is what the creator said. */
  readonly context?: string;
  readonly summary?: PeerSummary;
  /** Lines before this index were read. */
  readonly readTo?: number;
}

export interface HubAgent {
  readonly notes: Map<string, MeetingNotes>;
  sparks: readonly Spark[];
}

export interface HubState {
  /** In order of their making. */
  readonly meetings: Map<string, Meeting>;
  readonly agents: Map<string, HubAgent>;
}

/** Whoever is named in the hub is there, also before its first handle. */
export function agentOf(state: HubState, id: string): HubAgent {
  const agent = state.agents.get(id) ?? { notes: new Map(), sparks: [] };
  state.agents.set(id, agent);
  return agent;
}
