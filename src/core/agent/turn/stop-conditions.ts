// Owns when a turn stops before the model ends it: small predicates over what the turn has done so far.
// Knows no surface. Invariant: a predicate is pure; the first one that names a reason stops the turn.
import type { JsonObject } from '#base/json.ts';
import { canonicalJson } from '#base/json.ts';
import { plural } from '#base/text.ts';

export interface FinishedCall {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly isError: boolean;
  readonly refused?: string;
}

export interface TurnProgress {
  readonly steps: number;
  readonly calls: readonly FinishedCall[];
  readonly outputTokens: number;
  readonly cost: number;
}

export interface StopReason {
  /** `max-steps`, `repeated-failure`, `denied`, `over-budget`. */
  readonly code: string;
  readonly detail: string;
}

export type StopCondition = (progress: TurnProgress) => StopReason | undefined;

/** The iteration budget of seed 001 chapter 03. */
export function maxSteps(limit: number): StopCondition {
  return ({ steps }) =>
    steps >= limit
      ? { code: 'max-steps', detail: `stopped after ${plural(steps, 'step')} (agent.max_steps is ${limit})` }
      : undefined;
}

/** The same call with the same arguments failed `limit` times in a row. */
function repeatedFailure(limit: number): StopCondition {
  return ({ calls }) => {
    const last = calls.slice(-limit);
    const first = last[0];
    if (last.length < limit || first === undefined) return undefined;
    const key = callKey(first);
    const stuck = last.every((call) => call.isError && callKey(call) === key);
    return stuck
      ? { code: 'repeated-failure', detail: `${first.name} failed ${limit} times in a row with the same arguments` }
      : undefined;
  };
}

/** The owner denied `limit` calls in a row: it is time to talk, not to try another way round. */
function deniedInARow(limit: number): StopCondition {
  return ({ calls }) => {
    const last = calls.slice(-limit);
    const denied = last.length === limit && last.every((call) => call.refused === 'denied');
    return denied ? { code: 'denied', detail: `${plural(limit, 'call')} in a row were denied` } : undefined;
  };
}

function overBudget(dollars: number): StopCondition {
  return ({ cost }) =>
    cost > dollars ? { code: 'over-budget', detail: `the turn cost more than $${dollars}` } : undefined;
}

function callKey(call: FinishedCall): string {
  return `${call.name} ${canonicalJson(call.arguments)}`;
}

export const DEFAULT_MAX_STEPS = 200;

/** `dollars`: what one turn may cost; absent, money stops no turn. */
export function defaultStopConditions(steps: number = DEFAULT_MAX_STEPS, dollars?: number): readonly StopCondition[] {
  const always = [maxSteps(steps), repeatedFailure(5), deniedInARow(3)];
  return dollars === undefined ? always : [...always, overBudget(dollars)];
}

export function firstReason(conditions: readonly StopCondition[], progress: TurnProgress): StopReason | undefined {
  for (const condition of conditions) {
    const reason = condition(progress);
    if (reason) return reason;
  }
  return undefined;
}
