// Owns whether unattended writing may touch a skill by source and name (seed 002, steps 7d and 7e; curator notes 8.4, checks 3 to 6).
// Pure. Invariant: the order is source, blocklist, allowlist, core; an allowlist is exclusive and lifts the core guard; block wins.

import { caseFold } from '#base/text/case-fold.ts';
import { isWritableSource } from '../sources/classify-source.ts';
import type { RunFlags } from './run-flags.ts';

export const CORE_PATTERNS: readonly string[] = [
  'hermes-agent',
  'hermes-*',
  'gsd-*',
  'github-*',
  'mcp-*',
  'native-mcp',
  'claude-code',
  'codex',
  'opencode',
  'subagent-*',
  'systematic-debugging',
  'test-driven-development',
  'debugging-hermes-*',
  'requesting-code-review',
];

export type PolicyReason =
  | 'source-not-agent-created'
  | 'auto-apply-blocklisted'
  | 'auto-apply-not-allowlisted'
  | 'core-skill-auto-apply-protected';

/** null: may be written. */
export function policyReason(name: string, source: string, policy: RunFlags['policy']): PolicyReason | null {
  if (!isWritableSource(source)) return 'source-not-agent-created';
  if (fitsAny(name, policy.block)) return 'auto-apply-blocklisted';
  if (policy.allow.length > 0) return fitsAny(name, policy.allow) ? null : 'auto-apply-not-allowlisted';
  return policy.protectCore && fitsAny(name, CORE_PATTERNS) ? 'core-skill-auto-apply-protected' : null;
}

function fitsAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesGlob(name, pattern));
}

type Step = '*' | ((point: string) => boolean);

/** Whether the whole name fits, both case-folded. */
export function matchesGlob(name: string, pattern: string): boolean {
  return runSteps(Array.from(caseFold(name)), stepsOf(Array.from(caseFold(pattern))));
}

function runSteps(points: readonly string[], steps: readonly Step[]): boolean {
  let at = 0;
  let step = 0;
  let starAt = -1;
  let starStep = -1;
  while (at < points.length) {
    const current = steps[step];
    if (current === '*') {
      starStep = step;
      starAt = at;
      step += 1;
    } else if (current?.(points[at] ?? '')) {
      at += 1;
      step += 1;
    } else if (starStep >= 0) {
      starAt += 1;
      at = starAt;
      step = starStep + 1;
    } else return false;
  }
  return steps.slice(step).every((rest) => rest === '*');
}

function stepsOf(pattern: readonly string[]): readonly Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const point = pattern[at] ?? '';
    const close = point === '[' ? closingBracket(pattern, at) : -1;
    if (close > 0) {
      steps.push(setStep(pattern.slice(at + 1, close)));
      at = close;
    } else steps.push(plainStep(point));
  }
  return steps;
}

function plainStep(point: string): Step {
  if (point === '*') return '*';
  return point === '?' ? () => true : (other) => other === point;
}

/** A bracket right after `[` or `[!` belongs to the set. */
function closingBracket(pattern: readonly string[], open: number): number {
  const first = pattern[open + 1] === '!' ? open + 2 : open + 1;
  return pattern.indexOf(']', pattern[first] === ']' ? first + 1 : first);
}

function setStep(set: readonly string[]): Step {
  const negated = set[0] === '!';
  const members = negated ? set.slice(1) : set;
  return (point) => holds(members, point) !== negated;
}

function holds(members: readonly string[], point: string): boolean {
  for (let at = 0; at < members.length; at += 1) {
    const low = members[at] ?? '';
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    const high = isRange ? (members[at + 2] ?? '') : low;
    if (order(point) >= order(low) && order(point) <= order(high)) return true;
    if (isRange) at += 2;
  }
  return false;
}

function order(point: string): number {
  return point.codePointAt(0) ?? 0;
}
