/** hermes-agent's own database, its session files, and what `import hermes` brought from both: each call counts once. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { SearchLane } from '#mind/sessions/search/search-lane.ts';
import { carryOut, planBringing } from '#mind/sessions/transfer/bring-session.ts';
import { readSessionFile } from '#mind/sessions/transfer/hermes/session-file.ts';
import { openHermesDatabase } from '#mind/sessions/transfer/hermes/state-database.ts';
import { createHermesState, type HermesState } from '../../../surfaces/app/commands/import/hermes-state.ts';
import { verifies } from '../../../verifies.ts';
import { type BackfillStage, called, createBackfillStage, DAY, result, said, user } from './backfill-stage.ts';

const ID = '20250101_101500_aaaaaa';

const TALK = [
  user('dump it'),
  called(['call_1', 'skill_view', { name: 'dumps' }]),
  result('call_1', '{"success": true}'),
  called([undefined, 'terminal', { command: 'pg_dump' }], [undefined, 'terminal', { command: 'ls' }]),
  result(undefined, '{"output":"denied","exit_code":1}'),
  result(undefined, '{"output":"dump.sql","exit_code":0}'),
  said('Dumped.'),
  user('and again'),
  called(['call_1', 'terminal', { command: 'pg_dump' }]),
  result('call_1', '{"error":"gone"}'),
  said('Gone.'),
];

function beside(stage: BackfillStage): string {
  return join(dirname(stage.folder), 'state.db');
}

/** The same conversation in hermes-agent's database; kept open, as by a running program. */
function hermesState(stage: BackfillStage, talk = TALK, id = ID): HermesState {
  const state = createHermesState(beside(stage), { version: 30 });
  addSession(stage, state, { id, talk });
  return state;
}

interface Talk {
  readonly id: string;
  readonly talk: typeof TALK;
}

function addSession(stage: BackfillStage, state: HermesState, { id, talk }: Talk): void {
  const start = (stage.clock.now() - DAY) / 1000;
  state.session({ id, source: 'cli', started_at: start, model: 'm/1' });
  for (const [index, message] of talk.entries()) {
    const { role, content, tool_calls: calls, tool_call_id: call } = message as Record<string, unknown>;
    state.message({
      ...{ session_id: id, role: String(role), content: String(content), timestamp: start + index },
      tool_calls: calls === undefined ? null : JSON.stringify(calls),
      tool_call_id: call === undefined ? null : String(call),
    });
  }
}

function bytesOf(stage: BackfillStage): readonly string[] {
  const folder = dirname(stage.folder);
  const names = readdirSync(folder).filter((name) => name.startsWith('state.db'));
  return names.map((name) => `${name} ${readFileSync(join(folder, name), 'latin1')}`);
}

describe('evidence from hermes-agent’s database', () => {
  verifies(
    'curator:backfill:from-database',
    'it is read from a copy, beside the folder, before the files',
    async (t) => {
      const stage = createBackfillStage(t);
      const state = hermesState(stage);
      t.after(() => state.close());
      stage.file(ID, { model: 'm/1', platform: 'cli', messages: TALK });
      const before = bytesOf(stage);
      const report = await stage.fill();
      assert.deepEqual(bytesOf(stage), before, 'the other database was changed');
      assert.deepEqual(readdirSync(join(stage.sources.places.home, 'cache')), [], 'the copy is gone');
      assert.deepEqual(
        report.sources.map((one) => [
          one.source,
          one.sessions_seen,
          one.tool_events_imported,
          one.turn_events_imported,
        ]),
        [
          ['talaria', 0, 0, 0],
          ['hermes-database', 1, 4, 2],
          ['session-files', 1, 0, 0],
        ],
      );
      assert.partialDeepStrictEqual(report, { sessions_seen: 1, sessions_imported: 1, tool_events_imported: 4 });
      assert.deepEqual(
        stage.rows('tool_events').map((row) => [row.tool_name, row.skill_name, row.active_skill, row.is_error]),
        [
          ['skill_view', 'dumps', 'dumps', 0],
          ['terminal', null, 'dumps', 1],
          ['terminal', null, 'dumps', 0],
          ['terminal', null, null, 1],
        ],
      );
      assert.equal(new Set(stage.rows('tool_events').map((row) => row.created_at)).size, 4, 'each at its own time');
    },
  );

  for (const from of ['database', 'file'] as const) {
    test(`what was imported from its ${from} and the originals count once`, async (t) => {
      const stage = createBackfillStage(t);
      const state = hermesState(stage);
      const path = stage.file(ID, { model: 'm/1', platform: 'cli', messages: TALK });
      state.close();
      const opened = openHermesDatabase(beside(stage));
      assert.ok(opened.ok);
      const read = readSessionFile(path);
      assert.ok(read.ok);
      const { session, messages } = from === 'database' ? opened.value.session(ID) : read.value;
      opened.value.close();
      const { database } = stage.store;
      const lanes = { spoken: new SearchLane(database, 'spoken'), tool: new SearchLane(database, 'tool') };
      await carryOut(database, lanes, planBringing(database, session, messages));
      const report = await stage.fill();
      assert.deepEqual(
        report.sources.map((one) => [one.source, one.tool_events_imported, one.turn_events_imported]),
        [
          ['talaria', 4, 2],
          ['hermes-database', 0, 0],
          ['session-files', 0, 0],
        ],
      );
      assert.equal(report.session_events_imported, 1);
    });
  }

  test('taken back there does not count, compressed does, its summary is no turn', async (t) => {
    const stage = createBackfillStage(t);
    const state = hermesState(stage);
    state.database.exec(`UPDATE messages SET active = 0, compacted = 1 WHERE id <= 7;
      UPDATE messages SET active = 0, compacted = 0 WHERE id > 7`);
    const start = (stage.clock.now() - DAY) / 1000;
    const rest = { session_id: ID, timestamp: start + 60 };
    state.message({ ...rest, role: 'user', content: 'Summary: dumped.', _compressed_summary: 1 });
    state.message({ ...rest, role: 'user', content: 'thanks' });
    state.message({ ...rest, role: 'assistant', content: 'You are welcome.' });
    state.close();
    assert.partialDeepStrictEqual(await stage.fill(), { tool_events_imported: 3, turn_events_imported: 2 });
    assert.deepEqual(
      stage.rows('turn_events').map((row) => row.user_preview),
      ['dump it', 'thanks'],
    );
  });

  test('rows of nonsense cost their own session only', async (t) => {
    const stage = createBackfillStage(t);
    const state = hermesState(stage);
    state.database.exec('PRAGMA foreign_keys = OFF');
    const nested = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
    addSession(stage, state, { id: 'deep', talk: [user('x'), said('y')] });
    state.database
      .prepare("UPDATE messages SET tool_calls = ? WHERE session_id = 'deep' AND role = 'assistant'")
      .run(`[{"id":"x","function":{"name":"t","arguments":${nested}}}]`);
    addSession(stage, state, { id: 'odd', talk: TALK });
    state.database.exec(`UPDATE messages SET timestamp = 'soon', tool_name = 7 WHERE session_id = 'odd';
      UPDATE sessions SET started_at = 'soon', model = 5, source = x'ff' WHERE id = 'odd'`);
    state.database.exec("INSERT INTO sessions(id, source, started_at) VALUES(NULL, 'cli', 9e9)");
    state.close();
    const report = await stage.fill({ days: 3650 });
    assert.equal(report.files_failed, 2, report.notes.join('\n'));
    assert.equal(report.sessions_imported, 2, report.notes.join('\n'));
  });

  test('a file that is none of hermes-agent’s is named only when it was asked for', async (t) => {
    const stage = createBackfillStage(t);
    stage.store.database.copyTo(beside(stage));
    assert.deepEqual((await stage.fill()).notes, []);
    const asked = await stage.fill({ hermesState: beside(stage) });
    assert.match(asked.notes.join('\n'), /holds no sessions of hermes-agent/);
    assert.match((await stage.fill({ hermesState: join(stage.folder, 'none') })).notes.join('\n'), /there is no file/);
    writeFileSync(beside(stage), 'no database at all, but text that is long enough'.repeat(100));
    const broken = await stage.fill();
    assert.match(broken.notes.join('\n'), /state\.db cannot be read/);
    assert.ok(!broken.notes.join('\n').includes('cache'), 'the copy is nobody’s business');
    assert.equal(existsSync(`${beside(stage)}.suspect`), false);
    assert.deepEqual(readdirSync(join(stage.sources.places.home, 'cache')), []);
  });
});
