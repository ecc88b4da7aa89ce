/** Does a scaffold run in a process of its own, slowly enough to be killed; one line for each call that is answered. Argument: home. */
import { openTraceStore } from '#extensions/rlm/trace/open-trace-store.ts';
import { harbour, requestOver, run, scripted } from '../../extensions/rlm/run/run-ground.ts';

const store = openTraceStore(process.argv[2] ?? '');
const limits = { max_depth: 5, max_iterations: 100, max_in_flight: 2, max_retries: 1 };
const inner = scripted(async (call_id) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.stdout.write(`${call_id}\n`);
  return undefined;
});
await run(requestOver(harbour(6), { limits }), { store, inner });
store.close();
