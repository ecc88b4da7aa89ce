// Owns the guard's word about an external skill, as the library asks for it. Loads the guard; loaded only when there is something to scan.
// Invariant: the word is that of the guard's own policy for external folders.
import { guardDecision } from '#mind/evidence/guard/finding.ts';
import { scanSkillFolder } from '#mind/evidence/guard/scan-folder.ts';
import type { SkillJudgement } from '#mind/skills/library/judge/skill-judge.ts';
import { findingLine } from './guard-words.ts';

export function judgeByGuard(folder: string): SkillJudgement {
  const report = scanSkillFolder(folder);
  return { word: guardDecision(report, 'external'), finding: findingLine(report) };
}
