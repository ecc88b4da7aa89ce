// Owns the names of runs: `<kind>_<time>_<8 hex>`, so that ids stand in the order of time and a day can be typed as a prefix.
import { type Clock, isoTime } from '#base/clock.ts';
import { randomHex } from '#base/ids.ts';
import type { RunKind } from './run-row.ts';

export function newRunId(kind: RunKind, clock: Clock): string {
  return `${kind}_${isoTime(clock.now()).replace(/\D/g, '').slice(0, 14)}_${randomHex(4)}`;
}
