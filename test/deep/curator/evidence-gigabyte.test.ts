/** A gigabyte of evidence: reports, the status and the tool's question are answered without having it in memory. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { buildReport, ledgerReader } from '#extensions/curator/report.ts';
import { insertToolEvent } from '#mind/evidence/ledger/event-rows.ts';
import { ledgerSchema } from '#mind/evidence/ledger/evidence-ledger.ts';
import { createTempHome } from '#testing/temp-home.ts';

const NOW = Date.parse('2026-05-21T00:00:00Z');
const ROWS = 280_000;
const BATCH = 14_000;

describe('a gigabyte of evidence', () => {
  test('is reported from in seconds, in less than 200 MiB', async (t) => {
    const path = join(createTempHome(t).path, 'evidence.sqlite');
    const { database } = openDatabase(path, { rooms: [ledgerSchema] });
    t.after(() => database.close());
    const [args, preview] = [`{"preview":"${'a'.repeat(999)}…"}`, 'ö'.repeat(499)];
    for (let from = 0; from < ROWS; from += BATCH) {
      await database.lightTransaction(() => {
        for (let at = from; at < from + BATCH; at += 1) {
          insertToolEvent(database, {
            ...{
              key: `k${at}`,
              at: NOW - (ROWS - at) * 1000,
              sessionId: `s${at >> 5}`,
              taskId: `t${at}`,
              tool: 'terminal',
            },
            // Every row its own skill: the worst that a list of skills can meet.
            ...{ ms: 1, isError: at % 9 === 0, isErrorUpstream: true, skill: null, activeSkill: `skill ${at}` },
            ...{ argsJson: args, resultPreview: preview },
          });
        }
      });
    }
    assert.ok(statSync(path).size > 2 ** 30, `${statSync(path).size} bytes`);
    const reader = ledgerReader(database);
    const before = process.memoryUsage.rss();
    const began = performance.now();
    const whole = buildReport(reader, { dbPath: path, days: 3650, now: NOW });
    const one = buildReport(reader, { dbPath: path, days: 3650, skill: 'skill 77', now: NOW });
    const ms = performance.now() - began;
    const mib = (process.memoryUsage.rss() - before) / 2 ** 20;
    assert.deepEqual([whole.summary.tool_events, whole.summary.skills.length], [ROWS, 20]);
    assert.deepEqual([one.summary.tool_events, one.skill_evidence.length], [1, 1]);
    assert.ok(mib < 200 && ms < 20_000, `${Math.round(mib)} MiB, ${Math.round(ms)} ms`);
    t.diagnostic(`${Math.round(mib)} MiB, ${Math.round(ms)} ms`);
  });
});
