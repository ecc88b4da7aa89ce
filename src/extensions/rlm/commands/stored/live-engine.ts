// Owns doing a stored run with live calls: the controller of its kind, the families that are set up now, the budget of its request.

import { TalariaError } from '#base/errors.ts';
import { JUDGE_FAMILY, judgeCall } from '../../ask/loop/read-by-model.ts';
import type { CallBudget } from '../../call/calls.ts';
import { createCalls } from '../../call/create-calls.ts';
import { openFamilies } from '../../call/families.ts';
import { readRlmConfig } from '../../rlm-config.ts';
import type { RlmGround, RlmMind } from '../../rlm-ground.ts';
import { RUN_ENGINES } from '../../trace/engines/run-engines.ts';
import type { RunRow } from '../../trace/run-row.ts';
import type { RunTrace } from '../../trace/trace-store.ts';

export interface LiveWork {
  readonly ground: RlmGround;
  readonly mind: RlmMind;
  readonly row: RunRow;
  readonly trace: RunTrace;
}

/** Throws what the controller throws: `trace-diverged` when this version does the run otherwise, `context-changed`. */
export async function doLive({ ground, mind, row, trace }: LiveWork, signal: AbortSignal): Promise<void> {
  const engine = RUN_ENGINES[row.kind];
  if (engine === undefined)
    throw new TalariaError(`Nothing here does runs of the kind ${row.kind}.`, { code: 'no-engine' });
  const calls = createCalls({
    inner: new Map([...openFamilies(ground, mind), [JUDGE_FAMILY, judgeCall(mind.judge, row.run_id)]]),
    trace,
    budget: (row.request.budget ?? {}) as CallBudget,
    clock: ground.clock,
    run: row.run_id,
    call_timeout_ms: readRlmConfig(mind).call_timeout_seconds * 1_000,
  });
  await engine({ row, trace, calls }, signal);
}
