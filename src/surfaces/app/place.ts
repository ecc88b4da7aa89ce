// Owns what is open in a home before any room is: log, events, notices, work beside the turns, the end of all of it. Knows no room.
// Invariants: work is held and drained at shutdown (design: no floating work); a failure is reported once, never thrown into the void.
import { type Clock, systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { createEventLog, createFabric, type Fabric } from '#base/fabric.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { Seat } from '#core/agent/room.ts';
import type { SessionEvent, TurnEvent } from '#core/agent/turn-event.ts';
import type { AppOptions } from './app.ts';
import type { LoadedConfig } from './home/config.ts';
import type { Home } from './home/home.ts';
import { createLiveRedaction } from './home/variables.ts';
import type { OpenRooms } from './open-rooms.ts';

export interface Place {
  readonly home: Home;
  readonly clock: Clock;
  readonly options: AppOptions;
  readonly loaded: LoadedConfig;
  readonly events: Fabric<SessionEvent>;
  readonly notices: readonly string[];
  readonly modelNotices: readonly string[];
  readonly notice: (text: string) => void;
  readonly modelNotice: (text: string) => void;
  readonly log: (event: string, text: string) => void;
  readonly background: Background;
  /** Work for after the first turn. */
  readonly later: (name: string, work: () => Promise<unknown>) => void;
  /** Takes the values of known secrets out. */
  readonly redact: (text: string) => string;
  /** Names of rooms' secrets. */
  readonly secrets: readonly string[];
  readonly rooms: OpenRooms;
  /** What the composed agent brings, when it is there. */
  readonly late: { seat?: Omit<Seat, 'isAttended' | 'isAsked' | 'small'> };
  /** Sessions at which a person can answer. */
  readonly attended: Set<string>;
  /** Closes all of it. */
  readonly endings: Endings;
}

export interface Background {
  /** Aborts when shutdown begins: work that can stop early should. */
  readonly signal: AbortSignal;
  hold(name: string, work: Promise<unknown>): void;
  /** Waits for all held work, `patienceMs` at most. Gives the names of what was left running. */
  drain(patienceMs: number): Promise<readonly string[]>;
}

function createBackground(onFailure: (name: string, error: unknown) => void): Background {
  const running = new Map<Promise<unknown>, string>();
  const controller = new AbortController();
  return {
    signal: controller.signal,
    hold(name, work) {
      const held = work
        .catch((error: unknown) => {
          if (!controller.signal.aborted) onFailure(name, error);
        })
        .finally(() => running.delete(held));
      running.set(held, name);
    },
    async drain(patienceMs) {
      controller.abort();
      const patience = new AbortController();
      const settled = Promise.all(running.keys()).then(() => patience.abort());
      await Promise.race([settled, systemClock.sleep(patienceMs, patience.signal).catch(() => undefined)]);
      return [...running.values()];
    },
  };
}

/** Closes the last one first; each once, and every one of them also when another fails: the first failure is thrown at the end. */
export interface Endings {
  add(close: () => unknown): void;
  run(): Promise<void>;
}

export function createEndings(): Endings {
  const waiting: (() => unknown)[] = [];
  return {
    add(close) {
      waiting.push(close);
    },
    async run() {
      const failures: unknown[] = [];
      for (let close = waiting.pop(); close; close = waiting.pop()) {
        try {
          await close();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Log, events, background, notices: what every part reports to. */
export function openReports({
  home,
  clock,
  options,
  loaded,
  secrets,
}: Pick<Place, 'home' | 'clock' | 'options' | 'loaded' | 'secrets'>) {
  const file = createEventLog(home.log, clock);
  const redact = createLiveRedaction(home, options.environment, { given: loaded.config.memory.env, names: secrets });
  const log = (event: string, text: string) => file.write(event, { text: redactSecrets(redact(text)) });
  const notices: string[] = [];
  const modelNotices: string[] = [];
  const into = (list: string[]) => (text: string) => {
    list.push(text);
    log('notice', text);
  };
  const [notice, modelNotice] = [into(notices), into(modelNotices)];
  const events = createFabric<SessionEvent>((error) => log('subscriber-failed', errorText(error)));
  events.subscribe(({ event }) => logEvent(event, log));
  const background = createBackground((name, error) => log('background-failed', `${name}: ${errorText(error)}`));
  const waiting: (() => void)[] = [];
  events.subscribe(({ event }) => {
    if (event.type === 'turn-end') for (const start of waiting.splice(0)) start();
  });
  const later = (name: string, work: () => Promise<unknown>): void => {
    waiting.push(() => background.hold(name, work()));
  };
  return { log, notice, notices, modelNotice, modelNotices, events, background, redact, later };
}

function logEvent(event: TurnEvent, log: Place['log']): void {
  if (event.type === 'notice') log('notice', event.text);
  if (event.type === 'hook-failed') log('hook-failed', `${event.hook} at ${event.at}: ${event.error}`);
  if (event.type === 'model-fallback') log('model-fallback', `${event.from} to ${event.to}: ${event.reason}`);
  if (event.type === 'turn-end' && event.error) log('turn-failed', `${event.error.code}: ${event.error.message}`);
}
