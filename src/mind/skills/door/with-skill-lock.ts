// Owns holding the lock of one skill for one write. Knows no change. Invariants: what was done while the lock was held counts, also when
// the lock itself cannot be taken away afterwards; broken I/O leaves as TalariaError.
import { isAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import type { Refusal } from '#base/result.ts';
import type { SkillWritten } from '../skill-door.ts';
import { skillLock } from '../skill-folder.ts';
import { asSkillFault } from './skill-fault.ts';

export interface SkillLockOptions {
  readonly root: string;
  readonly name: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

type Outcome<R extends string> = { readonly ok: true; readonly value: SkillWritten } | Refusal<R>;

/** Throws TalariaError (`locked` after ten seconds), or the signal's reason while it waits. */
export async function withSkillLock<R extends string, T extends Outcome<R>>(
  { root, name, clock, signal }: SkillLockOptions,
  work: () => Promise<T>,
): Promise<T> {
  let done: T | undefined;
  const kept = async (): Promise<T> => {
    done = await work();
    return done;
  };
  try {
    return await withFileLock(skillLock(root, name), kept, { clock, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (done !== undefined) return withWarning(done, `its lock stays until this process ends: ${errorText(error)}`);
    if (error instanceof TalariaError || isAborted(error) || signal?.aborted) throw error;
    throw asSkillFault(name, error, '; nothing was changed');
  }
}

function withWarning<R extends string, T extends Outcome<R>>(done: T, warning: string): T {
  return done.ok ? { ...done, value: { ...done.value, warnings: [...done.value.warnings, warning] } } : done;
}
