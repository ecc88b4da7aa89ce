// Owns doing a stored baseline again from its row, for replay and resume. Everything comes from the row's request. Imports when wanted.
import type { RunEngine } from '../../trace/replay/replay-run.ts';
import type { VanillaRequest } from './execute-vanilla.ts';

export const vanillaEngine: RunEngine = async ({ row, trace, calls }, signal) => {
  const { executeVanilla } = await import('./execute-vanilla.ts');
  await executeVanilla({ request: row.request as unknown as VanillaRequest, trace, calls, signal });
};
