// Owns the shape of a rule by which a memory entry is refused, and how one is written down.
// Knows no rule. Invariant: every gap in a pattern is bounded, so a rule is linear in the text.

export type RuleReason = 'prompt_injection' | 'exfiltration' | 'rule_change';

export interface ThreatRule {
  readonly id: string;
  readonly reason: RuleReason;
  /**
   * `folded`: lower case, one line, look-alikes resolved. `sentence`: each sentence of that by itself. `raw`: as written.
   * `squeezed`: letters only, digits read as letters.
   */
  readonly on: 'folded' | 'sentence' | 'raw' | 'squeezed';
  /** All must match. */
  readonly patterns: readonly RegExp[];
}

/** Rules of one reason on the folded text, from `[id, source of the pattern]`. */
export function foldedRules(
  reason: RuleReason,
  rows: readonly (readonly [id: string, source: string])[],
): readonly ThreatRule[] {
  return rows.map(([id, source]) => ({ id, reason, on: 'folded', patterns: [new RegExp(source, 'u')] }));
}

export function rawRule(id: string, reason: RuleReason, pattern: RegExp): ThreatRule {
  return { id, reason, on: 'raw', patterns: [pattern] };
}

/** Rules of one reason on single sentences, from `[id, sources of patterns that must all match]`. */
export function sentenceRules(
  reason: RuleReason,
  rows: readonly (readonly [id: string, ...sources: string[]])[],
): readonly ThreatRule[] {
  return rows.map(([id, ...sources]) => ({
    id,
    reason,
    on: 'sentence',
    patterns: sources.map((source) => new RegExp(source, 'u')),
  }));
}
