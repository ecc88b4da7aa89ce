/** What the app would lend to a room, without an app: what the test gives, and a failure for anything else; and the clocks of tests. */
import { type Clock, leapingClock as leaping, systemClock } from '#base/clock.ts';

import type { Ground, Mind, Places } from '#core/agent/room.ts';

export interface GivenGround extends Partial<Omit<Ground, 'places' | 'open'>> {
  readonly places: Partial<Places>;
  readonly open?: () => Promise<Partial<Mind>>;
}

export function testGround(given: GivenGround): Ground {
  const unused = (): Promise<never> => Promise.reject(new Error('a test without an app lends no such thing'));
  const bare = { clock: systemClock, variables: {}, program: ['talaria'], commandVariables: async () => ({}) };
  return { ...bare, settings: unused, keep: unused, open: unused, ...given } as Ground;
}

export function testMind(given: Partial<Mind>): Mind {
  return given as Mind;
}

export type TestClock = Clock;

/** Time that moves by its own sleep. */
export const leapingClock: (start: number) => TestClock = leaping;

/** The machine's, where a test turns no time. */
export const realClock: TestClock = systemClock;

/** Waits pass so many times as fast, so that the patience of what is tested is not ours; its limits at most ten times: a busy machine needs them. */
export function hasty(times: number): TestClock {
  const sooner = Math.min(times, 10);
  return {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
    after: (ms, run) => systemClock.after(ms / sooner, run),
  };
}
