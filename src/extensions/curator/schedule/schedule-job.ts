// Owns the schedule inside Talaria, for machines with neither systemd nor launchd (seed 002, timers). Knows runs by auto-run alone, loaded
// when one is due. Invariant: a time is on disk before its run begins, so that no restart and no failure makes runs follow each other;
// of several processes the home's lease lets one write.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime, parseTime } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { createEventLog } from '#base/event-log.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { ScheduledJob } from '#core/agent/extension-host.ts';
import type { CuratorGround, CuratorMind } from '../curator-ground.ts';
import type { ScheduleConfig } from './schedule-config.ts';

/** How often it is looked whether a run is due, ms. */
const WAKE_MS = 60_000;

/** One run; gives what it did. Throws what went wrong. */
export type ScheduledRun = (
  mind: CuratorMind,
  signal: AbortSignal,
) => Promise<JsonObject & { readonly failed: boolean }>;

/** Undefined when nothing is to run by itself. */
export function scheduleJob(
  ground: CuratorGround,
  config: ScheduleConfig,
  run: ScheduledRun,
): ScheduledJob | undefined {
  if (config.schedule === 'off') return undefined;
  const turn = new ScheduleTurn(ground, { periodMs: PERIOD_MS[config.schedule], run });
  return { name: 'schedule', everyMs: WAKE_MS, run: (signal) => turn.look(signal) };
}

/** From one wake to the next. */
class ScheduleTurn {
  readonly #ground: CuratorGround;
  readonly #what: { readonly periodMs: number; readonly run: ScheduledRun };
  readonly #path: string;
  /** Monotonic ms: what cannot even be written down must not be tried at every wake. */
  #notBefore = 0;

  constructor(ground: CuratorGround, what: { readonly periodMs: number; readonly run: ScheduledRun }) {
    this.#ground = ground;
    this.#what = what;
    this.#path = lastRunFile(ground.places.home);
  }

  async look(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ground;
    if (clock.monotonic() < this.#notBefore) return;
    try {
      await this.#runWhenDue(signal);
    } catch (error) {
      this.#notBefore = clock.monotonic() + RETRY_MS;
      if (!signal.aborted) this.#log({ failed: true, error: errorText(error) });
      throw error;
    }
  }

  async #runWhenDue(signal: AbortSignal): Promise<void> {
    const { clock, open } = this.#ground;
    const last = readLastRun(this.#path);
    const now = clock.now();
    const due = runDue(last, now, this.#what.periodMs);
    if (due === 'waiting') return;
    const mind = await open();
    if (mind.state.readOnly) return;
    if (due === 'clock-back') {
      writeLastRun(this.#path, { at: now, failed: last?.failed ?? false }, { note: 'the clock was moved back' });
      return;
    }
    writeLastRun(this.#path, { at: now, failed: true }, {});
    const done = await this.#what.run(mind, signal);
    this.#log(done);
    writeLastRun(this.#path, { at: now, failed: done.failed }, done);
  }

  #log(outcome: JsonObject): void {
    const { clock, places } = this.#ground;
    createEventLog(join(places.home, 'logs', 'curator.log'), clock).write('scheduled-run', outcome);
  }
}

/** The last attempt; `failed` until it has ended well. */
export interface LastRun {
  /** Epoch ms. */
  readonly at: number;
  readonly failed: boolean;
}

const HOUR_MS = 3_600_000;
export const PERIOD_MS = { hourly: HOUR_MS, daily: 24 * HOUR_MS, weekly: 7 * 24 * HOUR_MS } as const;

/** What failed, or found another writer at work, is tried again after this, ms. */
export const RETRY_MS = 600_000;

/** `clock-back`: the last run lies in the future, so its time says nothing; count from now. */
export function runDue(last: LastRun | undefined, now: number, periodMs: number): 'due' | 'waiting' | 'clock-back' {
  if (last === undefined) return 'due';
  if (last.at > now) return 'clock-back';
  return now - last.at >= (last.failed ? Math.min(RETRY_MS, periodMs) : periodMs) ? 'due' : 'waiting';
}

export function lastRunFile(home: string): string {
  return join(home, 'curator', 'last-run.json');
}

/** Throws TalariaError `last-run-unreadable` when there is a file that may not be read. */
export function readLastRun(path: string): LastRun | undefined {
  const parsed = parseJsonObject(textOf(path) ?? '');
  const { at, state } = parsed.ok ? parsed.value : {};
  const time = typeof at === 'string' ? parseTime(at) : undefined;
  return time === undefined ? undefined : { at: time, failed: state !== 'done' };
}

/** `outcome`: what the run did, or why it did not. Throws as `atomicWrite`. */
function writeLastRun(path: string, { at, failed }: LastRun, outcome: JsonObject): void {
  const record = { at: isoTime(at), state: failed ? 'open' : 'done', ...outcome };
  atomicWrite(path, `${JSON.stringify(record, null, 2)}\n`);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new TalariaError(`cannot read ${path}: ${errorText(error)}`, {
      code: 'last-run-unreadable',
      cause: error,
      fix: 'Remove the file; the next run writes it anew.',
    });
  }
}
