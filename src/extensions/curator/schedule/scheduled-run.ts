// Owns what a due run does: one auto-run with the flags of the section `curator`, and what is told of it. Knows no time.
// Invariant: another writer of the home at work is an outcome, to be tried again, and no failure.
import type { JsonObject } from '#base/json.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { runAutoRun } from '../run/auto-run.ts';
import { autoRunExit } from '../run/run-outcome.ts';
import { createRank } from '../search/create-rank.ts';
import { ownVerifier } from '../timer/timer-request.ts';
import { autoRunFlags, type ScheduleConfig } from './schedule-config.ts';
import type { ScheduledRun } from './schedule-job.ts';

export function scheduledRun(ground: CuratorGround, config: ScheduleConfig): ScheduledRun {
  return async (mind, signal) => {
    const flags = autoRunFlags(config, ownVerifier(ground.program));
    const done = await runAutoRun({ ground, mind, rank: createRank(ground, mind) }, flags, signal);
    if (!done.ok) return { failed: true, reason: done.reason, detail: done.detail };
    const { mode, summary, candidates } = done.value;
    const skills: readonly JsonObject[] = candidates.map(({ skill_name, status, reason, apply_result }) => ({
      ...{ skill_name, status },
      reason: apply_result?.reason ?? reason ?? null,
    }));
    return { failed: autoRunExit(done.value) === 1, mode, summary: { ...summary }, skills };
  };
}
