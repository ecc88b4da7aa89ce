// Owns the rooms of one agent while they are open: what they add, their doors, jobs, files and end. Knows no room.
// Invariants: a room is opened once, when all are or when a door of it is asked for; one that fails to open leaves nothing; after `close`
// nothing of a room runs, hears or holds a file any more.
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { Fabric } from '#base/fabric.ts';
import type { PromptSources } from '#core/agent/frozen-prompt.ts';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import type { Doors, Forgets, Forgot, Job, OpenRoom, Room, RoomGround } from '#core/agent/room.ts';
import type { SessionEvent } from '#core/agent/turn-event.ts';

/** What every room is lent; a new object each time it is asked. */
export type LendRoom = () => Omit<RoomGround, 'database'>;

export class OpenRooms {
  readonly #rooms: Room[];
  readonly #lend: LendRoom;
  readonly #opening = new Map<Room, Promise<OpenRoom>>();
  readonly #added = new Map<Room, OpenRoom>();
  /** In the order in which they were opened. */
  readonly #ends: { readonly name: string; readonly end: () => Promise<void> }[] = [];
  readonly #taken = new Set<string>();

  /** `rooms`: in the order in which they open and in which what they add is listed. */
  constructor(rooms: readonly Room[], lend: LendRoom) {
    this.#rooms = [...rooms];
    this.#lend = lend;
  }

  get all(): readonly Room[] {
    return this.#rooms;
  }

  /** What a room's `open` throws is thrown here. */
  async openAll(): Promise<Doors> {
    for (const room of this.all) if (room.opens !== 'when-asked') await this.#seat(room);
    return Object.assign({}, ...this.each('doors')) as Doors;
  }

  async door<Name extends keyof Doors>(name: Name): Promise<Doors[Name]> {
    const lender = this.all.find(({ lends }) => lends?.includes(name));
    const door = lender && (await this.open(lender)).doors?.[name];
    if (door === undefined) throw new TalariaError(`no room lends ${name}`, { code: 'no-door' });
    return door;
  }

  /** One part of every room that is open, in the order of the list. */
  each<Part extends keyof OpenRoom>(part: Part): readonly NonNullable<OpenRoom[Part]>[] {
    const parts = this.all.map((room) => this.#added.get(room)?.[part]);
    return parts.filter((added): added is NonNullable<typeof added> => added !== undefined);
  }

  async rules(): Promise<readonly ReflexRule[]> {
    const rules = (await Promise.all(this.each('rules').map((load) => load()))).flat();
    const taken = new Set<string>();
    for (const { intent } of rules) claim(taken, 'rule', intent);
    return rules;
  }

  prompt(window: number): Pick<PromptSources, 'memory' | 'skills'> {
    const parts = this.each('prompt').map((part) => part(window));
    const joined = (name: 'memory' | 'skills') => parts.flatMap((part) => part[name] || []).join('\n\n');
    return { memory: joined('memory'), skills: joined('skills') };
  }

  async forget(what: Forgets): Promise<readonly Forgot[]> {
    const forgot: Forgot[] = [];
    for (const forget of this.each('forget').toReversed()) forgot.unshift(...(await forget(what)));
    return forgot;
  }

  async settle(signal: AbortSignal): Promise<void> {
    for (const settle of this.each('settle').toReversed()) await settle(signal);
  }

  /** The last one first. Idempotent; what fails is a notice, and the rest goes on. */
  async close(): Promise<void> {
    const { notice } = this.#lend();
    for (const { name, end } of this.#ends.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        notice(`room ${name} did not end cleanly: ${errorText(error)}`);
      }
    }
    this.#added.clear();
  }

  async #seat(room: Room): Promise<void> {
    const { seated, ...added } = await this.open(room);
    if (!seated) return;
    const more = await seated();
    for (const tool of more.tools ?? []) claim(this.#taken, 'tool', tool.name);
    this.#added.set(room, { ...added, ...more });
  }

  /** Once; one that is not of the list is its last from then on. */
  open(room: Room): Promise<OpenRoom> {
    if (!this.#rooms.includes(room)) this.#rooms.push(room);
    const opening = this.#opening.get(room) ?? this.#open(room);
    this.#opening.set(room, opening);
    return opening;
  }

  async #open(room: Room): Promise<OpenRoom> {
    const { name } = room;
    const lent = this.#lend();
    const { clock, notice, events, places } = lent;
    const names: string[] = [];
    const take = (kind: string, taken: string) => names.push(claim(this.#taken, kind, taken));
    const jobs = createJobQueue(clock, (job, error) => notice(`job ${name}/${job} failed: ${errorText(error)}`));
    const back: (() => void)[] = [];
    let isOpen = true;
    const end = async (close?: OpenRoom['close']): Promise<void> => {
      await jobs.stop();
      try {
        await close?.();
      } finally {
        isOpen = false;
        for (const give of back.reverse()) give();
        for (const taken of names) this.#taken.delete(taken);
      }
    };
    const database = (fileName: string, schema: RoomSchema) => {
      if (!isOpen) throw new TalariaError(`the room ${name} has ended`, { code: 'room-ended' });
      take('file', ownFile(fileName));
      const { readOnly = false } = lent.opening;
      const opened = openDatabase(join(places.home, fileName), {
        rooms: [schema],
        clock,
        readOnly,
        onNewer: 'read-only',
      });
      back.unshift(() => opened.database.close());
      for (const { message } of opened.notices) notice(message);
      return opened.database;
    };
    try {
      take('room', name);
      const ground = Object.assign(lent, { database, events: ending(events, back) });
      const added = (await room.open?.(ground)) ?? {};
      for (const tool of added.tools ?? []) take('tool', tool.name);
      for (const task of added.tasks ?? []) take('task', task.schema);
      for (const job of added.jobs ?? []) jobs.add(job);
      this.#added.set(room, added);
      this.#ends.push({ name, end: () => end(added.close) });
      return added;
    } catch (error) {
      this.#opening.delete(room);
      await end();
      throw error;
    }
  }
}

/** The same events; what was subscribed to them can be given back. */
function ending(events: Fabric<SessionEvent>, back: (() => void)[]): Fabric<SessionEvent> {
  return {
    emit: (event) => events.emit(event),
    subscribe: (listener) => {
      const stop = events.subscribe(listener);
      back.push(stop);
      return stop;
    },
  };
}

function claim(taken: Set<string>, kind: string, name: string): string {
  const key = `${kind}:${name}`;
  if (taken.has(key)) throw new TalariaError(`the ${kind} name ${name} is taken`, { code: 'name-taken' });
  taken.add(key);
  return key;
}

function ownFile(fileName: string): string {
  if (/^(?:[a-z0-9-]+\/)?[a-z0-9-]+\.(?:db|sqlite)$/.test(fileName) && fileName !== 'state.db') return fileName;
  throw new TalariaError(`${fileName} is no name for a database of a room`, { code: 'file-name' });
}

/** Jobs of one room run one at a time; one that is late runs once, not once for every time it missed; none runs after `stop`. */
function createJobQueue(clock: Clock, onFailure: (job: string, error: unknown) => void) {
  const controller = new AbortController();
  const timers = new Map<string, () => void>();
  let tail = Promise.resolve();
  const run = async (job: Job): Promise<void> => {
    if (controller.signal.aborted) return;
    try {
      await job.run(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) onFailure(job.name, error);
    }
  };
  const schedule = (job: Job, dueAt: number): void => {
    const cancel = clock.after(Math.max(0, dueAt - clock.monotonic()), () => {
      tail = tail
        .then(() => run(job))
        .then(() => {
          // Times that passed while the job waited or ran are skipped.
          const missed = Math.floor(Math.max(0, clock.monotonic() - dueAt) / job.everyMs);
          if (!controller.signal.aborted) schedule(job, dueAt + (missed + 1) * job.everyMs);
        });
    });
    timers.set(job.name, cancel);
  };
  return {
    add(job: Job): void {
      if (timers.has(job.name)) throw new Error(`there is a job ${job.name} already`);
      schedule(job, clock.monotonic() + job.everyMs);
    },
    /** Aborts the job that runs and waits for it. */
    async stop(): Promise<void> {
      controller.abort();
      for (const cancel of timers.values()) cancel();
      await tail;
    },
  };
}
