/** Waits pass fifty times as fast: the patience of the backend is not the matter of a test. */
import { type Clock, systemClock } from '#base/clock.ts';

export const hastyClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms / 50, signal),
};
