// The labelled corpus, written with the rules: it shows that they work. How they fare on what nobody has seen, only others can measure.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Verdict } from '#mind/evidence/guard/finding.ts';
import { scanSkill } from '#mind/evidence/guard/scan-skill.ts';
import { verifies } from '../../../verifies.ts';
import { type LabelledSkill, labelledSkills } from './corpus.ts';

const MAIN_CLASSES = [
  'shell_injection',
  'credential_access',
  'exfiltration',
  'path_traversal',
  'persistence',
  'obfuscation',
  'prompt_injection',
  'lure',
  'supply_chain',
];

const verdictOf = ({ files }: { readonly files: LabelledSkill['files'] }): Verdict => scanSkill(files).verdict;

function share(
  skills: readonly { readonly files: LabelledSkill['files'] }[],
  counts: (verdict: Verdict) => boolean,
): number {
  return skills.filter((skill) => counts(verdictOf(skill))).length / skills.length;
}

describe('the labelled corpus of the skills guard', () => {
  const bad = labelledSkills('bad');
  const good = labelledSkills('good');

  test('holds at least ten bad skills of each class and sixty good ones, none twice', () => {
    for (const threat of new Set([...MAIN_CLASSES, ...bad.map((skill) => skill.threat)]))
      assert.ok(bad.filter((skill) => skill.threat === threat).length >= 10, threat);
    assert.ok(good.length >= 60);
    assert.equal(new Set([...bad, ...good].map(({ id }) => id)).size, bad.length + good.length);
  });

  verifies('core:skills:scan-on-write', 'every class is flagged at 80 % at least, all together at 90 %', () => {
    const flagged = (verdict: Verdict): boolean => verdict !== 'safe';
    for (const threat of new Set(bad.map((skill) => skill.threat)))
      assert.ok(
        share(
          bad.filter((skill) => skill.threat === threat),
          flagged,
        ) >= 0.8,
        threat,
      );
    assert.ok(share(bad, flagged) >= 0.9);
  });

  test('lures and exfiltration are dangerous at 90 % at least', () => {
    for (const threat of ['lure', 'exfiltration'])
      assert.ok(
        share(
          bad.filter((skill) => skill.threat === threat),
          (verdict) => verdict === 'dangerous',
        ) >= 0.9,
        threat,
      );
  });

  test('hard good skills: dangerous at most 2 %, caution at most 15 %', () => {
    assert.ok(share(good, (verdict) => verdict === 'dangerous') <= 0.02);
    assert.ok(share(good, (verdict) => verdict === 'caution') <= 0.15);
  });

  test('the carriers alone are safe', () => {
    const text = readFileSync(new URL('../../../data/guard/carriers.json', import.meta.url), 'utf8');
    const { carriers } = JSON.parse(text) as { carriers: Readonly<Record<string, string>> };
    for (const [name, carrier] of Object.entries(carriers))
      assert.deepEqual([name, verdictOf({ files: [{ path: 'SKILL.md', text: carrier }] })], [name, 'safe']);
  });

  test('findings name rule, severity, file and line of the planted passage', () => {
    const skill = bad.find(({ id }) => id === 'exfiltration/python-keys');
    const worst = scanSkill(skill?.files ?? []).findings[0];
    assert.equal(worst?.path, 'scripts/warmup.py');
    assert.equal(worst?.severity, 'critical');
    assert.match(worst?.rule ?? '', /^exfiltration\//);
    assert.ok((worst?.line ?? 0) > 0);
  });

  const sample = join(process.env.TALARIA_DATA ?? '', 'data/skills-sample.jsonl');
  test('real skills: none dangerous, caution at most 5 %', {
    skip: existsSync(sample) ? false : 'skipped: set TALARIA_DATA',
  }, () => {
    const skills = readFileSync(sample, 'utf8')
      .trim()
      .split('\n')
      .map((line) => ({ files: [{ path: 'SKILL.md', text: (JSON.parse(line) as { text: string }).text }] }));
    assert.equal(
      share(skills, (verdict) => verdict === 'dangerous'),
      0,
    );
    assert.ok(share(skills, (verdict) => verdict === 'caution') <= 0.05);
  });
});
