import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { buildReport } from '#extensions/curator/report/build-report.ts';
import { ledgerReader } from '#extensions/curator/report/ledger-reader.ts';
import { eventTime, insertSessionEvent, insertToolEvent, insertTurnEvent } from '#mind/evidence/ledger/event-rows.ts';
import { ledgerSchema } from '#mind/evidence/ledger/ledger-schema.ts';
import type { Teardown } from '#testing/teardown.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

const NOW = Date.parse('2026-05-21T00:00:00Z');
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
    write(database, [at(NOW - 7 * DAY), at(NOW - 7 * DAY - 1000), at(NOW), at(NOW + 300 * DAY)]);
    for (const time of [NOW - 8 * DAY, NOW]) {
      insertTurnEvent(database, {
        ...{ key: `turn ${time}`, at: time, sessionId: 's', model: 'm', platform: 'cli' },
        ...{ userPreview: 'do', assistantPreview: 'done' },
      });
      insertSessionEvent(database, {
        ...{ key: `end ${time}`, at: time, sessionId: 's', completed: true, interrupted: false },
        ...{ model: 'm', platform: 'cli' },
      });
    }
    const report = buildReport(ledgerReader(database), { dbPath: 'db', days: 7, now: NOW });
    const { tool_events, turn_events, session_events } = report.summary;
    assert.deepEqual([tool_events, turn_events, session_events, report.recent_turns.length], [3, 1, 1, 1]);
    const back = buildReport(ledgerReader(database), { dbPath: 'db', days: 1, now: NOW - 400 * DAY });
    assert.equal(back.summary.tool_events, 4, 'rows of a clock that went back are in the window');
  });

  test('rows of one second come newest first, whatever the number, and the lists are bounded', (t) => {
    const database = open(t);
    write(
      database,
      Array.from({ length: 50 }, (_, at) => ({
        ...{
          at: NOW,
          tool: `tool ${at}`,
          skill: `skill ${at}`,
          active: null,
          isError: at % 2 === 0,
          upstreamError: false,
        },
      })),
    );
    const report = buildReport(ledgerReader(database), { dbPath: 'db', days: 1, now: NOW });
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
    const call = { at: NOW, skill: 'a', active: null, isError: false, upstreamError: false };
    write(database, [
      { ...call, tool: 'x' },
      { ...call, tool: 'x', isError: true },
      { ...call, tool: 'x', skill: null },
      { ...call, tool: 'y' },
      { ...call, tool: 'x', isError: true, skill: 'b' },
      { ...call, tool: 'x', isError: true, skill: null, active: 'a' },
    ]);
    const rows = ledgerReader(database).failures({ since: eventTime(NOW - DAY), skill: 'a' });
    assert.deepEqual(
      rows.map(({ result_preview: preview }) => Number(preview.slice(1)) - written),
      [0, -4, -3],
    );
    assert.doesNotMatch(JSON.stringify(rows), /"id"|order/);
    assert.deepEqual(ledgerReader(database).failures({ since: eventTime(NOW - DAY), skill: 'c' }), []);
  });
});
