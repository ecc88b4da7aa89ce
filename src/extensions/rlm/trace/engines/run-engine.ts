// Owns doing a scaffold run of a row: request and texts lie in the trace, so no file is read. Imports the controller when it is wanted.
import type { RunEngine } from '../replay/replay-run.ts';

/** Throws TalariaError when the request is none of this version. */
export const runEngine: RunEngine = async (work, signal) => {
  const { scaffoldEngine } = await import('../../run/live-run.ts');
  await scaffoldEngine(work, signal);
};
