// Owns who speaks in a message and which line it stands in: an owner's direct chats are one lane and one session, a guest has his own, a
// group has its own. Knows no turn. Invariant: a lane runs one message at a time, in the order in which they came; lanes run side by side.
import type { Channel, Incoming } from '#core/agent/channel.ts';
import type { People, Seat } from './people.ts';

export interface ChannelSeat {
  readonly channel: Channel;
  /** Ids of persons who are owners. */
  readonly allow: readonly string[];
  /** Of everybody who writes there: what is said is signed. */
  readonly seat?: Seat;
  readonly groups: 'mention' | 'off';
  readonly progress: 'tools' | 'off';
}

/** Direct chats of owners, whatever the channel. */
const OWNER_LANE = 'owner';

/** Undefined: it is not for us. In a group everybody without a seat is passed over. */
export function seatIn(people: People, place: ChannelSeat, said: Incoming): Seat | 'stranger' | undefined {
  const seat = place.seat ?? people.seatOf(place.channel.name, said.person);
  if (said.isGroup && (place.groups === 'off' || !seat || !said.isMeant)) return undefined;
  return seat ?? 'stranger';
}

export function laneOf(people: People, place: ChannelSeat, said: Incoming): string {
  const { name } = place.channel;
  const seat = seatIn(people, place, said);
  // What stands in a session of owners is for no guest, also in a group.
  if (said.isGroup) return `${name}:group:${said.chat}${seat === 'guest' ? ':guests' : ''}`;
  if (place.seat) return `${name}:${said.chat}`;
  return seat === 'owner' ? OWNER_LANE : `${name}:${said.person}`;
}

/** A line of work a name, and so many lines at once. */
export class Lines {
  readonly #most: number;
  readonly #last = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs behind what was put into this line before; never rejects. */
  put(name: string, work: () => Promise<void>): void {
    const done = (this.#last.get(name) ?? Promise.resolve()).then(() => this.#placed(work));
    this.#last.set(name, done);
    void done.then(() => this.#last.get(name) === done && this.#last.delete(name));
  }

  /** When all that was put is done. */
  async drained(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }

  async #placed(work: () => Promise<void>): Promise<void> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      await work();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }
}
