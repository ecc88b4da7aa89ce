// Owns doing a scaffold run of a row: request and texts lie in the trace, so no file is read. Knows no replay and no store.
import type { RunRequest } from '../../run/run-request.ts';
import type { RunEngine } from '../replay/replay-run.ts';

export const runEngine: RunEngine = async ({ row, trace, calls }, signal) => {
  const { executeRun } = await import('../../run/execute-run.ts');
  // It was checked when it was made, and a change shows as another hash in the first event.
  const request = row.request as unknown as RunRequest;
  await executeRun({ request, trace, calls, signal });
};
