/**
 * Does a scaffold run in a process of its own, slowly enough to be killed; one line for each
 * call that is answered. Arguments: home, and after how many answers it answers no more, but waits to be killed.
 */
import { openTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { harbour, requestOver, run, scripted } from '../../extensions/rlm/run/run-ground.ts';

const store = openTraceStore(process.argv[2] ?? '');
const limits = { max_depth: 5, max_iterations: 100, max_in_flight: 2, max_retries: 1 };
const most = Number(process.argv[3] ?? Number.POSITIVE_INFINITY);
let answered = 0;
const inner = scripted(async (call_id) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  answered += 1;
  if (answered > most) await new Promise((resolve) => setTimeout(resolve, 60_000));
  process.stdout.write(`${call_id}\n`);
  return undefined;
});
await run(requestOver(harbour(6), { limits }), { store, inner });
store.close();
