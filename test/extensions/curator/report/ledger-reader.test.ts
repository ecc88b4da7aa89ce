import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { buildManagedBlock } from '#extensions/curator/block/managed-block.ts';
import { referenceFile } from '#extensions/curator/block/reference-file.ts';
import { buildReport } from '#extensions/curator/report/build-report.ts';
import type { EvidenceReport } from '#extensions/curator/report/evidence.ts';
import { ledgerReader } from '#extensions/curator/report/ledger-reader.ts';
import { type LedgerRow, rowsReader } from '#extensions/curator/report/rows-reader.ts';
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

function rowOf(call: Call): LedgerRow {
  return {
    ...{ created_at: eventTime(call.at), session_id: 's', task_id: 't', tool_name: call.tool, duration_ms: 3 },
    ...{ is_error: Number(call.isError), skill_name: call.skill, args_json: '{}', result_preview: 'p' },
    ...{ active_skill: call.active, is_error_upstream: Number(call.upstreamError) },
  };
}

/** What must agree; which of two rows of one second comes first is the ledger's own order. */
function figures({ summary, skill_evidence }: EvidenceReport) {
  return { summary, times: skill_evidence.map((row) => row.created_at) };
}

const name = fc.constantFrom('a', 'b', 'ä', '😀', 'ﬀ');
const call = fc.record({
  at: fc.integer({ min: NOW - 10 * DAY, max: NOW + 2 * DAY }),
  tool: name,
  skill: fc.option(name),
  active: fc.option(name),
  isError: fc.boolean(),
  upstreamError: fc.boolean(),
});

describe('the report from the ledger', () => {
  verifies('curator:report:summary', 'has the figures of the same rows in memory, ours and the original’s', (t) => {
    const database = open(t);
    fc.assert(
      fc.property(
        fc.array(call, { maxLength: 60 }),
        fc.option(name),
        fc.integer({ min: 1, max: 12 }),
        (calls, skill, days) => {
          database.exec('DELETE FROM tool_events');
          write(database, calls);
          const question = { dbPath: 'db', days, skill, now: NOW };
          for (const options of [{}, { compat: 'upstream' }] as const) {
            const rows = rowsReader({ tools: calls.map(rowOf), turns: [], sessions: [] }, options);
            const ours = buildReport(ledgerReader(database, options), question);
            assert.deepEqual(figures(ours), figures(buildReport(rows, question)));
          }
        },
      ),
      { numRuns: 40 },
    );
  });

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

  test('rows of one second keep the ledger’s order in the block and in the file beside it', (t) => {
    const database = open(t);
    const tools = ['m', 'z', 'b', 'a', 'y', 'c', 'x', 'k'];
    const call = { at: NOW, skill: 'a', active: null, isError: false, upstreamError: false };
    const first = written + 1;
    write(
      database,
      tools.map((tool) => ({ ...call, tool })),
    );
    const rows = ledgerReader(database).evidence({ since: eventTime(NOW - DAY), skill: 'a' }, 20);
    const newest = tools.map((_, at) => `p${first + at}`).reverse();
    const shown = (text: string) => [...text.matchAll(/\bp\d+/g)].map(([preview]) => preview);
    const request = { skill: 'a', now: NOW, summary: {}, rows: rows.toReversed() };
    const block = shown(buildManagedBlock(request));
    assert.ok(block.length > 1);
    assert.deepEqual(block, newest.slice(0, block.length));
    assert.deepEqual(shown(referenceFile(request).text), newest);
    assert.doesNotMatch(JSON.stringify(rows), /"id"|order/);
  });
});
