// Owns what `forget` takes out of recursion: its runs. Knows no table.
import type { RlmGround } from './rlm-ground.ts';
import { forgetRuns, type RunsToForget } from './trace/forget-runs.ts';

export async function forgetRecursion({ clock, places }: RlmGround, what: RunsToForget) {
  return { name: 'recursive runs', ...(await forgetRuns({ home: places.home, clock }, what)) };
}
