import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
  attributeSkill,
  buildManagedBlock,
  chooseVariant,
  classifyCandidate,
  classifySource,
  compactPreview,
  isErrorLike,
  lexicalCandidates,
  parseSkillHeader,
  planAutoRun,
  spliceManagedBlock,
  structuralCheck,
} from 'talaria/curator';
import { verifies } from '../verifies.ts';

const upstream = { compat: 'upstream' } as const;

describe('the entry talaria/curator', () => {
  verifies(['curator:hooks:error-object', 'curator:hooks:error-text'], 'judges results', () => {
    for (const failed of [{ error: 'x' }, { success: false }, { exit_code: 2 }, '{"exit_code": 1}'])
      assert.deepEqual([isErrorLike(failed), isErrorLike(failed, upstream)], [true, true]);
    for (const fine of [{ output: 'error error' }, { exit_code: 0 }, '{"errors": 0}', 'all good'])
      assert.deepEqual([isErrorLike(fine), isErrorLike(fine, upstream)], [false, false]);
    assert.deepEqual([isErrorLike('0 errors'), isErrorLike('0 errors', upstream)], [false, true]);
    assert.equal(isErrorLike(`${'x'.repeat(3000)} traceback`, upstream), false);
  });

  verifies(['curator:hooks:attribution', 'curator:store:preview-limit'], 'attributes calls and cuts previews', () => {
    assert.equal(attributeSkill('skill_view', { name: 'csv' }), 'csv');
    assert.equal(attributeSkill('delegate', { skills: ['', 'csv'] }, upstream), 'csv');
    assert.equal(attributeSkill('terminal', { name: 'csv' }), null);
    assert.equal([...compactPreview('😀'.repeat(600))].length, 500);
    assert.deepEqual([compactPreview('abcdef', 3), compactPreview(null)], ['ab…', '']);
  });

  verifies(['curator:block:markers', 'curator:auto:min-evidence'], 'plans, builds and splices on plain data', () => {
    const skill = { name: 'csv', path: '/h/skills/csv/SKILL.md', text: '---\nname: csv\ndescription: d\n---\nBody.\n' };
    const now = '2026-05-21T00:00:00+00:00';
    const summary = { tool_events: 2, skill_events: 2, error_events: 1 };
    const source = classifySource({
      path: skill.path,
      name: 'csv',
      home: '/h',
      bundled: [],
      hub: [],
      externalDirs: [],
      createdBy: 'agent',
    });
    const counts = { ...summary, turn_events: 0, session_events: 0, tools: [] };
    const skills = [{ skill_name: 'csv', event_count: 2, errors: 1 }];
    const call = { session_id: 's', task_id: '', duration_ms: 1, skill_name: 'csv', created_at: now };
    const make = { ...call, tool_name: 'terminal', args_json: '{"command":"make"}' };
    const rows = [{ ...make, is_error: 1, result_preview: 'make: *** No rule to make target' }];
    const plan = planAutoRun({
      report: { summary: { ...counts, skills }, skill_evidence: rows },
      skills: [{ ...skill, source }],
      flags: {},
      now,
    });
    const block = buildManagedBlock({ skill: 'csv', days: 7, now, summary, rows });
    const text = spliceManagedBlock(skill.text, block);
    assert.deepEqual([plan.schema_version, plan.summary.planned], ['0.8', 1]);
    assert.equal(plan.candidates[0]?.content_size?.updated_chars, text.length);
    assert.deepEqual(structuralCheck(text), { passed: true, failures: [] });
    assert.equal(
      chooseVariant({ text: skill.text, skill: 'csv', summary, rows, now, variants: 1 }).variants[0]?.content_chars,
      text.length,
    );
    assert.equal(parseSkillHeader(text)?.name, 'csv');
    assert.deepEqual(lexicalCandidates('Body', [skill]), [{ skill_name: 'csv', score: 1, reasons: ['body'] }]);
    assert.equal(classifyCandidate({ text: '' }).candidate_type, 'ignore');
  });
});
