/**
 * How a test says "this ends" without reading a clock. The input is so large that the slow way (quadratic, exponential) would
 * take minutes and the right one well under a second: how fast the machine is decides nothing.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';

const LIMIT_MS = 30_000;
const script = new Script('work()');

/** Runs work that never yields: the runner's own time-out cannot interrupt it, a script's can. Of a promise, the part before the first wait. */
export function ends<T>(what: string, work: () => T): T {
  let result: { readonly value: T } | undefined;
  const context = createContext({
    work: () => {
      result = { value: work() };
    },
  });
  try {
    script.runInContext(context, { timeout: LIMIT_MS });
  } catch (error) {
    // Of the context's own realm: `instanceof Error` does not know it.
    if (Object(error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new Error(`${what}: not done after ${LIMIT_MS / 1000} s, so its time does not grow with its input only`);
    throw error;
  }
  if (result === undefined) throw new Error(`${what}: nothing came of it`);
  return result.value;
}

/** Waits until `check` holds. */
export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const every = 5;
  for (let waited = 0; !(await check()); waited += every) {
    if (waited > LIMIT_MS) throw new Error(`it did not come to that: ${check}`);
    await pause(every);
  }
}
