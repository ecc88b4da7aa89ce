// Owns where the screens get what they show: the doors of the golems and of Meta, and rows of the home's log, turned into screen events. Knows no window.
// Invariants: nothing is polled, rows and answers alone move the screens; a door that is not there is said once and the rest goes on; text of golems and of
// models is one clean line of bounded length; a row that is not whole is passed over.
import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { isJsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import type { Doors, Ground } from '#core/agent/room.ts';
import type { GolemState, Heard, SeenGolem, TickTold } from '#fleet/styx/clade.ts';
import { homeLogPath, openHomeLog, type StyxRow, type StyxTransport } from '#fleet/styx/home-log.ts';
import { oneLine } from '#surfaces/cli/terminal-text.ts';
import { type Board, EMPTY, FLOW_STEPS, reduce, type ScreenEvent, type SkillSeen } from './board.ts';
import { mindEvent } from './event-table.ts';

const number = z.number().catch(0);
const text = z.string().catch('');
const pad = z
  .object({ pleasure: number, arousal: number, dominance: number })
  .catch({ pleasure: 0, arousal: 0, dominance: 0 });
const words = z.array(z.string()).catch([]);

const presence = z.object({
  ...{ golem: z.string(), name: z.string(), signer: z.string(), generation: number, lineage: words },
  ...{ archetype: text, domain: text, cause: z.string().nullable().catch(null), tick: number },
  status: z.enum(['lives', 'paused', 'rests', 'killed', 'dead']),
  at: z.number().nullable().catch(null),
  ...{ phase: text, vitality: number, mood: pad, accuracy: z.number().nullable().catch(null) },
  ...{ skills: number, spent_usd: number, today_usd: number, last: z.string().nullable().catch(null) },
}) satisfies z.ZodType<GolemState>;

const tickTold = z.object({
  ...{
    golem: z.string(),
    tick: z.number(),
    at: number,
    tier: text,
    steps: words,
    gate: text,
    saw: text,
    skills: words,
  },
  followed: z.string().nullable().catch(null),
  prediction: z.object({ claim: text, p: number }).nullable().catch(null),
  answered_by: text,
  actions: z.array(z.object({ label: text, status: text })).catch([]),
  outcome: z.object({ success: z.boolean(), summary: text }).nullable().catch(null),
  ...{ phase: text, mood: pad, text },
}) satisfies z.ZodType<TickTold>;

const heard = z.object({
  ...{ golem: text, id: z.string(), tick: z.number().nullable() },
  refused: z.string().nullable().catch(null),
}) satisfies z.ZodType<Heard>;

const LONGEST = 400;

/** Every string in it as one clean line: golems and models wrote it. */
function clean(value: JsonValue): JsonValue {
  if (typeof value === 'string') return oneLine(value, LONGEST);
  if (Array.isArray(value)) return value.map(clean);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clean(inner ?? null)]));
}

/** Of the row of `golem`, as it is called; undefined: it tells a screen nothing. */
function eventOf({ topic, body, at }: StyxRow, golem: string): ScreenEvent | undefined {
  const told = clean(body);
  switch (topic.split('.')[2]) {
    case 'event': {
      const { data } = z.object({ at: z.number().catch(at), event: mindEvent }).safeParse(told);
      return data && { type: 'mind', golem, at: data.at, event: data.event };
    }
    case 'tick': {
      const { data: tick } = tickTold.safeParse(told);
      return tick && { type: 'tick', golem, at: tick.at, tick };
    }
    case 'presence': {
      const { data: state } = presence.safeParse(told);
      return state && { type: 'presence', golem, at, state };
    }
    case 'heard': {
      const { data } = heard.safeParse(told);
      return data && { type: 'heard', golem, at, heard: data };
    }
    default:
      return undefined;
  }
}

const TOLD = ['event', 'tick', 'presence', 'heard'].map((kind) => `golem.*.${kind}`);
/** After these what Meta keeps may have changed. */
const KEPT = ['golem.*.steer', 'golem.*.testament', 'golem.*.bundle', 'clade.*', 'library.*', 'meta.*', 'market.*'];
/** Rows of the past that a screen begins with. */
const PAST = 1_000;
/** How long rows that come together are waited for before Meta is asked once, ms. */
const TOGETHER_MS = 200;

/** By the last word of a row of the market. */
const MARKET_NEWS: Readonly<Record<string, string>> = {
  ...{ offered: 'A shop offers something new.', sold: 'A skill was sold.', bought: 'A skill was bought.' },
  ...{
    returned: 'The money of a sale went back.',
    reviewed: 'A review was sent.',
    withdrawn: 'A listing was withdrawn.',
  },
};

const WITHOUT: Readonly<Partial<Record<string, string>>> = {
  golems: 'The room of the golems is not there: those of other homes are shown as their rows tell.',
  clade: 'Meta is not there: nobody takes what you type, and there are no steers, owner model and library.',
};

/** What the screens know, kept up to date until it is closed. */
export class Watch {
  /** Told of each event after it was taken in, and of what was known before. */
  listener: ((event: ScreenEvent, before: Board) => void) | undefined;
  readonly #ground: Ground;
  readonly #log: StyxTransport;
  #board = EMPTY;
  #golems: Doors['golems'] | undefined;
  #clade: Doors['clade'] | undefined;
  #market: Doors['market'] | undefined;
  #seen: readonly SeenGolem[] = [];
  #stop: () => void = () => undefined;
  #cancel: (() => void) | undefined;
  #isLooking = false;
  /** What was begun by a row; never rejects. */
  #work: Promise<void> = Promise.resolve();

  /** Throws as `openHomeLog`. */
  constructor(ground: Ground) {
    this.#ground = ground;
    this.#log = openHomeLog({ path: homeLogPath(ground.places.home), clock: ground.clock });
  }

  get board(): Board {
    return this.#board;
  }

  get clock(): Clock {
    return this.#ground.clock;
  }

  /** Meta; absent: it is not there. */
  get clade(): Doors['clade'] | undefined {
    return this.#clade;
  }

  take(event: ScreenEvent): void {
    const before = this.#board;
    this.#board = reduce(before, event);
    this.listener?.(event, before);
  }

  /** Something of the screen itself. */
  say(text: string): void {
    this.take({ type: 'line', golem: '', at: this.clock.now(), text: oneLine(text, LONGEST) });
  }

  /** Nothing more happens here: after every row that was appended so far. */
  end(text: string): void {
    // Whoever follows is told of them when another one begins to.
    this.#log.follow([], () => undefined)();
    this.say(text);
  }

  /** What is there, with what was told of it lately. Throws what a door throws, but `no-door`. */
  async open(): Promise<void> {
    this.#golems = await this.#door('golems');
    this.#clade = await this.#door('clade');
    this.#market = await this.#door('market');
    await this.#look();
    let upTo = 0;
    this.#stop = this.#log.follow([...TOLD, ...KEPT], (row) => row.seq > upTo && this.#take(row));
    const past = this.#log.read(TOLD, (this.#log.latest(TOLD).at(-1)?.seq ?? 0) - PAST, PAST);
    upTo = past.at(-1)?.seq ?? 0;
    for (const row of past) if (!row.topic.endsWith('.presence')) this.#take(row);
    // What flowed then has arrived.
    for (let step = 0; step < FLOW_STEPS; step += 1) this.take({ type: 'flow' });
    await this.#askMeta();
  }

  /** After Meta was told something: golems may have come and gone. */
  async refresh(): Promise<void> {
    await this.#said(() => this.#look());
    await this.#askMeta();
  }

  /** What it keeps. */
  async #askMeta(): Promise<void> {
    await this.#said(async () => {
      const seen = (await this.#market?.seen()) ?? null;
      const isNews = seen !== null || this.#board.market !== null;
      if (isNews) this.take({ type: 'market', seen: clean(seen as unknown as JsonValue) as unknown as typeof seen });
    });
    const meta = this.#clade;
    if (!meta) return;
    await this.#said(async () => {
      const kept = { library: await meta.library(), steers: await meta.steers(), owner: meta.owner() };
      this.take({ type: 'kept', ...(clean(kept as unknown as JsonValue) as unknown as typeof kept) });
    });
  }

  /** A golem came into view: what it knows. */
  async lookAt({ where, name, called }: SeenGolem): Promise<void> {
    const door = this.#golems;
    if (where !== 'here' || !door) return;
    await this.#said(async () => {
      const answer = await door.ask(name, { what: 'skills' });
      if (answer.ok) this.take({ type: 'skills', golem: called, skills: skillsIn(answer.value.value) });
    });
  }

  async close(): Promise<void> {
    this.#cancel?.();
    this.#stop();
    await this.#work;
    this.#log.close();
  }

  async #door<Name extends 'golems' | 'clade' | 'market'>(name: Name): Promise<Doors[Name] | undefined> {
    try {
      return await this.#ground.door(name);
    } catch (error) {
      if (errorCode(error) !== 'no-door') throw error;
      const why = WITHOUT[name];
      if (why !== undefined) this.take({ type: 'absent', what: name, why });
      return undefined;
    }
  }

  /** Meta sees all golems; without it they are seen by their own room and by their rows. */
  async #look(): Promise<void> {
    const seen = this.#clade ? await this.#clade.look() : await this.#lookWithout();
    this.#seen = clean(seen as unknown as JsonValue) as unknown as readonly SeenGolem[];
    this.take({ type: 'golems', golems: this.#seen });
  }

  async #lookWithout(): Promise<readonly SeenGolem[]> {
    const now = this.clock.now();
    const told = this.#log.latest(['golem.*.presence']).flatMap((row): readonly SeenGolem[] => {
      const { data } = presence.safeParse(row.body);
      const where = this.#whereOf(row);
      const called = data && (where === 'here' ? data.name : `${data.name}@${where.slice(0, 4)}`);
      return data && called !== undefined ? [{ ...data, where, called, seenAt: row.at, isGone: false }] : [];
    });
    const states = await this.#golems?.states();
    if (!states) return told;
    const here = states.map((state) => ({ ...state, where: 'here', called: state.name, seenAt: now, isGone: false }));
    return [...here, ...told.filter(({ where }) => where !== 'here')];
  }

  #whereOf({ origin }: StyxRow): string {
    return origin === this.#log.origin ? 'here' : origin;
  }

  #take(row: StyxRow): void {
    const [first, name = '', kind] = row.topic.split('.');
    if (first !== 'golem' || !TOLD.includes(`golem.*.${kind}`)) {
      if (first === 'market') this.say(MARKET_NEWS[name] ?? `The market: ${name}.`);
      this.#soon();
      return;
    }
    const where = this.#whereOf(row);
    const golem = this.#seen.find((one) => one.name === name && one.where === where);
    if (golem === undefined) {
      this.#lookAgain(row);
      return;
    }
    const event = eventOf(row, golem.called);
    if (event) this.take(event);
    if (kind === 'heard') this.#soon();
  }

  /** A golem that nobody here knew: once for all rows that come meanwhile. */
  #lookAgain({ topic }: StyxRow): void {
    if (this.#isLooking || !topic.endsWith('.presence')) return;
    this.#isLooking = true;
    const done = () => {
      this.#isLooking = false;
    };
    this.#work = this.#said(() => this.#look()).then(done);
  }

  #soon(): void {
    this.#cancel?.();
    this.#cancel = this.#ground.clock.after(TOGETHER_MS, () => {
      this.#work = this.#askMeta();
    });
  }

  async #said(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.say(errorText(error));
    }
  }
}

const bundle = z.object({
  skills: z.array(z.object({ name: z.string(), confidence: z.number().nullable().catch(null) })),
});

function skillsIn(value: JsonValue): readonly SkillSeen[] {
  if (typeof value !== 'string') return [];
  const read = parseJsonObject(value);
  const { data } = bundle.safeParse(clean(read.ok ? read.value : {}));
  return (data?.skills ?? []).map(({ name, confidence }) => ({ name, confidence, mark: '', note: '' }));
}
