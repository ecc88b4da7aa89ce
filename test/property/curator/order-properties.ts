/** With the clock fixed, no output of the curator depends on the order of its input: byte for byte the same. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { buildManagedBlock, referenceFile } from '#extensions/curator/block/managed-block.ts';
import { planWrites } from '#extensions/curator/run/plan-auto-run.ts';
import { planMarkdown } from '#extensions/curator/run/run-outcome.ts';
import { chooseVariant, lexicalCandidates } from '#public/curator.ts';
import { anyRow, anyText, NOW, shuffledBy, summary } from './nasty-evidence.ts';

const stream = fc.infiniteStream(fc.nat(1000));

export function blocksIgnoreOrder(runs: number): void {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 25 }), fc.nat(3), anyText, stream, (rows, variant, text, numbers) => {
      const mixed = shuffledBy(numbers)(rows);
      const asked = { skill: 'x', days: 7, now: NOW, summary, rows };
      const other = { ...asked, rows: mixed };
      assert.equal(buildManagedBlock({ ...asked, variant }), buildManagedBlock({ ...other, variant }));
      assert.deepEqual(referenceFile(asked), referenceFile(other));
      assert.equal(
        JSON.stringify(chooseVariant({ ...asked, text, variants: 4 })),
        JSON.stringify(chooseVariant({ ...other, text, variants: 4 })),
      );
    }),
    { numRuns: runs },
  );
}

export function plansIgnoreOrder(runs: number): void {
  const found = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(3), anyText), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 25 }), found, fc.boolean(), stream, (tools, texts, write, numbers) => {
      const skills = texts.map(([name, at, text]) => ({
        name,
        path: `/h/skills/${at}/${name}/SKILL.md`,
        text: `---\nname: ${name}\n---\n${text}`,
        source: at % 2 === 0 ? 'local-agent-created' : 'bundled',
      }));
      const tallies = ['a', 'b', 'c', 'd'].map((skill_name, at) => ({
        skill_name,
        event_count: 2 + (at % 2),
        errors: at,
      }));
      const counts = { ...summary, turn_events: 0, session_events: 0, tools: [] };
      const flags = { variants: 4, max_skills: 2, apply_low_risk: write, approve_auto_apply: write };
      const plan = (mix: <Item>(items: readonly Item[]) => readonly Item[]) =>
        planWrites({
          report: { summary: { ...counts, skills: mix(tallies) }, skill_evidence: mix(tools) },
          skills: mix(skills),
          flags,
          now: NOW,
        });
      const [one, other] = [plan((items) => items), plan(shuffledBy(numbers))];
      assert.equal(JSON.stringify(other), JSON.stringify(one));
      assert.equal(planMarkdown(other.plan), planMarkdown(one.plan));
    }),
    { numRuns: runs },
  );
}

export function searchIgnoresOrder(runs: number): void {
  const skills = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c'), text: anyText }), { maxLength: 8 });
  fc.assert(
    fc.property(anyText, skills, stream, (query, given, numbers) => {
      assert.deepEqual(lexicalCandidates(query, shuffledBy(numbers)(given)), lexicalCandidates(query, given));
    }),
    { numRuns: runs },
  );
}
