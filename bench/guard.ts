/**
 * Rows "guard": the scan of a skill, median over the ordinary skills at hand (the sample of real ones of TALARIA_DATA where it is there, else
 * those of the labelled corpus), what of the bad ones passes, and what of the ordinary ones is held up. Prints how often each capability is
 * seen in either.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CAPABILITIES, type Capability, type ScanReport, type Verdict } from '#mind/evidence/guard/finding.ts';
import { scanSkill } from '#mind/evidence/guard/scan-skill.ts';
import { labelledSkills } from '../test/mind/evidence/guard/corpus.ts';
import { type BenchRow, median } from './bench-row.ts';

type Files = readonly { readonly path: string; readonly text: string }[];

export async function benchGuard(): Promise<readonly BenchRow[]> {
  const sets = {
    bad: reports(labelled('bad')),
    'bad, held out': reports(labelled('held-out-bad')),
    good: reports(labelled('good')),
    'good, held out': reports(labelled('held-out-good')),
    real: reports(realSkills()),
  };
  printTable(sets);
  const honest = [...sets.good, ...sets.real];
  const safe = share(sets.bad, 'safe');
  const dangerous = share(honest, 'dangerous');
  const caution = share(honest, 'caution');
  const heldOut = share(sets['bad, held out'], 'safe');
  const counts = (of: readonly ScanReport[]) =>
    (['safe', 'caution', 'dangerous'] as const).map((verdict) => `${count(of, verdict)} ${verdict}`).join(', ');
  const note = (...names: (keyof typeof sets)[]) => names.map((name) => `${name}: ${counts(sets[name])}`).join('; ');
  return [
    timeRow(),
    { metric: 'guard, bad that pass', value: safe, unit: '%', target: '0 %', ok: safe === 0, note: note('bad') },
    {
      ...{ metric: 'guard, held-out bad that pass', value: heldOut, unit: '%', target: '≤ 10 %', ok: heldOut <= 10 },
      note: note('bad, held out', 'good, held out'),
    },
    {
      ...{
        metric: 'guard, ordinary called dangerous',
        value: dangerous,
        unit: '%',
        target: '≤ 1 %',
        ok: dangerous <= 1,
      },
      note: note('good', 'real'),
    },
    {
      ...{ metric: 'guard, ordinary asked about', value: caution, unit: '%', target: '≤ 8 %', ok: caution <= 8 },
      note: note('good', 'real'),
    },
  ];
}

function labelled(name: Parameters<typeof labelledSkills>[0]): readonly Files[] {
  return labelledSkills(name).map(({ files }) => files);
}

function reports(skills: readonly Files[]): readonly ScanReport[] {
  return skills.map((files) => scanSkill(files));
}

function count(of: readonly ScanReport[], verdict: Verdict): number {
  return of.filter((one) => one.verdict === verdict).length;
}

/** Percent. */
function share(of: readonly ScanReport[], verdict: Verdict): number {
  return of.length === 0 ? 0 : (100 * count(of, verdict)) / of.length;
}

function timeRow(): BenchRow {
  const real = realSkills();
  const timed = real.length > 0 ? real : labelled('good');
  for (const files of timed) scanSkill(files);
  const value = median(timed.flatMap((files) => [1, 2, 3].map(() => millisecondsOf(files))));
  const note = `${timed.length} skills, each three times`;
  return { metric: 'guard, a skill', value, unit: 'ms', target: '≤ 1 ms', ok: value <= 1, note };
}

function printTable(sets: Readonly<Record<string, readonly ScanReport[]>>): void {
  const names = Object.keys(sets);
  console.log(['capability'.padEnd(14), ...names, 'what it means'].join(' | '));
  for (const [capability, meaning] of Object.entries(CAPABILITIES)) {
    const cells = names.map((name) => String(shows(sets[name] ?? [], capability as Capability)).padStart(name.length));
    console.log([capability.padEnd(14), ...cells, meaning].join(' | '));
  }
}

/** Skills in which it is clear. */
function shows(of: readonly ScanReport[], capability: Capability): number {
  const isClear = ({ findings }: ScanReport) =>
    findings.some((one) => one.capability === capability && (one.severity === 'high' || one.severity === 'critical'));
  return of.filter(isClear).length;
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
