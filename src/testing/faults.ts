// Owns planned failures: the n-th operation fails, then the n+1-st, until a run completes unharmed (the way SQLite tests itself).
// Knows nothing of the operations. Invariant: a plan fails exactly one operation, and says whether it did.
import { TalariaError } from '#base/errors.ts';

export interface Faults {
  /** Counts an operation; throws when it is the planned one. Call it before the real work. */
  step(operation: string): void;
  /** `target` with the named methods counted (and failing when their turn comes). */
  wrap<T extends object>(target: T, methods: readonly (keyof T & string)[]): T;
  /** Name of the operation that failed, undefined while none has. */
  readonly failed: string | undefined;
  /** Operations counted so far. */
  readonly count: number;
}

export interface FaultPlan {
  /** 1 fails the first operation. */
  readonly failAt: number;
  /** Default: TalariaError `fault`. */
  readonly error?: (operation: string) => Error;
}

export function createFaults(plan: FaultPlan): Faults {
  let count = 0;
  let failed: string | undefined;
  const step = (operation: string): void => {
    count += 1;
    if (count !== plan.failAt) return;
    failed = operation;
    throw plan.error?.(operation) ?? new TalariaError(`planned fault in ${operation}`, { code: 'fault' });
  };
  return {
    step,
    wrap: (target, methods) => countCalls(target, methods, step),
    get failed() {
      return failed;
    },
    get count() {
      return count;
    },
  };
}

/** `target` whose named methods call `step` first. */
export function countCalls<T extends object>(
  target: T,
  methods: readonly (keyof T & string)[],
  step: (operation: string) => void,
): T {
  const counted = new Set<PropertyKey>(methods);
  return new Proxy(target, {
    get: (object, key) => {
      const value: unknown = Reflect.get(object, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (counted.has(key)) step(String(key));
        return Reflect.apply(value, object, args);
      };
    },
  });
}

export interface FaultRun {
  /** Which operation was planned to fail in this run, from 1. */
  readonly failAt: number;
  /** What the scenario threw, if anything. */
  readonly thrown: unknown;
  readonly failed: string | undefined;
}

export interface FaultScenario {
  /** One fresh run; it may throw because of the fault. */
  run(faults: Faults): Promise<void> | void;
  /** Called after every run, also the unharmed one: assert the invariants here. */
  check(outcome: FaultRun): Promise<void> | void;
  readonly error?: (operation: string) => Error;
  /** Gives up after this many runs; default 200. */
  readonly limit?: number;
  /** Fails only every so many-th operation, from the first; default 1: each. */
  readonly every?: number;
}

/** Runs the scenario failing its 1st, 2nd, 3rd … operation until a run completes without a fault. Returns how many faults were tried. */
export async function failEachOperation(scenario: FaultScenario): Promise<number> {
  const { limit = 200, every = 1 } = scenario;
  for (let failAt = 1; failAt <= limit; failAt += every) {
    const faults = createFaults({ failAt, ...(scenario.error ? { error: scenario.error } : {}) });
    let thrown: unknown;
    try {
      await scenario.run(faults);
    } catch (error) {
      if (faults.failed === undefined) throw error;
      thrown = error;
    }
    await scenario.check({ failAt, thrown, failed: faults.failed });
    if (faults.failed === undefined) return failAt - 1;
  }
  throw new TalariaError(`the scenario still meets faults after ${limit} runs`, { code: 'fault-limit' });
}
