// Owns what stands of a link in the notes of the log, where both ends are and how it goes, for the process that carries rows and for all that ask; and
// what the two halves of the link say to one another. Knows no wire. Invariant: a note of another clade counts for nothing.
import { isJsonObject } from '#base/json.ts';
import type { Ground } from '#core/agent/room.ts';
import { CARRIER, type StyxTransport } from './home-log.ts';

/** How the link stands, as the process that holds it last said. */
export interface LinkState {
  readonly state: 'linked' | 'connecting' | 'waits' | 'off';
  /** What the server held when it was linked stands here. */
  readonly isCurrent?: boolean;
  /** Epoch ms, of this and of the next try. */
  readonly at: number;
  readonly next?: number;
  readonly url: string;
  readonly error?: string;
  readonly fix?: string;
}

/** Where both ends are: note `link` of the log. */
export interface LinkPlace {
  readonly clade: string;
  /** When the stream was made; another one, or an older copy, is begun anew. */
  readonly created: string;
  /** Newest message of the stream that stands here. */
  readonly down: number;
  /** Newest message that is known to be in the stream, and its id. */
  readonly top: number;
  readonly topId: string;
  /** Epoch ms of when that was seen. */
  readonly at: number;
}

export interface LinkParts {
  readonly log: StyxTransport;
  readonly url: string;
  readonly token: string | undefined;
  readonly tokenFrom: string;
  readonly clade: string;
  readonly ground: Pick<Ground, 'clock' | 'door'>;
  /** Every change. */
  readonly onState: (state: LinkState) => void;
}

/** Until the signal aborts. */
export type RunLink = (parts: LinkParts, signal: AbortSignal) => Promise<void>;

export const STATE_NOTE = 'link-state';

/** Of a fix: true while a process carries rows. */
export const AGAIN = 'It is tried again by itself.';

export function placeOf(log: StyxTransport, clade: string): LinkPlace {
  const note = log.note(CARRIER);
  const none = { clade, created: '', down: 0, top: 0, topId: '', at: 0 };
  return isJsonObject(note) && note.clade === clade ? { ...none, ...note } : none;
}
