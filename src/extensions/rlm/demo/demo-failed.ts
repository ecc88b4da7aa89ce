// Owns how a demo ends when a stage did not do what it should. Knows no stage.
import { TalariaError } from '#base/errors.ts';

export const DEMO_FAILED = 'demo-failed';

/** `stage`: its name as printed; `why`: what was found instead, one sentence. */
export function demoFailed(stage: string, why: string): TalariaError {
  return new TalariaError(`${stage}: ${why}`, { code: DEMO_FAILED });
}

/** Throws `demo-failed` unless it holds. */
export function mustHold(holds: boolean, stage: string, why: string): asserts holds {
  if (!holds) throw demoFailed(stage, why);
}
