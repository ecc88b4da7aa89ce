// Owns what the guard's word means at the door. Knows no rule. Invariant: `refuse` is never lifted; `ask` is lifted by the owner alone:
// by accepting the very proposal that waits for it, or by `force` on an installation.
import { type Refusal, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import type { Finding } from '../guard/finding.ts';
import type { SkillSource } from '../skill.ts';
import type { SkillGuard } from './door-parts.ts';
import type { SkillTree } from './skill-tree.ts';

export interface GuardQuestion {
  readonly tree: SkillTree;
  readonly source: SkillSource;
  /** The owner has seen the findings and said yes. */
  readonly isAccepted: boolean;
}

export interface GuardPassed {
  readonly ok: true;
  /** One line for each finding that was let through, worst first. */
  readonly warnings: readonly string[];
}

const SHOWN = 8;

export async function askGuard(
  guard: SkillGuard,
  { tree, source, isAccepted }: GuardQuestion,
): Promise<GuardPassed | Refusal<'guard-refused' | 'guard-asks'>> {
  const report = await guard.scan([...tree.values()]);
  const decision = guard.decide(report, source);
  if (decision === 'allow' || (decision === 'ask' && isAccepted))
    return { ok: true, warnings: linesOf(report.findings.filter(({ severity }) => severity !== 'low')) };
  const word = report.verdict === 'dangerous' ? 'dangerous' : 'doubtful';
  const found = linesOf(report.findings).join('; ');
  if (decision === 'refuse') return refuse('guard-refused', `The guard finds this ${word}: ${found}`);
  return refuse('guard-asks', `The guard finds this ${word}; the owner must look at it first: ${found}`);
}

function linesOf(findings: readonly Finding[]): readonly string[] {
  const lines = findings.slice(0, SHOWN).map(({ rule, severity, path, line, excerpt }) => {
    const place = line > 0 ? `${path}:${line}` : path;
    return `${place} ${rule} (${severity})${excerpt === '' ? '' : `: ${excerpt}`}`;
  });
  const more = findings.length - lines.length;
  return more > 0 ? [...lines, `${plural(more, 'more finding')}`] : lines;
}
