import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { drillGate, drillStatus } from '#extensions/curator/verify/drill-gate.ts';
import {
  buildProposal,
  proposalMarkdown,
  verifyProposal,
  withModelDraft,
} from '#extensions/curator/verify/proposal.ts';
import { structuralCheck } from '#extensions/curator/verify/structural-check.ts';
import { validateSkillFile, validateSkillFiles } from '#extensions/curator/verify/validate-skill-file.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/managed-block.ts';
import { verifies } from '../../../verifies.ts';

describe('the structural stage', () => {
  verifies('curator:verify:structural', 'names each fault of size, markers and front matter', () => {
    const cases: readonly (readonly [text: string, failures: readonly string[]])[] = [
      ['plain', []],
      ['---\n---\nbody', []],
      ['---\nname: x\n---', []],
      [`${START_MARKER}${END_MARKER}`, []],
      ['😀'.repeat(100_000), []],
      ['x'.repeat(100_001), ['over-hard-cap:100001>100000']],
      [START_MARKER, ['unbalanced-managed-block-markers:1!=0', 'managed-block-end-before-start']],
      [END_MARKER, ['unbalanced-managed-block-markers:0!=1']],
      [`${END_MARKER}${START_MARKER}`, ['managed-block-end-before-start']],
      [`${START_MARKER}${END_MARKER}`.repeat(2), ['duplicate-managed-block:2']],
      ['---\nname: x\n', ['frontmatter-not-parseable']],
      ['---\ndescription: Use when: x\n---\n', ['frontmatter-not-parseable:ScannerError']],
      ['---\na: [b\n---\n', ['frontmatter-not-parseable:ParserError']],
      ['---\na: *b\n---\n', ['frontmatter-not-parseable:ComposerError']],
      ['---\n<<: *b\n---\n', ['frontmatter-not-parseable:ComposerError']],
      ['---\na: &b 1\nc: *b\n---\n', []],
      ['---\na: *b*\n---\n', ['frontmatter-not-parseable:ScannerError']],
      ['---\na: > b\n---\n', ['frontmatter-not-parseable:ScannerError']],
      ['---\n: : :\n---\n', ['frontmatter-not-parseable:ParserError']],
      ['---\na:\n  - : b\n---\n', ['frontmatter-not-parseable:ParserError']],
      ['---\n? \n: b\n---\n', []],
      ['---\n%a\n---\n', ['frontmatter-not-parseable:ParserError']],
      ['---\n...\n---\n', ['frontmatter-not-parseable:ParserError']],
      ['---\na: b\n...\nc: d\n---\n', ['frontmatter-not-parseable:ParserError']],
      ['---\na: b\n...\n--- c\n---\n', ['frontmatter-not-parseable:ComposerError']],
      ['---\na: !tag b\n---\n', ['frontmatter-not-parseable:ConstructorError']],
      ['---\na: \0\n---\n', ['frontmatter-not-parseable:ReaderError']],
      ['---\n- a\n---\n', ['frontmatter-not-mapping']],
      [`---\n${'['.repeat(100_001)}\n---\n`, ['over-hard-cap:100010>100000', 'frontmatter-not-parseable:ParserError']],
    ];
    for (const [text, failures] of cases)
      assert.deepEqual(structuralCheck(text), { passed: failures.length === 0, failures }, text.slice(0, 60));
  });
});

describe('the built-in verifier of a skill file', () => {
  const file = (text: string, path = '/s/x/SKILL.md') => ({ path, bytes: Buffer.from(text) });

  verifies('curator:validate:skill-file', 'checks encoding, front matter, name, description and markers', () => {
    const good = validateSkillFile(file(`---\nname: x\ndescription: d\n---\n${START_MARKER}${END_MARKER}\n`));
    assert.deepEqual(good, {
      path: '/s/x/SKILL.md',
      ok: true,
      name: 'x',
      description_present: true,
      auto_block_count: 1,
      errors: [],
    });
    const errors = (text: string) => validateSkillFile(file(text)).errors;
    assert.deepEqual(errors('---\nname: " "\n---\n'), ['missing-name', 'missing-description']);
    assert.deepEqual(errors('body'), ['missing-frontmatter']);
    assert.deepEqual(errors('---\nname: x\n'), ['unclosed-frontmatter']);
    assert.deepEqual(errors('---\n- a\n---\n'), ['frontmatter-not-mapping']);
    assert.deepEqual(errors('---\n---\n'), ['frontmatter-not-mapping']);
    assert.deepEqual(errors(`---\nname: x\ndescription: d\n---\n\0${START_MARKER}`), [
      'contains-nul',
      'unbalanced-managed-block-markers:1!=0',
    ]);
    assert.deepEqual(validateSkillFile(file('', '/s/readme.md')).errors[0], 'file-name-not-skill-md');
    assert.deepEqual(validateSkillFile({ path: '/s/SKILL.md', bytes: null }).errors, ['file-not-found']);
    assert.deepEqual(validateSkillFile({ path: '/s/SKILL.md', bytes: Uint8Array.of(0xff, 0xfe) }).errors, [
      'not-utf-8',
    ]);
    assert.deepEqual(validateSkillFiles([]), { ok: false, checked: 0, target_from_env: false, results: [] });
  });
});

describe('the restore-drill gate', () => {
  const apply = { manifest_path: '/b/1/manifest.json', skill_name: 'x' };
  const drill = (status: string, path = apply.manifest_path) => ({ manifest_path: path, status });

  verifies('curator:drill:gate', 'answers by the state, strictly when required', () => {
    const cases: readonly (readonly [state: unknown, reason: string, blocks: boolean])[] = [
      [undefined, 'no-prior-apply', false],
      [{}, 'no-prior-apply', false],
      [null, 'restore-drill-state-unreadable', true],
      [[], 'restore-drill-state-unreadable', true],
      [{ last_apply: apply }, 'restore-drill-missing', true],
      [{ last_apply: apply, last_drill: drill('pass', '/b/0/manifest.json') }, 'restore-drill-stale', true],
      [{ last_apply: apply, last_drill: drill('partial') }, 'restore-drill-failed', true],
      [{ last_apply: apply, last_drill: drill('pass') }, 'restore-drill-passed', false],
    ];
    for (const [state, reason, blocks] of cases) {
      const given = state === undefined ? {} : { state: state as never };
      const gates = [true, false].map((require) => drillGate({ statePath: '/s.json', require, ...given }));
      assert.deepEqual(
        gates.map(({ allowed }) => allowed),
        [!blocks, true],
        reason,
      );
      assert.deepEqual(
        gates.map((gate) => gate.reason),
        [reason, blocks ? `${reason}-warning` : reason],
      );
    }
  });

  test('ours compares plain paths and forgives a timer that is gone; the original does neither', () => {
    const gate = (last_drill: object, compat?: 'upstream') =>
      drillGate(
        { statePath: '/s', require: true, state: { last_apply: apply, last_drill } as never },
        compat ? { compat } : {},
      ).reason;
    const roundabout = drill('pass', '/b/x/../1/manifest.json');
    assert.deepEqual([gate(roundabout), gate(roundabout, 'upstream')], ['restore-drill-passed', 'restore-drill-stale']);
    const timerGone = { ...drill('partial'), warnings: ['scheduler-references:scheduler-paths-missing'] };
    assert.deepEqual([gate(timerGone), gate(timerGone, 'upstream')], ['restore-drill-passed', 'restore-drill-failed']);
    const more = { ...timerGone, warnings: [...timerGone.warnings, 'evidence-references:no-db-path'] };
    assert.equal(gate(more), 'restore-drill-failed');
    assert.deepEqual(
      [['pass', 'skipped'], ['pass', 'warn'], ['warn', 'fail'], []].map((all) =>
        drillStatus(all.map((status) => ({ status }) as never)),
      ),
      ['pass', 'partial', 'fail', 'pass'],
    );
  });
});

describe('proposals', () => {
  const summary = {
    tool_events: 3,
    error_events: 1,
    skill_events: 2,
    turn_events: 1,
    session_events: 1,
    skills: [],
    tools: [],
  };
  const report = { summary, skill_evidence: [], filters: { days: 30, skill: 'x' } };

  verifies('curator:propose:dry-run', 'are dry runs that need approval and rest on counted evidence', () => {
    const proposal = buildProposal({ skill: 'x', skillText: '', report });
    assert.deepEqual(
      [proposal.dry_run, proposal.requires_human_approval, proposal.mutation_allowed, proposal.grounding_event_count],
      [true, true, false, 3],
    );
    assert.deepEqual(
      proposal.proposed_actions.map(({ kind }) => kind),
      ['patch-troubleshooting', 'refresh-active-skill', 'inspect-missing-skill-text'],
    );
    const quiet = { ...report, summary: { ...summary, error_events: 0, skill_events: 0 } };
    assert.deepEqual(
      buildProposal({ skill: 'x', skillText: 't', report: quiet }).proposed_actions.map(({ kind }) => kind),
      ['no-change'],
    );
    const drafted = withModelDraft({ ...proposal, dry_run: false } as never, { text: 'apply it' });
    assert.deepEqual([drafted.dry_run, drafted.mutation_allowed, drafted.model_draft?.executed], [true, false, true]);
    assert.equal(withModelDraft(proposal, { error: 'no model' }).model_draft?.text, '');
    assert.match(proposalMarkdown(drafted), /Dry run: nothing is applied[\s\S]*\n> apply it\n/);
  });

  verifies(
    'curator:propose:verifier',
    'fail without evidence, for another skill, with a destructive word or a wrong flag',
    () => {
      const proposal = buildProposal({ skill: 'x', skillText: 't', report });
      const failures = (change: object, against: object = report) =>
        verifyProposal({ ...proposal, ...change } as never, against as never).failures;
      assert.deepEqual(failures({}), []);
      assert.deepEqual(failures({ dry_run: 1 }), ['dry_run']);
      assert.deepEqual(failures({ grounding_event_count: 0 }), ['grounded_in_evidence']);
      assert.deepEqual(failures({}, { ...report, summary: { ...summary, error_events: 0, skill_events: 0 } }), [
        'grounded_in_evidence',
      ]);
      assert.deepEqual(failures({ skill_name: 'y' }), ['skill_matches_report']);
      assert.deepEqual(failures({ skill_name: 'y' }, { ...report, filters: { days: 1, skill: null } }), []);
      assert.deepEqual(failures({ proposed_actions: [{ kind: 'x', description: 'Then DELETE-it' }] }), [
        'non_destructive',
      ]);
      assert.deepEqual(failures({ proposed_actions: [{ kind: 'x', description: 'was deleted' }] }), []);
      assert.deepEqual(failures({ requires_human_approval: 'yes', mutation_allowed: null }), [
        'approval_required',
        'mutation_blocked_by_default',
      ]);
      assert.equal(verifyProposal(null, report).passed, false);
    },
  );
});
