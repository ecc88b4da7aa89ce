// Owns what may happen with a scanned skill, by where it comes from (core notes 2.8, row 14 of its section 3).
// Knows no rule and no file. Invariant: nothing that is not the owner's or ours passes as dangerous without a person.
import type { SkillSource } from '../skill.ts';
import type { ScanReport, Verdict } from './finding.ts';

export type GuardDecision = 'allow' | 'ask' | 'refuse';

const POLICY: Readonly<Record<SkillSource, Readonly<Record<Verdict, GuardDecision>>>> = {
  builtin: { safe: 'allow', caution: 'allow', dangerous: 'allow' },
  trusted: { safe: 'allow', caution: 'allow', dangerous: 'refuse' },
  community: { safe: 'allow', caution: 'ask', dangerous: 'refuse' },
  external: { safe: 'allow', caution: 'ask', dangerous: 'refuse' },
  agent: { safe: 'allow', caution: 'allow', dangerous: 'ask' },
  owner: { safe: 'allow', caution: 'allow', dangerous: 'ask' },
};

/**
 * | source              | safe  | caution | dangerous |
 * |---------------------|-------|---------|-----------|
 * | builtin             | allow | allow   | allow     | shipped and tested with the product
 * | trusted             | allow | allow   | refuse    | a publisher's word covers doubt, not danger
 * | community, external | allow | ask     | refuse    | `ask` is the table's block that `--force` lifts; danger is never lifted
 * | agent               | allow | allow   | ask       | scanned always, not by a switch: tool and web text end up in what it writes
 * | owner               | allow | allow   | ask       | the owner decides, but sees what was found
 *
 * `ask` without anybody to ask is a refusal; that is for the caller to know.
 */
export function guardDecision(report: ScanReport, source: SkillSource): GuardDecision {
  return POLICY[source][report.verdict];
}
