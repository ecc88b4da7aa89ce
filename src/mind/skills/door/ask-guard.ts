// Owns what the guard's word means at the door. Knows no rule. Invariant: `refuse` is never lifted; `ask` is lifted by the owner alone:
// by accepting the very proposal that waits for it, or by `force` on an installation.
import { type Refusal, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import { capabilityLines } from '#mind/evidence/guard/capabilities.rules.ts';
import { type Finding, scanReport } from '#mind/evidence/guard/finding.ts';
import type { SkillSource } from '../skill.ts';
import type { SkillGuard } from './door-parts.ts';
import type { SkillTree } from './skill-tree.ts';

export interface GuardQuestion {
  readonly tree: SkillTree;
  readonly source: SkillSource;
  /** The owner has seen the findings and said yes. */
  readonly isAccepted: boolean;
  /** Found by others than the scan. */
  readonly more?: readonly Finding[];
}

export interface GuardPassed {
  readonly ok: true;
  /** One line for each finding that was let through, worst first. */
  readonly warnings: readonly string[];
}

const SHOWN = 8;

export async function askGuard(
  guard: SkillGuard,
  { tree, source, isAccepted, more = [] }: GuardQuestion,
): Promise<GuardPassed | Refusal<'guard-refused' | 'guard-asks'>> {
  const scanned = await guard.scan([...tree.values()]);
  const report = more.length > 0 ? scanReport([...scanned.findings, ...more]) : scanned;
  const decision = guard.decide(report, source);
  if (decision === 'allow' || (decision === 'ask' && isAccepted))
    return { ok: true, warnings: linesOf(report.findings.filter(({ severity }) => severity !== 'low')) };
  const word = report.verdict === 'dangerous' ? 'dangerous' : 'doubtful';
  const does = capabilityLines(report.findings).join('; ');
  const found = linesOf(report.findings).join('; ');
  if (decision === 'refuse')
    return refuse('guard-refused', `The guard finds this ${word}. It ${does}. Seen at ${found}`);
  return refuse(
    'guard-asks',
    `The guard finds this ${word}; the owner must look at it first. It ${does}. Seen at ${found}`,
  );
}

function linesOf(findings: readonly Finding[]): readonly string[] {
  const lines = findings.slice(0, SHOWN).map(({ rule, severity, path, line, excerpt }) => {
    const place = line > 0 ? `${path}:${line}` : path;
    return `${place} ${rule} (${severity})${excerpt === '' ? '' : `: ${excerpt}`}`;
  });
  const more = findings.length - lines.length;
  return more > 0 ? [...lines, `${plural(more, 'more finding')}`] : lines;
}
