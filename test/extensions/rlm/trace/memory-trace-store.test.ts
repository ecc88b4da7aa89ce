import { memoryTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { traceStoreContract } from './trace-store.contract.ts';

traceStoreContract('memory', (context) => {
  const clock = createManualClock();
  const store = memoryTraceStore(clock);
  context.after(() => store.close());
  return { store, clock };
});
