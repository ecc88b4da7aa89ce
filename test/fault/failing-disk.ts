/** File operations of `node:fs` that fail on plan, for code that imports them by name. Restored by `mend`. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Faults } from '#public/testing.ts';

const WRITING = [
  'mkdirSync',
  'openSync',
  'writeSync',
  'fsyncSync',
  'closeSync',
  'chmodSync',
  'linkSync',
  'renameSync',
  'rmSync',
  'rmdirSync',
  'readdirSync',
  'statSync',
  'lstatSync',
  'readFileSync',
  'realpathSync',
  'copyFileSync',
  'writeFileSync',
] as const;

/** Counts every file operation below `folder` as a step of `faults`; operations elsewhere go through untouched. */
export function breakDisk(folder: string, faults: Faults): { mend(): void } {
  const real = new Map(WRITING.map((name) => [name, fs[name]] as const));
  for (const [name, operation] of real) {
    const counted = (...args: unknown[]): unknown => {
      if (typeof args[0] !== 'string' || args[0].startsWith(folder) || args[0].startsWith('/proc/self/fd/'))
        faults.step(name);
      return Reflect.apply(operation, fs, args);
    };
    Object.assign(fs, { [name]: counted });
  }
  syncBuiltinESMExports();
  return {
    mend: () => {
      for (const [name, operation] of real) Object.assign(fs, { [name]: operation });
      syncBuiltinESMExports();
    },
  };
}

/** From the `at`-th operation on nothing happens any more, as after kill −9: also what would clean up does not run. */
export function diesAt(at: number): Faults {
  let count = 0;
  return {
    step: (operation) => {
      count += 1;
      if (count >= at) throw systemError('EIO', operation);
    },
    wrap: (target) => target,
    get failed() {
      return count >= at ? 'everything' : undefined;
    },
    get count() {
      return count;
    },
  };
}

/** An error as the system raises it. */
export function systemError(code: 'ENOSPC' | 'EACCES' | 'EIO', operation: string): Error {
  return Object.assign(new Error(`${code}: planned, ${operation}`), { code, errno: -1, syscall: operation });
}
