// Owns the time between ticks (hierarchy notes A1): the wait, words of the owner, pauses, kits of the clade, dreams, and what ends a life; how the mind
// is called and what it says sent on. One tick is tick.ts. Invariants: no tick waits longer for the mind than its patience; at most three ticks
// wait; what an event is told of is committed.
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import type { Fabric } from '#base/fabric.ts';
import { sha256 } from '#base/ids.ts';
import type { JsonValue } from '#base/json.ts';
import { oneLine } from '#base/text.ts';
import type { Heard as Answered } from '#fleet/styx/clade.ts';
import type { StyxTransport } from '#fleet/styx/home-log.ts';
import { heed, type KnownWords, kitsFor, type Listener } from '#fleet/styx/words.ts';
import type { LifeState, Owed } from './golem-rows.ts';
import type { DeathCause, GolemEvent, HermesEvent, Reply, TickRecord } from './hooks.ts';
import { type Heard, liveTick, type TickParts } from './tick.ts';
import { type Counted, stateOf, tickLine, toldTick, vouchOf } from './told.ts';
import { intervalMs } from './vitals.ts';

export interface HeartbeatParts extends Omit<TickParts, 'call'> {
  readonly log: StyxTransport;
  readonly fabric: Fabric<GolemEvent>;
  /** Hear the log, and cut a wait short for a word of the owner. */
  readonly listens: boolean;
  /** Keys that speak for the owner. */
  readonly owners: () => readonly string[];
  /** Undoes this version of a skill when it is the one that stands. Why not, or nothing. */
  readonly rollBack: (skill: string, version: number) => Promise<string | undefined>;
}

/** How long a call of the mind may take, ms; then the tick goes on without. */
export const MIND_PATIENCE_MS = 5_000;
const DREAM_PATIENCE_MS = 600_000;
const MOST_WAITING = 3;
/** Rows of the log at once: what is said during a pause has to fit, or its end is not heard. */
const MOST_HEARD = 10_000;
const SENESCENT_TICKS = 500;
/** It tells that it is there, ms. */
const PRESENT_MS = 60_000;

/** Words that it knows it answered. */
const MOST_ANSWERED = 256;

export type LifeEvent =
  | { readonly type: 'tick'; readonly record: TickRecord }
  | { readonly type: 'dream'; readonly tick: number; readonly report: JsonValue }
  | { readonly type: 'paused' | 'resumed' }
  | { readonly type: 'dying'; readonly cause: DeathCause; readonly tick: number };

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  readonly #topic: string;
  #wake: AbortController | undefined;
  /** Of between the ticks: they stand in the next record. */
  readonly #faults: string[] = [];
  readonly #late = new Set<Promise<void>>();
  /** What it will tell of itself. */
  #skills = 0;
  #last: string | null = null;
  #leave: (() => void) | undefined;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#topic = `golem.${parts.golem.identity.name}`;
  }

  get #state(): LifeState {
    return this.#parts.golem.rows.state() as LifeState;
  }

  /** Lives until so many ticks, the signal, or its end. What ends it comes last: settling it is the caller's. */
  async *live(limits: { readonly ticks?: number; readonly signal: AbortSignal }): AsyncGenerator<LifeEvent> {
    const { ticks = Number.POSITIVE_INFINITY, signal } = limits;
    const { clock, listens } = this.#parts;
    const stop = listens ? this.#listen() : () => undefined;
    try {
      if (yield* this.#begin()) return;
      let due = clock.monotonic();
      for (let lived = 0; lived < ticks && !signal.aborted; ) {
        await this.#takeKits();
        const heard = this.#hear();
        if (heard.isPaused && !heard.retires) {
          yield* this.#pause(heard, signal);
          due = clock.monotonic();
          continue;
        }
        due = this.#dropLate(due);
        const record = yield* this.#beat(heard, signal);
        if (record === undefined) return;
        lived += 1;
        due += this.#interval(record);
        if (lived < ticks) await this.#wait(due - clock.monotonic(), signal);
      }
    } finally {
      stop();
      this.#leave?.();
      await withPatience(Promise.all(this.#late), MIND_PATIENCE_MS, clock).catch(() => undefined);
      await this.#present().catch(() => undefined);
    }
  }

  #listen(): () => void {
    this.#leave = this.#stayPresent();
    return this.#parts.log.follow([`${this.#topic}.steer`], () => this.#wake?.abort());
  }

  /** True: its end was owed. */
  async *#begin(): AsyncGenerator<LifeEvent, boolean> {
    await this.#call(() => this.#parts.hooks.session({ reason: 'start' }), this.#faults);
    await this.#present();
    await this.#askForKit();
    // What a process that ended in between took on.
    await this.#settle();
    return this.#owed !== undefined && (yield* this.#follow(false));
  }

  /** One tick and what follows it. Undefined: nothing follows any more. */
  async *#beat(heard: Heard, signal: AbortSignal): AsyncGenerator<LifeEvent, TickRecord | undefined> {
    const { golem } = this.#parts;
    const call = this.#call.bind(this);
    const record = await liveTick({ ...this.#parts, call }, heard, this.#faults.splice(0), signal);
    if (record === undefined) return undefined;
    await this.#reflect(record, signal);
    await this.#settle();
    await this.#tell(record);
    yield { type: 'tick', record };
    const isOver = yield* this.#follow(record.tick % golem.settings.hermes.dream_interval === 0);
    return isOver ? undefined : record;
  }

  get #owed(): Owed | undefined {
    return this.#parts.golem.rows.value<Owed | null>('owed') ?? undefined;
  }

  /** Whoever said something is answered, and what is to go back goes back. */
  async #settle(): Promise<void> {
    const { golem, rollBack, hooks } = this.#parts;
    const owed = this.#owed;
    if (owed === undefined) return;
    await this.#answer(owed.heard);
    for (const { skill, version } of owed.rollbacks) {
      const why = await rollBack(skill, version);
      if (why !== undefined) this.#faults.push(`rollback: ${oneLine(why, 200)}`);
    }
    if (owed.rollbacks.length > 0) await this.#call(() => hooks.session({ reason: 'resume' }), this.#faults);
    const isDone = !owed.dreams && !owed.retires;
    await golem.rows.keep('owed', isDone ? null : { ...owed, heard: [], rollbacks: [] });
  }

  /** To whoever said them, each once: of a pause it is told when it begins. */
  async #answer(heard: readonly Answered[]): Promise<void> {
    const { rows } = this.#parts.golem;
    const told = new Set(rows.value<readonly string[]>('answered') ?? []);
    const fresh = heard.filter(({ id, refused }) => refused !== null || !told.has(id));
    for (const one of fresh) await this.#parts.log.append(`${this.#topic}.heard`, { ...one });
    if (fresh.length > 0) await rows.keep('answered', [...told, ...fresh.map(({ id }) => id)].slice(-MOST_ANSWERED));
  }

  /** What the last tick leads to. True: nothing follows any more. */
  async *#follow(isDreamTime: boolean): AsyncGenerator<LifeEvent, boolean> {
    const { dreams = false, retires = false } = this.#owed ?? {};
    const cause = retires ? 'owner-kill' : this.#causeOfDeath();
    if (cause !== undefined) {
      yield { type: 'dying', cause, tick: this.#state.tick };
      return true;
    }
    if (dreams || isDreamTime) yield* this.#dream(this.#state);
    if (dreams) await this.#parts.golem.rows.keep('owed', null);
    return false;
  }

  /** After the commit: the mind is told, and the domain keeps or takes back what was done. */
  async #reflect(record: TickRecord, signal: AbortSignal): Promise<void> {
    const { hooks, domain } = this.#parts;
    await this.#call(() => hooks.afterTurn({ record }), this.#faults);
    if (record.outcome === undefined) return;
    await domain.conclude?.(record.outcome, signal).catch((error: unknown) => {
      this.#faults.push(`conclude-failed: ${oneLine(errorText(error), 200)}`);
    });
  }

  async *#pause(heard: Heard, signal: AbortSignal): AsyncGenerator<LifeEvent> {
    const { hooks, golem } = this.#parts;
    const { rows } = golem;
    // What was said is still to be taken: it counts as heard with the next tick.
    await rows.keepState({ ...this.#state, isPaused: true });
    await this.#present();
    yield { type: 'paused' };
    for (let now = heard; now.isPaused && !now.retires; now = this.#hear()) {
      const pauses = now.words.filter(({ kind }) => kind === 'pause');
      const at = { golem: golem.identity.id, tick: this.#state.tick, refused: null };
      await this.#answer(pauses.map(({ id }) => ({ ...at, id })));
      await this.#wait(golem.settings.heartbeat.base_interval_seconds * 1_000, signal);
      if (signal.aborted) return;
    }
    await rows.keepState({ ...this.#state, isPaused: false });
    await this.#present();
    await this.#call(() => hooks.session({ reason: 'resume' }), this.#faults);
    yield { type: 'resumed' };
  }

  #hear(): Heard {
    const { heardUpTo, isPaused } = this.#state;
    const rows = this.#parts.log.read([`${this.#topic}.steer`], heardUpTo, MOST_HEARD);
    const heeded = heed(rows, () => this.#listener());
    const has = (wanted: string) => heeded.words.some(({ kind }) => kind === wanted);
    const last = heeded.words.findLast(({ kind }) => kind === 'pause' || kind === 'resume');
    return {
      ...heeded,
      steers: heeded.words.flatMap(({ kind, text }) => (kind === 'steer' && text ? [oneLine(text, 1_000)] : [])),
      upTo: rows.at(-1)?.seq ?? heardUpTo,
      ...{ dreams: has('dream'), retires: has('retire') },
      isPaused: last === undefined ? isPaused : last.kind === 'pause',
    };
  }

  #listener(): Listener {
    const { golem, owners } = this.#parts;
    const { id, signer } = golem.identity;
    return { golem: id, signer, owners: owners(), known: golem.rows.value<KnownWords>('words') ?? {} };
  }

  /** A newborn asks the clade once, and waits for nobody (C43). */
  async #askForKit(): Promise<void> {
    const { rows, identity } = this.#parts.golem;
    if (this.#state.tick > 0 || rows.value('askedForKit') === true) return;
    await rows.keep('askedForKit', true);
    const { id, signer, archetype, domain } = identity;
    const body = { kind: 'seed-kit', golem: id, signer, archetype, domain };
    const asked = this.#parts.log.append(`${this.#topic}.ask`, body);
    await asked.catch((error: unknown) => this.#faults.push(`kit: ${oneLine(errorText(error), 200)}`));
  }

  /** What the clade sent since: it is taken in as any bundle, and the skills are counted anew. */
  async #takeKits(): Promise<void> {
    const { golem, log, hooks } = this.#parts;
    const { rows, places } = golem;
    const kits = kitsFor(log, rows.value<number>('kitsUpTo') ?? 0, () => this.#listener());
    if (kits === undefined) return;
    for (const text of kits.texts) atomicWrite(join(places.inbox, `${sha256(text).slice(0, 16)}.json`), text);
    await rows.keep('kitsUpTo', kits.upTo);
    if (kits.texts.length === 0) return;
    await this.#call(() => hooks.session({ reason: 'resume' }), this.#faults);
    await this.#present();
  }

  /** At most three ticks wait; the older ones are not made up for. */
  #dropLate(due: number): number {
    const interval = this.#parts.golem.settings.heartbeat.base_interval_seconds * 1_000;
    const dropped = Math.floor((this.#parts.clock.monotonic() - due) / interval) - MOST_WAITING;
    if (dropped <= 0) return due;
    this.#faults.push(`tick-dropped: ${dropped}`);
    return due + dropped * interval;
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    const wake = new AbortController();
    this.#wake = wake;
    try {
      await this.#parts.clock.sleep(Math.max(0, ms), AbortSignal.any([signal, wake.signal]));
    } catch (error) {
      if (!signal.aborted && !wake.signal.aborted) throw error;
    }
  }

  #interval({ pe, threshold, outcome }: TickRecord): number {
    const base = this.#parts.golem.settings.heartbeat.base_interval_seconds;
    const hasFailed = outcome?.verified === true && !outcome.success;
    const { quietTicks } = this.#state;
    // A base under the usual bounds is meant: a demonstration, a test.
    return base < 5 ? base * 1_000 : intervalMs(base, { surprise: pe, threshold, hasFailed, quietTicks });
  }

  async *#dream({ tick, phase }: LifeState): AsyncGenerator<LifeEvent> {
    const { hooks, golem, spentToday } = this.#parts;
    const budget_usd = Math.max(0, golem.settings.heartbeat.max_daily_cost_usd - (await spentToday()).usd);
    const onset = () => hooks.dreamOnset({ tick, budget_usd, phase });
    const dreamt = await this.#call(onset, this.#faults, DREAM_PATIENCE_MS);
    yield { type: 'dream', tick, report: (dreamt ?? { refused: 'the mind did not answer' }) as JsonValue };
  }

  #causeOfDeath(): DeathCause | undefined {
    const { max_ticks: most, credit_usd: credit = Number.POSITIVE_INFINITY } = this.#parts.golem.settings.golem;
    const { tick, wrongTicks, spentUsd } = this.#state;
    if (spentUsd >= credit) return 'credit-exhausted';
    if (wrongTicks >= SENESCENT_TICKS) return 'senescence';
    return tick >= most ? 'age' : undefined;
  }

  async #call<Value>(
    hook: () => Promise<Reply<Value>>,
    faults: string[],
    patienceMs = MIND_PATIENCE_MS,
  ): Promise<Value | undefined> {
    const work = hook();
    try {
      const reply = await withPatience(work, patienceMs, this.#parts.clock);
      await this.#pass(reply);
      return reply.value;
    } catch (error) {
      faults.push(`mind: ${oneLine(errorText(error), 200)}`);
      // What it says later is not lost, and no tick waits for it.
      const late = work.then((reply) => this.#pass(reply)).catch(() => undefined);
      this.#late.add(late);
      void late.then(() => this.#late.delete(late));
      return undefined;
    }
  }

  async #pass({ events, cost }: Reply<unknown>): Promise<void> {
    const state = this.#state;
    if (cost.usd > 0) await this.#parts.golem.rows.keepState({ ...state, spentUsd: state.spentUsd + cost.usd });
    for (const event of events) {
      if (event.type === 'SkillsLoaded') this.#skills = event.count;
      if (event.type === 'SkillCreated') this.#skills += 1;
      await sendEvent(this.#parts, event);
    }
  }

  /** Those who look on are told of a tick in which something happened. */
  async #tell(record: TickRecord): Promise<void> {
    const { listens, golem, log } = this.#parts;
    const line = tickLine(record);
    if (!listens || line === undefined) return;
    this.#last = line;
    await log.append(`${this.#topic}.tick`, toldTick(record, golem.identity.id) as unknown as JsonValue);
  }

  #stayPresent(): () => void {
    return this.#parts.clock.after(PRESENT_MS, () => {
      this.#leave = this.#stayPresent();
      const told = this.#present().catch((error: unknown) => {
        this.#faults.push(`presence: ${oneLine(errorText(error), 200)}`);
      });
      this.#late.add(told);
      void told.then(() => this.#late.delete(told));
    });
  }

  async #present(): Promise<void> {
    const { golem, clock, listens, spentToday } = this.#parts;
    if (!listens) return;
    const { last = null } = golem.rows.value<Counted>('told') ?? {};
    const counted = { skills: this.#skills, todayUsd: (await spentToday()).usd, at: clock.now() };
    await golem.rows.keep('told', { ...counted, last: this.#last ?? last } satisfies Counted);
    await sendPresence(this.#parts);
  }
}

type Teller = Pick<HeartbeatParts, 'golem' | 'log' | 'clock'>;

/** How it stands now, to whoever looks on. */
export async function sendPresence({ golem, log, clock }: Teller, status?: 'rests'): Promise<void> {
  const state = { ...stateOf(golem, { now: clock.now(), status }), ...vouchOf(golem, clock) };
  await log.append(`golem.${golem.identity.name}.presence`, state as unknown as JsonValue);
}

/** On the fabric of the process and the log of the home, in its envelope. */
export async function sendEvent(
  { golem, fabric, log, clock }: Pick<HeartbeatParts, 'golem' | 'fabric' | 'log' | 'clock'>,
  event: HermesEvent,
): Promise<void> {
  const { name, id } = golem.identity;
  const { seq, tick } = await golem.rows.nextEvent();
  const sent: GolemEvent = { golem: id, seq, tick, at: clock.now(), event };
  fabric.emit(sent);
  await log.append(`golem.${name}.event`, sent as unknown as JsonValue);
}

/** Rejects when the work takes longer; it may go on by itself. */
export async function withPatience<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  const late = Promise.withResolvers<never>();
  const cancel = clock.after(ms, () => late.reject(new Error(`it did not answer within ${ms / 1_000} s`)));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    cancel();
  }
}
