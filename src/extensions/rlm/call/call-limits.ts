// Owns how far a call may reach: who answers when nobody is named, how much is read at once, how deep recursion stands. Knows no run. Invariant:
// levels outside and inside of this process together never exceed five, and an inner call starts no recursion of its own. Seed 003 (max depth
// 5); design 5; notes 13.7 (nesting guard).

import { AsyncLocalStorage } from 'node:async_hooks';
import { parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import type { Tier } from '#core/model/model-client.ts';
import { readRlmConfig } from '../rlm-config.ts';

type Variables = Ground['variables'];

/** A baseline gets the same model as the synthesis that it is compared with. */
const DELIBERATE = new Set(['talaria.rlm.repl.v1', 'rlm.vanilla_baseline.input.v1']);

/** Who answers when no family is named: the deliberate one where an answer is made of evidence, the fast one for the rest (design 5). */
export function tierOf(prompt: string): Tier {
  const task = parseJsonObject(prompt);
  if (!task.ok) return 'T1';
  const { schema_version, mode } = task.value;
  if (typeof schema_version === 'string' && DELIBERATE.has(schema_version)) return 'T2';
  return mode === 'synthesize_parent' ? 'T2' : 'T1';
}

export const USUAL_WINDOW = 8_192;
/** More is not filled: the middle of a longer prompt is read badly, and citations become coarse. */
export const LARGEST_DEFAULT_WINDOW = 32_768;

export type WindowMind = Pick<Mind, 'answering' | 'window' | 'config'>;

/**
 * Tokens that a prompt may have, with its reply, when nobody says: what those who will answer read at once. Rules, programs and models named by a
 * family count as the usual window. `families`: as asked for; empty: the default. `least`: what the prompts of the caller need.
 */
export function defaultWindow(
  mind: WindowMind,
  { families, least }: { readonly families: readonly string[]; readonly least: number },
): number {
  const isDefault = families.every((family) => family === 'default');
  const isReplaced = Object.hasOwn(readRlmConfig(mind).families, 'default');
  if (!isDefault || isReplaced || mind.answering() === 'T0') return USUAL_WINDOW;
  const smallest = Math.min(mind.window('T1'), mind.window('T2'));
  return Math.max(least, Math.min(LARGEST_DEFAULT_WINDOW, Math.floor(smallest)));
}

/** Levels of recursion, those of processes around this one counted in. */
export const DEEPEST = 5;

/** Told to every program that answers an inner call: how many recursions it stands in. */
export const DEPTH_VARIABLE = 'TALARIA_RLM_DEPTH';

export type NestingRefusal = 'rlm-nested-too-deep' | 'rlm-nested';

/** Levels that a run may have here, 1..5; asked before anything is read. `wanted` levels are cut to what is left. */
export function openNesting(
  variables: Variables,
  wanted: number = DEEPEST,
): Result<{ readonly outside: number; readonly depth: number }, NestingRefusal> {
  if (inner.getStore() === true)
    return refuse('rlm-nested', 'an inner call answers from what it was given; it starts no recursion of its own');
  const outside = depthOutside(variables);
  if (outside < DEEPEST) return ok({ outside, depth: Math.max(1, Math.min(wanted, DEEPEST - outside)) });
  const told = `${DEPTH_VARIABLE} is ${variables[DEPTH_VARIABLE]}`;
  return refuse(
    'rlm-nested-too-deep',
    `recursion goes ${DEEPEST} levels deep at most, and ${told}: ask the model that was started, not another recursion below it`,
  );
}

/** Recursions that this process already stands in. What is no count of levels is as deep as can be: nobody but a recursion sets it. */
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
