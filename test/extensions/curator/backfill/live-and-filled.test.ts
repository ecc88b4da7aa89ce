/** Sessions of a real, composed agent: what the hooks recorded and what is filled in from state.db is the same, and counts once. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { Approver } from '#core/agent/approver.ts';
import { type BackfillSources, backfillSessions } from '#extensions/curator/backfill/backfill-sessions.ts';
import type { App } from '#surfaces/app/app.ts';
import { createScriptedModel, type ScriptedCall, type ScriptedStep } from '#testing/scripted-model.ts';
import { createStage, openConversation, play, runCommand, type Stage } from '../../../surfaces/app/app-fixture.ts';
import type { Row } from './backfill-stage.ts';

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
  return { mind: { state: app.store.database, evidence: app.evidence }, places, clock: systemClock };
}

const fill = (app: App) => backfillSessions(sourcesOf(app), { days: 30 }, new AbortController().signal);

/** Without what tells one writing from another. */
function rowsOf(app: App): readonly (readonly Row[])[] {
  return ['tool_events', 'turn_events', 'session_events'].map((table) =>
    app
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
    app.evidence().exec('DELETE FROM tool_events; DELETE FROM turn_events');
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
    const child = await app.store.fork(id);
    const forked = await openConversation(app, { approver: saysYes, resume: child.id });
    await play(forked, 'once more');
    await forked.close();
    assert.partialDeepStrictEqual(await fill(app), { tool_events_imported: 0, turn_events_imported: 0 });
    const [first] = await app.store.messages(id);
    app.store.database.exec('PRAGMA foreign_keys = OFF');
    app.store.database.run('DELETE FROM messages WHERE id = ?', first?.id ?? 0);
    app.store.database.exec('PRAGMA foreign_keys = ON');
    assert.partialDeepStrictEqual(await fill(app), { tool_events_imported: 0, turn_events_imported: 0 });
    const started = (await app.store.messages(id)).find(({ message }) => message.role === 'user');
    await app.store.rewind(id, started?.id ?? 0);
    const resumed = await openConversation(app, { approver: saysYes, resume: id });
    await play(resumed, 'and now, again?');
    await resumed.close();
    assert.partialDeepStrictEqual(await fill(app), { tool_events_imported: 0 });
  });

  test('the command prints counts, the original’s JSON, and fails for a folder that is not there', async (t) => {
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
