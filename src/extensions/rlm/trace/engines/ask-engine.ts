// Owns doing an ask of a row again: its context is opened by stamp, its code runs in a fresh sandbox. Knows no replay and no store.
import type { RunEngine } from '../replay/replay-run.ts';

/** Throws TalariaError `context-changed` when a source is not what it was. */
export const askEngine: RunEngine = async (work, signal) => {
  const [{ askPartsOfRun }, { executeAsk }] = await Promise.all([
    import('../../ask/open/ask-parts-of-run.ts'),
    import('../../ask/execute-ask.ts'),
  ]);
  const parts = await askPartsOfRun(work, signal);
  try {
    await executeAsk(parts);
  } finally {
    parts.source.close();
  }
};
