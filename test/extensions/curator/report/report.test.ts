import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildReport } from '#extensions/curator/report/build-report.ts';
import { reportMarkdown } from '#extensions/curator/report/report-markdown.ts';
import { type EvidenceRows, type LedgerRow, rowsReader } from '#extensions/curator/report/rows-reader.ts';
import { verifies } from '../../../verifies.ts';

const NOW = '2026-05-21T00:00:00+00:00';

function call(fields: Partial<LedgerRow>): LedgerRow {
  return {
    created_at: '2026-05-20T00:00:00+00:00',
    session_id: 's',
    task_id: '',
    tool_name: 'terminal',
    duration_ms: null,
    is_error: 0,
    skill_name: null,
    args_json: '{}',
    result_preview: 'done',
    ...fields,
  };
}

const turn = {
  created_at: '2026-05-20T00:00:00+00:00',
  session_id: 's',
  model: 'm',
  platform: 'cli',
  user_preview: 'do',
  assistant_preview: 'done',
};

const ROWS: EvidenceRows = {
  tools: [
    call({ skill_name: 'b', tool_name: 'skill_view' }),
    call({ skill_name: 'a', tool_name: 'skill_view', is_error: 1 }),
    call({ skill_name: 'c', tool_name: 'skill_view' }),
    call({ skill_name: 'c', tool_name: 'skill_view', created_at: '2026-05-20T10:00:00+00:00' }),
    call({ active_skill: 'a', is_error: 1, is_error_upstream: 0 }),
    call({ skill_name: 'old', created_at: '2026-05-13T23:59:59+00:00' }),
  ],
  turns: [turn, { ...turn, created_at: '2026-05-01T00:00:00+00:00' }],
  sessions: [{ created_at: '2026-05-20T00:00:00+00:00' }],
};

function report(skill?: string, compat?: 'upstream') {
  const reader = rowsReader(ROWS, compat === undefined ? {} : { compat });
  return buildReport(reader, { dbPath: '/h/evidence.sqlite', days: 7, now: NOW, ...(skill ? { skill } : {}) });
}

describe('the evidence report', () => {
  verifies(['curator:report:read-only', 'curator:report:summary'], 'counts the window and changes nothing', () => {
    const { read_only, filters, summary, recommendation_policy: policy, recent_turns } = report();
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

  verifies('curator:report:skills-order', 'lists skills by events, then by name', () => {
    assert.deepEqual(report().summary.skills, [
      { skill_name: 'a', event_count: 2, errors: 2 },
      { skill_name: 'c', event_count: 2, errors: 0 },
      { skill_name: 'b', event_count: 1, errors: 0 },
    ]);
    assert.deepEqual(report(undefined, 'upstream').summary.skills, [
      { skill_name: 'c', event_count: 2, errors: 0 },
      { skill_name: 'a', event_count: 1, errors: 1 },
      { skill_name: 'b', event_count: 1, errors: 0 },
    ]);
  });

  verifies('curator:report:one-skill', "holds one skill's evidence, newest first", () => {
    const { summary, skill_evidence, filters } = report('c');
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

  verifies('curator:report:formats', 'has the same figures in Markdown', () => {
    const text = reportMarkdown(report());
    assert.match(
      text,
      /- Tool events: 5\n- Skill-related events: 5\n- Error-like events: 2\n- Turn events: 1\n- Session-end events: 1\n/,
    );
    assert.match(text, /- `a`: 2 event\(s\), 2 error-like\n- `c`: 2/);
    const empty = rowsReader({ tools: [], turns: [], sessions: [] });
    const none = reportMarkdown(buildReport(empty, { dbPath: 'd', days: 0, now: NOW }));
    assert.match(none, /last 1 day/);
    assert.equal(none.match(/ in this window\./g)?.length, 3);
  });

  test('the order of the rows changes nothing, and the days are clamped', () => {
    const shuffled = { ...ROWS, tools: [...ROWS.tools].reverse() };
    const question = { dbPath: '/h/evidence.sqlite', days: 7, now: NOW };
    assert.deepEqual(buildReport(rowsReader(shuffled), question), buildReport(rowsReader(ROWS), question));
    assert.equal(buildReport(rowsReader(ROWS), { ...question, days: 9999 }).filters.days, 3650);
    assert.equal(buildReport(rowsReader(ROWS), { ...question, days: 9999, longest: 365 }).filters.days, 365);
  });
});
