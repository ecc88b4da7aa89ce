/** Proposals, their check, and the verifier of skill files as the original has them (notes 5, 13, 14), in the corners. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { validateSkillFile, validateSkillFiles } from '#extensions/curator/block/structural-check.ts';
import { buildProposal, verifyProposal } from '#extensions/curator/proposal.ts';
import { buildReport, ledgerReader } from '#extensions/curator/report.ts';
import { insertSessionEvent, insertToolEvent } from '#mind/evidence/ledger/event-rows.ts';
import { ledgerSchema } from '#mind/evidence/ledger/evidence-ledger.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/skill-text.ts';
import type { JsonObject, JsonValue } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

const NOW = '2026-05-21T00:00:00Z';
const tool = (at: string, skill: string | null, isErrorUpstream = 0, name = 't') => ({
  ...{ at: Date.parse(at), skill, isErrorUpstream: isErrorUpstream === 1, tool: name, isError: false },
  ...{ sessionId: 's', taskId: '', ms: null, argsJson: '{}', resultPreview: '', activeSkill: null },
});

/** Of rows of one second the last one is the newest. */
function reporter(t: TestContext, tools: readonly ReturnType<typeof tool>[]) {
  const { database } = openDatabase(join(createTempHome(t).path, 'evidence.sqlite'), { rooms: [ledgerSchema] });
  t.after(() => database.close());
  for (const [at, call] of tools.entries()) insertToolEvent(database, { ...call, key: `${at}` });
  for (const start of ['2026-05-20T00:00:00Z', '2020-01-01T00:00:00Z'])
    insertSessionEvent(database, {
      ...{ key: start, at: Date.parse(start), sessionId: 's', completed: true, interrupted: false },
      ...{ model: 'm', platform: 'cli' },
    });
  const reader = ledgerReader(database, { compat: 'upstream' });
  return (skill: string | null = null, days = 7) => buildReport(reader, { dbPath: 'db', days, skill, now: NOW });
}

describe("the original's report", () => {
  verifies(
    ['curator:report:summary', 'curator:report:skills-order'],
    'counts whole rows from the first second of the window',
    (t) => {
      const { summary, skill_evidence, filters } = reporter(t, [
        tool('2026-05-14T00:00:00+00:00', 'a', 1),
        tool('2026-05-13T23:59:59+00:00', 'a', 1),
        tool('2026-05-20T00:00:00+00:00', 'b', 0, 'u'),
        tool('2026-05-20T00:00:01+00:00', 'B'),
        tool('2026-05-20T00:00:01+00:00', null, 1),
      ])();
      assert.deepEqual(filters, { days: 7, skill: null });
      assert.deepEqual(
        [summary.tool_events, summary.error_events, summary.skill_events, summary.turn_events, summary.session_events],
        [4, 2, 3, 0, 1],
      );
      assert.deepEqual(
        summary.skills.map((row) => [row.skill_name, row.event_count, row.errors]),
        [
          ['B', 1, 0],
          ['a', 1, 1],
          ['b', 1, 0],
        ],
      );
      assert.deepEqual(summary.tools, [
        { tool_name: 't', event_count: 3, errors: 2 },
        { tool_name: 'u', event_count: 1, errors: 0 },
      ]);
      assert.deepEqual(
        skill_evidence.map((row) => row.skill_name),
        [null, 'B', 'b', 'a'],
      );
    },
  );

  verifies('curator:report:one-skill', 'filters rows by the skill, sessions never; lists are cut at twenty', (t) => {
    const rows = Array.from({ length: 25 }, (_, at) => tool('2026-05-20T00:00:00+00:00', `s${at + 10}`));
    const report = reporter(t, rows);
    const all = report();
    assert.deepEqual([all.summary.skills.length, all.skill_evidence.length, all.summary.tool_events], [20, 20, 25]);
    const one = report('s11', 0);
    assert.deepEqual([one.filters.days, one.summary.tool_events, one.summary.session_events], [1, 1, 1]);
    assert.equal(report(null, 99_999).filters.days, 3650);
  });
});

describe("the original's check of a proposal", () => {
  const seen = (skill: string | null, events: number) => ({
    filters: { days: 7, skill },
    summary: {
      ...{ tool_events: events, skill_events: events, error_events: events, turn_events: 0, session_events: 1 },
      ...{ skills: [], tools: [] },
    },
    skill_evidence: [],
  });
  const evidence = seen('x', 1);
  const good = JSON.parse(
    JSON.stringify(buildProposal({ skill: 'x', skillText: 't', report: evidence })),
  ) as JsonObject;
  const failures = (change: JsonObject, of = evidence) => verifyProposal({ ...good, ...change }, of).failures;
  const action = (kind: JsonValue, description: JsonValue) => ({ proposed_actions: [{ kind, description }] });

  verifies('curator:propose:verifier', 'takes flags literally and evidence on both sides', () => {
    assert.deepEqual(failures({}), []);
    for (const dry_run of [1, 'true', null, false]) assert.deepEqual(failures({ dry_run }), ['dry_run']);
    for (const requires_human_approval of [1, 'yes'])
      assert.deepEqual(failures({ requires_human_approval }), ['approval_required']);
    for (const mutation_allowed of [0, null, 'false', true])
      assert.deepEqual(failures({ mutation_allowed }), ['mutation_blocked_by_default']);
    assert.deepEqual(failures({ grounding_event_count: 0 }), ['grounded_in_evidence']);
    assert.deepEqual(failures({}, seen('x', 0)), ['grounded_in_evidence']);
    assert.deepEqual(failures({ skill_name: 'y' }), ['skill_matches_report']);
    assert.deepEqual(failures({ skill_name: 'y' }, seen(null, 1)), []);
    assert.equal(verifyProposal(null, evidence).passed, false);
  });

  verifies('curator:propose:verifier', 'finds whole destructive words in kind and description', () => {
    for (const word of ['delete', 'Remove', 'ARCHIVE', 'rename', 'merge', 'prune']) {
      assert.deepEqual(failures(action('edit', `then ${word}, it`)), ['non_destructive'], word);
      assert.deepEqual(failures(action(`${word}-skill`, '')), ['non_destructive'], word);
    }
    for (const words of ['deleted', 'removal', 'archived', 'emerge', 'pruned', 'undelete'])
      assert.deepEqual(failures(action('edit', words)), [], words);
  });
});

describe("the original's verifier of skill files", () => {
  const errors = (text: string) => validateSkillFile({ path: '/s/SKILL.md', bytes: Buffer.from(text) }).errors;
  const body = (text: string) => `---\nname: a\ndescription: b\n---\n${text}`;

  verifies('curator:validate:skill-file', 'wants names that are texts, and counts markers without their order', () => {
    assert.deepEqual(errors(body('')), []);
    assert.deepEqual(errors('---\nname: 5\ndescription: true\n---\n'), ['missing-name', 'missing-description']);
    assert.deepEqual(errors('---\nname: ""\ndescription: "  "\n---\n'), ['missing-name', 'missing-description']);
    assert.deepEqual(errors('\n---\nname: a\n---\n'), ['missing-frontmatter']);
    assert.deepEqual(errors(body(`${END_MARKER}${START_MARKER}`)), []);
    assert.deepEqual(errors(body('x'.repeat(150_000))), []);
    assert.equal(errors(body(`${START_MARKER}${END_MARKER}`.repeat(2))).length, 1);
    assert.equal(errors(body(END_MARKER)).length, 1);
    assert.equal(errors(body('a\0b')).length, 1);
  });

  verifies('curator:validate:skill-file', 'is not satisfied by nothing, nor by one bad file among good ones', () => {
    const file = (text: string) => ({ path: '/s/SKILL.md', bytes: Buffer.from(text) });
    assert.deepEqual([validateSkillFiles([]).ok, validateSkillFiles([file(body(''))]).ok], [false, true]);
    const mixed = validateSkillFiles([file(body('')), file('')], true);
    assert.deepEqual([mixed.ok, mixed.checked, mixed.target_from_env], [false, 2, true]);
  });
});
