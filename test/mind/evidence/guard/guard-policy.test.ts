// The policy by source, as its docstring has it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardDecision, type Verdict } from '#mind/evidence/guard/finding.ts';
import type { SkillSource } from '#mind/skills/skill.ts';

const TABLE: Readonly<Record<SkillSource, string>> = {
  builtin: 'allow allow allow',
  trusted: 'allow allow refuse',
  community: 'allow ask refuse',
  external: 'allow ask refuse',
  agent: 'allow allow ask',
  owner: 'allow allow ask',
};

test('what may happen with a skill follows from its source and its verdict', () => {
  const verdicts: readonly Verdict[] = ['safe', 'caution', 'dangerous'];
  for (const [source, expected] of Object.entries(TABLE) as [SkillSource, string][]) {
    const decided = verdicts.map((verdict) => guardDecision({ verdict, findings: [] }, source));
    assert.equal(decided.join(' '), expected, source);
  }
});
