import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { type MeasureQuestion, measurementRows, measureSkill } from '#extensions/curator/measure-skill.ts';
import { buildReport, ledgerReader, reportMarkdown } from '#extensions/curator/report.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-value.ts';
import {
  eventTime,
  insertSessionEvent,
  insertToolEvent,
  insertTurnEvent,
  type ToolEvent,
} from '#mind/evidence/ledger/event-rows.ts';
import { ledgerSchema } from '#mind/evidence/ledger/evidence-ledger.ts';
import { NO_TURN_COST, type TurnCost } from '#mind/sessions/span-rows.ts';
import type { SkillVersion } from '#mind/skills/skill.ts';
import { createTempHome, type Teardown } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';

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

const LEDGER_READER_NOW = Date.parse('2026-05-21T00:00:00Z');
const DAY = 86_400_000;

interface Call {
  readonly at: number;
  readonly tool: string;
  readonly skill: string | null;
  readonly active: string | null;
  readonly isError: boolean;
  readonly upstreamError: boolean;
}

function open(context: Teardown): Database {
  const path = join(createTempHome(context).path, 'evidence.sqlite');
  const { database } = openDatabase(path, { rooms: [ledgerSchema] });
  context.after(() => database.close());
  return database;
}

let written = 0;

function write(database: Database, calls: readonly Call[]): void {
  for (const { at, tool, skill, active, isError, upstreamError } of calls) {
    written += 1;
    insertToolEvent(database, {
      ...{ key: `k${written}`, at, sessionId: 's', taskId: `t${written}`, tool, ms: 3, isError, skill },
      ...{ isErrorUpstream: upstreamError, activeSkill: active, argsJson: '{}', resultPreview: `p${written}` },
    });
  }
}

describe('the report from the ledger', () => {
  verifies('curator:store:window', 'counts from now and takes whole rows by their time', (t) => {
    const database = open(t);
    const at = (time: number) => ({
      at: time,
      tool: 'x',
      skill: 'a',
      active: null,
      isError: false,
      upstreamError: false,
    });
    write(database, [
      at(LEDGER_READER_NOW - 7 * DAY),
      at(LEDGER_READER_NOW - 7 * DAY - 1000),
      at(LEDGER_READER_NOW),
      at(LEDGER_READER_NOW + 300 * DAY),
    ]);
    for (const time of [LEDGER_READER_NOW - 8 * DAY, LEDGER_READER_NOW]) {
      insertTurnEvent(database, {
        ...{ key: `turn ${time}`, at: time, sessionId: 's', model: 'm', platform: 'cli' },
        ...{ userPreview: 'do', assistantPreview: 'done' },
      });
      insertSessionEvent(database, {
        ...{ key: `end ${time}`, at: time, sessionId: 's', completed: true, interrupted: false },
        ...{ model: 'm', platform: 'cli' },
      });
    }
    const report = buildReport(ledgerReader(database), { dbPath: 'db', days: 7, now: LEDGER_READER_NOW });
    const { tool_events, turn_events, session_events } = report.summary;
    assert.deepEqual([tool_events, turn_events, session_events, report.recent_turns.length], [3, 1, 1, 1]);
    const back = buildReport(ledgerReader(database), { dbPath: 'db', days: 1, now: LEDGER_READER_NOW - 400 * DAY });
    assert.equal(back.summary.tool_events, 4, 'rows of a clock that went back are in the window');
  });

  test('rows of one second come newest first, whatever the number, and the lists are bounded', (t) => {
    const database = open(t);
    write(
      database,
      Array.from({ length: 50 }, (_, at) => ({
        ...{
          at: LEDGER_READER_NOW,
          tool: `tool ${at}`,
          skill: `skill ${at}`,
          active: null,
          isError: at % 2 === 0,
          upstreamError: false,
        },
      })),
    );
    const report = buildReport(ledgerReader(database), { dbPath: 'db', days: 1, now: LEDGER_READER_NOW });
    const last = database.all<{ task_id: string }>('SELECT task_id FROM tool_events ORDER BY id DESC LIMIT 20');
    assert.deepEqual(
      report.skill_evidence.map(({ task_id }) => task_id),
      last.map(({ task_id }) => task_id),
    );
    assert.deepEqual([report.summary.skills.length, report.summary.tools.length], [20, 20]);
    const all = ledgerReader(database).summary({ since: '', skill: null }, 1000);
    assert.equal(all.skills.length, 50);
  });

  test('what failed comes with what went well afterwards in its sessions, newest failure first', (t) => {
    const database = open(t);
    const call = { at: LEDGER_READER_NOW, skill: 'a', active: null, isError: false, upstreamError: false };
    write(database, [
      { ...call, tool: 'x' },
      { ...call, tool: 'x', isError: true },
      { ...call, tool: 'x', skill: null },
      { ...call, tool: 'y' },
      { ...call, tool: 'x', isError: true, skill: 'b' },
      { ...call, tool: 'x', isError: true, skill: null, active: 'a' },
    ]);
    const rows = ledgerReader(database).failures({ since: eventTime(LEDGER_READER_NOW - DAY), skill: 'a' });
    assert.deepEqual(
      rows.map(({ result_preview: preview }) => Number(preview.slice(1)) - written),
      [0, -4, -3],
    );
    assert.doesNotMatch(JSON.stringify(rows), /"id"|order/);
    assert.deepEqual(ledgerReader(database).failures({ since: eventTime(LEDGER_READER_NOW - DAY), skill: 'c' }), []);
  });
});

function version(number: number, fields: Partial<SkillVersion> = {}): SkillVersion {
  return {
    ...{ skill: 's', version: number, parent: number - 1, actor: 'curator', action: 'edit', originalHash: 'a' },
    ...{ newHash: 'b', manifestPath: '/m', proposalId: `p${number}`, at: Date.parse('2026-05-01T10:00:00Z') },
    ...fields,
  };
}

function asked(
  counts: readonly (readonly [worked: number, failed: number])[],
  costs: readonly (readonly [number, TurnCost])[] = [],
): MeasureQuestion {
  return {
    skill: 's',
    versions: counts.slice(1).map((_, at) => version(at + 1)),
    uses: counts.map(([successes, failures], at) => ({ version: at, successes, failures })),
    costs: new Map(costs),
  };
}

const verdicts = (question: MeasureQuestion) => measureSkill(question).versions.map(({ verdict }) => verdict.verdict);

describe('measuring the edits of a skill', () => {
  test('a verdict needs five uses on both sides', () => {
    assert.deepEqual(
      verdicts(
        asked([
          [9, 1],
          [0, 4],
          [0, 9],
        ]),
      ),
      ['first', 'not-enough-uses', 'not-enough-uses'],
    );
    assert.deepEqual(
      verdicts(
        asked([
          [9, 1],
          [0, 5],
          [9, 0],
        ]),
      ),
      ['first', 'worse', 'better'],
    );
    assert.deepEqual(
      verdicts(
        asked([
          [4, 1],
          [4, 2],
        ]),
      ),
      ['first', 'no-clear-difference'],
    );
  });

  test('every version has its row, used or not, written or not', () => {
    const undone = version(2, { rolledBackAt: Date.parse('2026-05-02T10:00:00Z') });
    const question = { ...asked([[2, 0]]), versions: [version(1), undone] };
    const { versions } = measureSkill(question);
    assert.deepEqual(
      versions.map((row) => [row.version, row.actor, row.uses, row.success_rate, row.rolled_back_at]),
      [
        [0, null, 2, 1, null],
        [1, 'curator', 0, null, null],
        [2, 'curator', 0, null, '2026-05-02T10:00:00.000Z'],
      ],
    );
    const created = measureSkill({ ...asked([]), versions: [{ ...version(1), parent: undefined } as never] });
    assert.deepEqual(
      created.versions.map(({ verdict }) => verdict.verdict),
      ['first'],
    );
  });

  test('what is not known is not shown as a sum', () => {
    const cost = (fields: Partial<TurnCost>): TurnCost => ({ ...NO_TURN_COST, ...fields });
    const question = asked(
      [
        [2, 0],
        [2, 0],
        [2, 0],
        [2, 0],
      ],
      [
        [0, cost({ turns: 2, calls: 4, tokens: 300, cost: 0.5 })],
        [1, cost({ turns: 2, calls: 4, tokens: 300, unpriced: 4 })],
        [2, cost({ turns: 2, calls: 4, tokens: 301, cost: 0.001, unpriced: 1 })],
      ],
    );
    const measured = measureSkill(question);
    assert.deepEqual(
      measured.versions.map(({ cost: { usd_per_use, tokens_per_use, unpriced_calls } }) => [
        usd_per_use,
        tokens_per_use,
        unpriced_calls,
      ]),
      [
        [0.25, 150, 0],
        [null, 150, 4],
        [0.0005, 150.5, 1],
        [null, null, 0],
      ],
    );
    assert.deepEqual(
      measurementRows(measured).map((row) => [row[8], row[9], row[10]]),
      [
        ['0.2500', '150', '-'],
        ['unknown', '150', 'not enough uses (2 of 5)'],
        ['0.000500 + unknown', '151', 'not enough uses (2 of 5)'],
        ['-', '-', 'not enough uses (2 of 5)'],
      ],
    );
  });

  test('any counts give figures that add up', () => {
    const count = fc.tuple(fc.nat(60), fc.nat(60));
    fc.assert(
      fc.property(fc.array(count, { minLength: 1, maxLength: 6 }), (counts) => {
        for (const [at, row] of measureSkill(asked(counts)).versions.entries()) {
          assert.equal(row.uses, row.worked + row.failed);
          const { verdict, probability_worse: worse } = row.verdict;
          assert.equal(worse === null, verdict === 'first' || verdict === 'not-enough-uses');
          const small =
            at === 0 || [counts[at - 1], counts[at]].some((side) => (side?.[0] ?? 0) + (side?.[1] ?? 0) < 5);
          assert.equal(worse === null, small);
          assert.ok(worse === null || (worse >= 0 && worse <= 1));
        }
      }),
    );
  });
});
