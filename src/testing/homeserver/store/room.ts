// Owns what the fake homeserver keeps of one room: its timeline and the state that follows from it. Knows no permission.
// Invariant: `state` is what replaying the whole timeline gives; positions in the timeline only grow.
import { membershipOf, type RoomEvent, type StoredEvent, stateName, stateNameOf } from './room-event.ts';

export type RoomState = ReadonlyMap<string, StoredEvent>;

export class Room {
  readonly id: string;
  readonly version: number;
  readonly timeline: StoredEvent[] = [];
  readonly forgottenBy = new Set<string>();
  readonly #state = new Map<string, StoredEvent>();

  constructor(id: string, version: number) {
    this.id = id;
    this.version = version;
  }

  get state(): RoomState {
    return this.#state;
  }

  get lastPosition(): number {
    return this.timeline.at(-1)?.position ?? 0;
  }

  append(stored: StoredEvent): void {
    this.timeline.push(stored);
    const name = stateNameOf(stored.event);
    if (name !== undefined) this.#state.set(name, stored);
  }

  stateEvent(type: string, stateKey = ''): RoomEvent | undefined {
    return this.#state.get(stateName(type, stateKey))?.event;
  }

  /** State after everything up to and with `position`. */
  stateAt(position: number): RoomState {
    if (position >= this.lastPosition) return this.#state;
    const state = new Map<string, StoredEvent>();
    for (const stored of this.timeline) {
      if (stored.position > position) break;
      const name = stateNameOf(stored.event);
      if (name !== undefined) state.set(name, stored);
    }
    return state;
  }

  memberEvent(userId: string): StoredEvent | undefined {
    return this.#state.get(stateName('m.room.member', userId));
  }

  membership(userId: string): string | undefined {
    return membershipOf(this.memberEvent(userId)?.event);
  }

  /** Ids of those whose membership is one of these. */
  members(...memberships: readonly string[]): readonly string[] {
    const found: string[] = [];
    for (const { event } of this.#state.values()) {
      if (event.type === 'm.room.member' && memberships.includes(membershipOf(event) ?? '')) {
        found.push(event.state_key ?? '');
      }
    }
    return found;
  }

  find(eventId: string): StoredEvent | undefined {
    return this.timeline.find((stored) => stored.event.event_id === eventId);
  }

  /** Index of the first event after `position`. */
  indexAfter(position: number): number {
    let low = 0;
    let high = this.timeline.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.timeline[middle]?.position ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
