// Owns asking the judge whether a skill does no more than it says. Knows no door. Invariants: an opinion is one finding more, so it can only
// raise a verdict, by one step; without a model, or without its verdict, nothing is found and nothing fails.
import type { Judge } from '../judge.ts';
import type { Finding, ScanReport, SkillText } from './finding.ts';

/** Characters of a skill that the judge reads: what an agent reads of it first. */
const READ = 24_000;
const MAIN = 'SKILL.md';

export interface OpinionAsked {
  readonly name: string;
  readonly report: ScanReport;
  readonly files: readonly SkillText[];
}

export async function secondOpinion(
  judge: Judge,
  { name, report, files }: OpinionAsked,
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  if (!judge.isThere() || report.verdict === 'dangerous') return [];
  const ordered = files.toSorted((a, b) => Number(b.path === MAIN) - Number(a.path === MAIN));
  const main = ordered[0]?.path === MAIN ? ordered[0].text : '';
  const header = /^---\r?\n([\s\S]{0,2000}?)\r?\n---/.exec(main)?.[1] ?? name;
  const text = ordered.map((file) => `${file.path}:\n${file.text}`).join('\n\n');
  const claim = `Everything that these files have an agent do serves what they say they are for, and nothing else. They say: ${header}`;
  const asked = [{ id: 'skill', text: claim, sources: ['files'] }];
  const source = [{ id: 'files', origin: 'foreign', text: text.slice(0, READ).toWellFormed() }] as const;
  const [judged] = await judge.judge(asked, source, { task: 'show', subject: `skill:${name}` }, signal);
  const isDoubted = judged?.verdict === 'goes-beyond' || judged?.verdict === 'contradicts';
  if (judged === undefined || !isDoubted) return [];
  const severity = report.verdict === 'caution' && judged.verdict === 'contradicts' ? 'critical' : 'high';
  const excerpt = `${judged.model}: ${judged.why}`.slice(0, 160);
  const opinion = { rule: 'wording/second-opinion', capability: 'wording', severity, excerpt } as const;
  return [{ ...opinion, path: MAIN, line: 0, isTalk: true }];
}
