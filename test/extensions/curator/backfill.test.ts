/** hermes-agent's own database, its session files, and what `import hermes` brought from both: each call counts once. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { backfillSessions } from '#extensions/curator/backfill/backfill-sessions.ts';
import { type BackfillSources, ensureEvidence } from '#extensions/curator/backfill/ensure-evidence.ts';
import { createEvidenceLedger } from '#mind/evidence/ledger/evidence-ledger.ts';
import { SearchLane } from '#mind/sessions/search/search-lane.ts';
import { carryOut, planBringing } from '#mind/sessions/transfer/bring-session.ts';
import { readSessionFile } from '#mind/sessions/transfer/session-file.ts';
import { openHermesDatabase } from '#mind/sessions/transfer/state-database.ts';
import type { Approver } from '#public/talaria.ts';
import type { App } from '#surfaces/app/app.ts';
import { createScriptedModel, type ScriptedCall, type ScriptedStep } from '#testing/scripted-model.ts';
import { assistant, call, owner } from '../../mind/evidence/conversation.ts';
import { slow } from '../../slow.ts';
import { createStage, openConversation, play, runCommand, type Stage } from '../../surfaces/app/app-fixture.ts';
import { createHermesState, type HermesState } from '../../surfaces/app/commands/import/hermes-home.ts';
import { verifies } from '../../verifies.ts';
import {
  type BackfillStage,
  called,
  createBackfillStage,
  DAY,
  type Row,
  result,
  said,
  tell,
  user,
} from './backfill-stage.ts';

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

// Sessions of a real, composed agent: what the hooks recorded and what is filled in from state.db is the same, and counts once.

const SKILL = '---\nname: deploy\ndescription: Put the site online.\n---\n\n# Deploy\n\nRun the script, then look.\n';
const saysYes: Approver = { approve: async () => ({ decision: 'once' }) };
const run = (command: string, callId?: string): ScriptedCall => ({
  name: 'terminal',
  arguments: { command },
  ...(callId === undefined ? {} : { callId }),
});

const TURNS: readonly { readonly text: string; readonly steps: readonly ScriptedStep[] }[] = [
  {
    text: 'put it online',
    steps: [
      { calls: [run('echo before', 'one'), { name: 'skill_view', arguments: { name: 'missing' } }] },
      { calls: [{ name: 'skill_view', arguments: { name: 'deploy' } }], text: 'I look at the skill.' },
      { calls: [run('echo up', 'one'), run('exit 3'), { name: 'terminal', malformed: '{broken' }] },
      { calls: [{ name: 'no_such_tool', arguments: { a: 1 } }] },
      'It is online.',
    ],
  },
  { text: 'and now?', steps: [{ calls: [run('echo later', 'one')] }, 'Still.'] },
];

function stageWithSkill(t: TestContext): Stage {
  const stage = createStage(t);
  stage.temp.write('home/skills/deploy/SKILL.md', SKILL);
  return stage;
}

async function played(t: TestContext, stage: Stage, steps: readonly ScriptedStep[]): Promise<App> {
  return stage.open({ extra: { client: createScriptedModel(steps, { context: t }) } });
}

const allSteps = TURNS.flatMap(({ steps }) => steps);

function sourcesOf(app: App): BackfillSources {
  const { home } = app;
  const places = { ...home, home: home.root, userHome: join(home.root, 'nobody'), lease: home.unattendedLease };
  return { mind: { state: app.doors.sessions.database, evidence: app.doors.evidence }, places, clock: systemClock };
}

const fill = (app: App) => backfillSessions(sourcesOf(app), { days: 30 }, new AbortController().signal);

/** Without what tells one writing from another. */
function rowsOf(app: App): readonly (readonly Row[])[] {
  return ['tool_events', 'turn_events', 'session_events'].map((table) =>
    app.doors
      .evidence()
      .all<Row>(`SELECT * FROM ${table} ORDER BY id`)
      .map(({ id: _, created_at: __, ...row }) => row),
  );
}

function forgetLedger(stage: Stage): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(stage.root, `evidence.sqlite${suffix}`), { force: true });
}

describe('live and filled-in evidence of our own sessions', () => {
  test('filling in adds nothing to what the hooks recorded, and gives the same rows when that is lost', async (t) => {
    const stage = stageWithSkill(t);
    const app = await played(t, stage, allSteps);
    const conversation = await openConversation(app, { approver: saysYes });
    for (const { text } of TURNS) await play(conversation, text);
    await conversation.close();
    const live = rowsOf(app);
    assert.deepEqual(
      live.map((rows) => rows.length),
      [8, 2, 1],
    );
    const report = await fill(app);
    assert.partialDeepStrictEqual(report, {
      ...{ sessions_seen: 1, tool_events_imported: 0, turn_events_imported: 0, session_events_imported: 0 },
    });
    await app.shutdown();
    forgetLedger(stage);
    const later = await stage.open({ model: 'reflex' });
    assert.partialDeepStrictEqual(await fill(later), { tool_events_imported: 8, turn_events_imported: 2 });
    assert.deepEqual(rowsOf(later), live);
  });

  test('the turn that runs while a session is open is left to the hooks', async (t) => {
    const stage = stageWithSkill(t);
    const app = await played(t, stage, allSteps);
    const conversation = await openConversation(app, { approver: saysYes });
    for (const { text } of TURNS) await play(conversation, text);
    app.doors.evidence().exec('DELETE FROM tool_events; DELETE FROM turn_events');
    assert.partialDeepStrictEqual(await fill(app), { tool_events_imported: 7, turn_events_imported: 1 });
    await conversation.close();
    assert.partialDeepStrictEqual(await fill(app), { tool_events_imported: 1, turn_events_imported: 1 });
  });

  test('taken back, forked, forgotten: nothing is counted again', async (t) => {
    const stage = stageWithSkill(t);
    const app = await played(t, stage, [...allSteps, { calls: [run('echo fork')] }, 'Forked.', 'Again.']);
    const conversation = await openConversation(app, { approver: saysYes });
    for (const { text } of TURNS) await play(conversation, text);
    await conversation.close();
    const { id } = conversation.session;
    const child = await app.doors.sessions.fork(id);
    const forked = await openConversation(app, { approver: saysYes, resume: child.id });
    await play(forked, 'once more');
    await forked.close();
    assert.partialDeepStrictEqual(await fill(app), { tool_events_imported: 0, turn_events_imported: 0 });
    const [first] = await app.doors.sessions.messages(id);
    app.doors.sessions.database.exec('PRAGMA foreign_keys = OFF');
    app.doors.sessions.database.run('DELETE FROM messages WHERE id = ?', first?.id ?? 0);
    app.doors.sessions.database.exec('PRAGMA foreign_keys = ON');
    assert.partialDeepStrictEqual(await fill(app), { tool_events_imported: 0, turn_events_imported: 0 });
    const started = (await app.doors.sessions.messages(id)).find(({ message }) => message.role === 'user');
    await app.doors.sessions.rewind(id, started?.id ?? 0);
    const resumed = await openConversation(app, { approver: saysYes, resume: id });
    await play(resumed, 'and now, again?');
    await resumed.close();
    assert.partialDeepStrictEqual(await fill(app), { tool_events_imported: 0 });
  });

  slow('the command prints counts, the original’s JSON, and fails for a folder that is not there', async (t) => {
    const stage = stageWithSkill(t);
    const app = await played(t, stage, allSteps);
    const conversation = await openConversation(app, { approver: saysYes });
    for (const { text } of TURNS) await play(conversation, text);
    await conversation.close();
    await app.shutdown();
    forgetLedger(stage);
    const { text, failure } = await runCommand(stage, 'curator backfill-sessions');
    assert.equal(failure, undefined);
    assert.match(text, /own sessions: 1 session, 1 with something new\n/);
    assert.match(text, /added: 8 tool calls, 2 turns, 1 session end/);
    const missing = await runCommand(stage, 'curator backfill-sessions', {
      ...{ sessionsDir: '~/nowhere', days: '7', limit: '3', format: 'json' },
    });
    assert.partialDeepStrictEqual(missing.failure, { exitCode: 1, code: 'sessions-missing' });
    const [line] = missing.outputs;
    const printed: Record<string, unknown> = JSON.parse(line?.type === 'line' ? line.text : '');
    assert.deepEqual(Object.keys(printed), Object.keys(printed).sort());
    assert.partialDeepStrictEqual(printed, {
      ...{ sessions_dir: join(stage.temp.path, 'nowhere'), db_path: join(stage.root, 'evidence.sqlite') },
      ...{ days: 7, limit: 3, missing: true, tool_events_imported: 0 },
    });
    const own = await runCommand(stage, 'curator backfill-sessions', { hermesState: join(stage.root, 'state.db') });
    assert.match(own.text, /is Talaria's own, which is always read/);
    assert.equal(own.failure?.code, 'hermes-state-unread');
  });
});

// A ledger that was lost is filled in again by whoever reads it next, from really damaged files.

const CALLS = 150;

async function filledStage(t: Parameters<typeof createBackfillStage>[0]): Promise<BackfillStage> {
  const stage = createBackfillStage(t);
  const calls = Array.from({ length: CALLS }, (_, n) =>
    call('terminal', { command: `step ${n} ${'x'.repeat(300)}` }, `done ${n} ${'y'.repeat(300)}`, { callId: `c${n}` }),
  );
  await tell(stage, 'own', [owner('go'), ...calls.flat(), assistant('done')], 100 * DAY);
  assert.match((await ensure(stage)) ?? '', /1 stored session: 150 tool calls, 1 turn, 1 session end/);
  return stage;
}

const ensure = ({ sources }: BackfillStage, evidence = sources.mind.evidence) =>
  ensureEvidence({ ...sources, mind: { ...sources.mind, evidence } }, new AbortController().signal);

function damage(path: string, how: string): void {
  const bytes = readFileSync(path);
  if (how === 'garbage') writeFileSync(path, 'this is no database, it is text that goes on'.repeat(500));
  if (how === 'truncated') truncateSync(path, Math.floor(bytes.length / 2));
  if (how === 'cut to nothing') truncateSync(path, 0);
  if (how === 'broken pages') writeFileSync(path, bytes.fill(0x5a, 4096 * 3));
  if (how === 'a broken table page') writeFileSync(path, bytes.fill(0xff, 4096, 8192));
  if (how === 'gone') rmSync(path);
}

describe('a lost ledger', () => {
  for (const how of ['garbage', 'truncated', 'cut to nothing', 'broken pages', 'a broken table page', 'gone']) {
    verifies('curator:store:quarantine', `${how}: put aside, filled in again, and said`, async (t) => {
      const stage = await filledStage(t);
      const path = stage.sources.places.evidenceDatabase;
      await stage.ledger.close();
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
      damage(path, how);
      const ledger = createEvidenceLedger({ path, clock: stage.clock });
      t.after(() => ledger.close());
      const evidence = () => ledger.database;
      const told = (await ensure(stage, evidence)) ?? '';
      assert.match(told, /150 tool calls, 1 turn/);
      const { n } = ledger.database.get<{ n: number }>('SELECT count(*) AS n FROM tool_events') ?? { n: 0 };
      assert.equal(n, CALLS);
      const kept = readdirSync(dirname(path)).filter((name) => name.startsWith('evidence.sqlite.corrupt'));
      assert.equal(kept.length > 0, !['cut to nothing', 'gone'].includes(how), kept.join());
      const aside =
        /evidence\.sqlite was damaged and is kept as \S+\/(evidence\.sqlite\.corrupt-[\d-]+\w+); .*review queue/.exec(
          told,
        );
      assert.equal(
        aside?.[1],
        kept.find((name) => !/-(?:wal|shm)$/.test(name)),
        told,
      );
      assert.equal(await ensure(stage, evidence), undefined, 'once');
    });
  }

  test('damage that is met while the file is open is healed in the same process', async (t) => {
    const stage = await filledStage(t);
    const path = stage.sources.places.evidenceDatabase;
    stage.ledger.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    stage.ledger.database.exec('PRAGMA shrink_memory');
    damage(path, 'broken pages');
    assert.match((await ensure(stage)) ?? '', /150 tool calls/);
    assert.equal(stage.rows('tool_events').length, CALLS);
  });

  test('nothing stored, or emptied on purpose: nothing is filled in', async (t) => {
    const bare = createBackfillStage(t);
    assert.equal(await ensure(bare), undefined);
    const stage = await filledStage(t);
    stage.ledger.database.exec('DELETE FROM tool_events; DELETE FROM turn_events; DELETE FROM session_events');
    assert.equal(await ensure(stage), undefined);
    assert.equal(stage.rows('tool_events').length, 0);
  });

  test('a ledger of a newer version is left alone', async (t) => {
    const stage = await filledStage(t);
    stage.ledger.database.exec('UPDATE schema_versions SET version = 99; PRAGMA user_version = 0');
    await stage.ledger.close();
    const ledger = createEvidenceLedger({ path: stage.sources.places.evidenceDatabase, clock: stage.clock });
    t.after(() => ledger.close());
    assert.equal(await ensure(stage, () => ledger.database), undefined);
  });

  test('filling in says that a newer ledger takes nothing', async (t) => {
    const stage = createBackfillStage(t);
    stage.ledger.database.exec('UPDATE schema_versions SET version = 99');
    await stage.ledger.close();
    const ledger = createEvidenceLedger({ path: stage.sources.places.evidenceDatabase, clock: stage.clock });
    t.after(() => ledger.close());
    const sources = { ...stage.sources, mind: { ...stage.sources.mind, evidence: () => ledger.database } };
    await assert.rejects(backfillSessions(sources, { days: 3 }, new AbortController().signal), {
      code: 'newer-schema',
    });
  });
});
