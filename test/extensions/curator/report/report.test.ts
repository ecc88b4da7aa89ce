import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { buildReport } from '#extensions/curator/report/build-report.ts';
import { ledgerReader } from '#extensions/curator/report/ledger-reader.ts';
import { reportMarkdown } from '#extensions/curator/report/report-markdown.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import {
  insertSessionEvent,
  insertToolEvent,
  insertTurnEvent,
  type ToolEvent,
} from '#mind/evidence/ledger/event-rows.ts';
import { ledgerSchema } from '#mind/evidence/ledger/ledger-schema.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

const NOW = '2026-05-21T00:00:00+00:00';

const DAY_BEFORE = Date.parse('2026-05-20T00:00:00Z');
const COUNTED = ['tool_events', 'turn_events', 'session_events'] as const;

/** Of seven days two turns, one of them long ago, one end, and calls that name a skill or are made while one is active. */
function evidence(t: TestContext): Database {
  const { database } = openDatabase(join(createTempHome(t).path, 'evidence.sqlite'), { rooms: [ledgerSchema] });
  t.after(() => database.close());
  const call = (key: string, fields: Partial<ToolEvent>) =>
    insertToolEvent(database, {
      ...{ key, at: DAY_BEFORE, sessionId: 's', taskId: '', tool: 'skill_view', ms: null, isError: false, skill: null },
      ...{ isErrorUpstream: fields.isError ?? false, activeSkill: null, argsJson: '{}', resultPreview: 'done' },
      ...fields,
    });
  call('1', { skill: 'b' });
  call('2', { skill: 'a', isError: true });
  call('3', { skill: 'c' });
  call('4', { skill: 'c', at: DAY_BEFORE + 36_000_000 });
  call('5', { activeSkill: 'a', tool: 'terminal', isError: true, isErrorUpstream: false });
  call('6', { skill: 'old', at: Date.parse('2026-05-13T23:59:59Z') });
  for (const at of [DAY_BEFORE, DAY_BEFORE - 20 * 86_400_000])
    insertTurnEvent(database, {
      ...{ key: `turn ${at}`, at, sessionId: 's', model: 'm', platform: 'cli' },
      ...{ userPreview: 'do', assistantPreview: 'done' },
    });
  insertSessionEvent(database, {
    ...{ key: 'end', at: DAY_BEFORE, sessionId: 's', completed: true, interrupted: false, model: 'm', platform: 'cli' },
  });
  return database;
}

function report(t: TestContext, skill?: string, options: CompatOptions = {}) {
  const reader = ledgerReader(evidence(t), options);
  return buildReport(reader, { dbPath: '/h/evidence.sqlite', days: 7, now: NOW, ...(skill ? { skill } : {}) });
}

describe('the evidence report', () => {
  verifies(['curator:report:read-only', 'curator:report:summary'], 'counts the window and changes nothing', (t) => {
    const { read_only, filters, summary, recommendation_policy: policy, recent_turns } = report(t);
    assert.deepEqual(
      [read_only, policy.v0_1, policy.mutation, policy.next_steps.length],
      [true, 'report_only', 'not_supported', 3],
    );
    assert.deepEqual(filters, { days: 7, skill: null });
    const { skills, tools, ...counts } = summary;
    assert.deepEqual(counts, { tool_events: 5, error_events: 2, skill_events: 5, turn_events: 1, session_events: 1 });
    assert.deepEqual(tools, [
      { tool_name: 'skill_view', event_count: 4, errors: 1 },
      { tool_name: 'terminal', event_count: 1, errors: 1 },
    ]);
    assert.equal(skills.length, 3);
    assert.equal(recent_turns.length, 1);
  });

  verifies('curator:report:skills-order', 'lists skills by events, then by name', (t) => {
    assert.deepEqual(report(t).summary.skills, [
      { skill_name: 'a', event_count: 2, errors: 2 },
      { skill_name: 'c', event_count: 2, errors: 0 },
      { skill_name: 'b', event_count: 1, errors: 0 },
    ]);
    assert.deepEqual(report(t, undefined, { compat: 'upstream' }).summary.skills, [
      { skill_name: 'c', event_count: 2, errors: 0 },
      { skill_name: 'a', event_count: 1, errors: 1 },
      { skill_name: 'b', event_count: 1, errors: 0 },
    ]);
  });

  verifies('curator:report:one-skill', "holds one skill's evidence, newest first", (t) => {
    const { summary, skill_evidence, filters } = report(t, 'c');
    assert.equal(filters.skill, 'c');
    assert.deepEqual([summary.tool_events, summary.turn_events], [2, 1]);
    assert.deepEqual(
      skill_evidence.map(({ created_at }) => created_at),
      ['2026-05-20T10:00:00+00:00', '2026-05-20T00:00:00+00:00'],
    );
    assert.deepEqual(Object.keys(skill_evidence[0] ?? {}).sort(), [
      'args_json',
      'created_at',
      'duration_ms',
      'is_error',
      'result_preview',
      'session_id',
      'skill_name',
      'task_id',
      'tool_name',
    ]);
  });

  verifies('curator:report:formats', 'has the same figures in Markdown', (t) => {
    const text = reportMarkdown(report(t));
    assert.match(
      text,
      /- Tool events: 5\n- Skill-related events: 5\n- Error-like events: 2\n- Turn events: 1\n- Session-end events: 1\n/,
    );
    assert.match(text, /- `a`: 2 event\(s\), 2 error-like\n- `c`: 2/);
    const empty = evidence(t);
    for (const table of COUNTED) empty.exec(`DELETE FROM ${table}`);
    const none = reportMarkdown(buildReport(ledgerReader(empty), { dbPath: 'd', days: 0, now: NOW }));
    assert.match(none, /last 1 day/);
    assert.equal(none.match(/ in this window\./g)?.length, 3);
  });

  test('the days are clamped', (t) => {
    const reader = ledgerReader(evidence(t));
    const question = { dbPath: '/h/evidence.sqlite', days: 9999, now: NOW };
    assert.equal(buildReport(reader, question).filters.days, 3650);
    assert.equal(buildReport(reader, { ...question, longest: 365 }).filters.days, 365);
  });
});
