// Owns whether unattended writing may touch a skill by source and name (seed 002, steps 7d and 7e; curator notes 8.4, checks 3 to 6).
// Pure. Invariant: the order is source, blocklist, allowlist, core; an allowlist is exclusive and lifts the core guard; block wins.
import { isWritableSource } from '../sources/classify-source.ts';
import { matchesGlob } from '../text/glob.ts';
import { CORE_PATTERNS } from './core-patterns.ts';
import type { RunFlags } from './run-flags.ts';

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
