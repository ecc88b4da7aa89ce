/**
 * Row "guard": the scan of a skill, median over the ordinary skills at hand: the sample of real ones (TALARIA_DATA) where it is there,
 * else those of the labelled corpus. Reports what was flagged of either as well.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scanSkill } from '#mind/evidence/guard/scan-skill.ts';
import { labelledSkills } from '../test/mind/evidence/guard/corpus.ts';
import { type BenchRow, median } from './bench-row.ts';

type Files = readonly { readonly path: string; readonly text: string }[];

export async function benchGuard(): Promise<readonly BenchRow[]> {
  const bad = labelledSkills('bad');
  const good = labelledSkills('good').map(({ files }) => files);
  const real = realSkills();
  const timed = real.length > 0 ? real : good;
  for (const files of timed) scanSkill(files);
  const value = median(timed.flatMap((files) => [1, 2, 3].map(() => millisecondsOf(files))));
  const flagged = bad.filter(({ files }) => scanSkill(files).verdict !== 'safe').length;
  const alarms = (skills: readonly Files[]): number =>
    skills.filter((files) => scanSkill(files).verdict !== 'safe').length;
  const note = `${timed.length} skills; own corpus: ${flagged} of ${bad.length} bad flagged, ${alarms(good)} of ${good.length} good; real: ${alarms(real)} of ${real.length}`;
  return [{ metric: 'guard, a skill', value, unit: 'ms', target: '≤ 1 ms', ok: value <= 1, note }];
}

function realSkills(): readonly Files[] {
  const path = join(process.env.TALARIA_DATA ?? '', 'data/skills-sample.jsonl');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => [{ path: 'SKILL.md', text: (JSON.parse(line) as { text: string }).text }]);
}

function millisecondsOf(files: Files): number {
  const start = performance.now();
  scanSkill(files);
  return performance.now() - start;
}
