// Owns how deep recursion stands: what a process was told by the one that started it, and whether this work is part of an inner call.
// Knows no run. Invariant: outside and inside together never exceed five levels, and an inner call starts no recursion of its own.
// Seed 003, architecture (max depth 5); notes 13.7 (nesting guard).
import { AsyncLocalStorage } from 'node:async_hooks';
import { ok, type Result, refuse } from '#base/result.ts';

/** Levels of recursion, those of processes around this one counted in. */
export const DEEPEST = 5;
/** Told to every program that answers an inner call: how many recursions it stands in. */
export const DEPTH_VARIABLE = 'TALARIA_RLM_DEPTH';

export type NestingRefusal = 'rlm-nested-too-deep' | 'rlm-nested';

export interface Nesting {
  /** Recursions that this process already stands in. */
  readonly outside: number;
  /** Levels that a run may have here, 1..5. */
  readonly depth: number;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Asked before anything is read. `wanted` levels are cut to what is left. */
export function openNesting(variables: Variables, wanted: number = DEEPEST): Result<Nesting, NestingRefusal> {
  if (isInsideInnerCall())
    return refuse('rlm-nested', 'an inner call answers from what it was given; it starts no recursion of its own');
  const outside = depthOutside(variables);
  if (outside >= DEEPEST) {
    const told = `${DEPTH_VARIABLE} is ${variables[DEPTH_VARIABLE]}`;
    return refuse(
      'rlm-nested-too-deep',
      `recursion goes ${DEEPEST} levels deep at most, and ${told}: ask the model that was started, not another recursion below it`,
    );
  }
  return ok({ outside, depth: Math.max(1, Math.min(wanted, DEEPEST - outside)) });
}

/** What is no count of levels is as deep as can be: nobody but a recursion sets it. */
export function depthOutside(variables: Variables): number {
  const told = variables[DEPTH_VARIABLE]?.trim() ?? '';
  if (told === '') return 0;
  return /^\d{1,3}$/.test(told) ? Number(told) : DEEPEST;
}

const inner = new AsyncLocalStorage<true>();

/** Everything that `work` starts is part of an inner call. */
export function asInnerCall<T>(work: () => T): T {
  return inner.run(true, work);
}

function isInsideInnerCall(): boolean {
  return inner.getStore() === true;
}
