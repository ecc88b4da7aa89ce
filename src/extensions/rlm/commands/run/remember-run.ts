// Owns writing down what a run taught, when its memory mode writes. Knows no verdict: what it teaches is told by runLessons.

import { isoTime } from '#base/clock.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { plural } from '#base/text.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { appendMemory, defaultMemoryPath } from '../../memory/memory-file.ts';
import type { RlmGround } from '../../rlm-ground.ts';
import { runLessons } from '../../run/live-run.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import type { RunOutcome } from '../../run/run-outcome.ts';

export interface Remembering {
  readonly ground: RlmGround;
  readonly prepared: PreparedRun;
  readonly outcome: RunOutcome;
  readonly calls: readonly CallRecord[];
  /** As typed; undefined: the file of the home. */
  readonly store: string | undefined;
  readonly cwd: string;
}

/** What a person is told; null: nothing was to be written. */
export async function rememberRun({
  ground,
  prepared,
  outcome,
  calls,
  store,
  cwd,
}: Remembering): Promise<string | null> {
  const { clock, places } = ground;
  const parent = calls.findLast(({ rlm_node_id, success }) => rlm_node_id === outcome.tree.root_id && success);
  const told = { family: parent?.runtime ?? null, created_at: isoTime(clock.now()) };
  const lessons = runLessons(prepared.request, outcome, told);
  if (lessons.records.length === 0) return null;
  const { home, userHome } = places;
  const path = store === undefined ? defaultMemoryPath(home) : typedPath(store, { cwd, userHome });
  const { stored, rejected } = await appendMemory(path, lessons.records, { clock });
  const refused = rejected.length === 0 ? '' : `, ${rejected.length} refused`;
  return `Remembered of how to ask: ${plural(stored.length, 'record')}${refused} (${path}).`;
}
