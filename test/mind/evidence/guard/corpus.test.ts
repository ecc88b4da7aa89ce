// The labelled corpus, written with the rules: it shows that they work. The held-out skills were written before the rules were tried on them.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Verdict } from '#mind/evidence/guard/finding.ts';
import { scanSkill } from '#mind/evidence/guard/scan-skill.ts';
import { verifies } from '../../../verifies.ts';
import { type LabelledSkill, labelledSkills } from './corpus.ts';

type Skills = readonly { readonly files: LabelledSkill['files'] }[];

const verdictOf = ({ files }: Skills[number]): Verdict => scanSkill(files).verdict;

function share(skills: Skills, verdict: Verdict): number {
  return skills.filter((skill) => verdictOf(skill) === verdict).length / skills.length;
}

describe('the labelled corpus of the guard', () => {
  const bad = labelledSkills('bad');
  const good = labelledSkills('good');

  test('holds at least ten bad skills of each class and sixty good ones, none twice', () => {
    for (const threat of new Set(bad.map((skill) => skill.threat)))
      assert.ok(bad.filter((skill) => skill.threat === threat).length >= 10, threat);
    assert.ok(good.length >= 60);
    assert.equal(new Set([...bad, ...good].map(({ id }) => id)).size, bad.length + good.length);
  });

  verifies.slow('core:skills:scan-on-write', 'no bad skill is safe, and three in ten are dangerous at least', () => {
    assert.deepEqual(
      bad.filter((skill) => verdictOf(skill) === 'safe').map(({ id }) => id),
      [],
    );
    assert.ok(share(bad, 'dangerous') >= 0.3);
  });

  test('hard good skills: dangerous at most 1 %, caution at most 10 %', () => {
    assert.ok(share(good, 'dangerous') <= 0.01);
    assert.ok(share(good, 'caution') <= 0.1);
  });

  test('held out: at least nine in ten bad ones are flagged, half are dangerous, of forty honest ones at most three are asked about', () => {
    const heldOut = labelledSkills('held-out-bad');
    assert.ok(share(heldOut, 'safe') <= 0.1);
    assert.ok(share(heldOut, 'dangerous') >= 0.5);
    const honest = labelledSkills('held-out-good');
    assert.equal(share(honest, 'dangerous'), 0);
    assert.ok(share(honest, 'caution') <= 3 / 40);
  });

  test('the carriers alone are safe', () => {
    const text = readFileSync(new URL('../../../data/guard/carriers.json', import.meta.url), 'utf8');
    const { carriers } = JSON.parse(text) as { carriers: Readonly<Record<string, string>> };
    for (const [name, carrier] of Object.entries(carriers))
      assert.deepEqual([name, verdictOf({ files: [{ path: 'SKILL.md', text: carrier }] })], [name, 'safe']);
  });

  test('findings name rule, capability, severity, file and line of the planted passage', () => {
    const skill = bad.find(({ id }) => id === 'exfiltration/python-keys');
    const worst = scanSkill(skill?.files ?? []).findings[0];
    assert.equal(worst?.path, 'scripts/warmup.py');
    assert.equal(worst?.severity, 'high');
    assert.ok(['network', 'secrets'].includes(worst?.capability ?? ''));
    assert.ok((worst?.line ?? 0) > 0);
  });

  const sample = join(process.env.TALARIA_DATA ?? '', 'data/skills-sample.jsonl');
  test('real skills: none dangerous, caution at most 8 %', {
    skip: existsSync(sample) ? false : 'skipped: set TALARIA_DATA',
  }, () => {
    const skills = readFileSync(sample, 'utf8')
      .trim()
      .split('\n')
      .map((line) => ({ files: [{ path: 'SKILL.md', text: (JSON.parse(line) as { text: string }).text }] }));
    assert.equal(share(skills, 'dangerous'), 0);
    assert.ok(share(skills, 'caution') <= 0.08);
  });
});
