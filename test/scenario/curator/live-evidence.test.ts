/** What a real, composed turn leaves in evidence.sqlite, row by row: the rules of the original's capture, and where ours is better. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import type { Approver } from '#public/talaria.ts';
import { createScriptedModel, type ScriptedCall, type ScriptedStep } from '#testing/scripted-model.ts';
import { createStage, openConversation, play, type Stage } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';

const KEY = 'sk-ant-api03-k3JH2kj4h5KJH34kjh5KJh345kjh';
const SKILL = '---\nname: deploy\ndescription: Put the site online.\n---\n\n# Deploy\n\nRun the script, then look.\n';

const saysYes: Approver = { approve: async () => ({ decision: 'once' }) };

type Row = Readonly<Record<string, string | number | null>>;

const run = (command: string, callId?: string): ScriptedCall => ({
  name: 'terminal',
  arguments: { command },
  ...(callId === undefined ? {} : { callId }),
});

function stageWithSkill(t: TestContext): Stage {
  const stage = createStage(t);
  stage.temp.write('home/skills/deploy/SKILL.md', SKILL);
  return stage;
}

/** Plays the turns in one session of one composed agent and gives the rows that it left. */
async function played(
  t: TestContext,
  stage: Stage,
  turns: readonly { text: string; steps: readonly ScriptedStep[] }[],
) {
  const client = createScriptedModel(
    turns.flatMap(({ steps }) => steps),
    { context: t },
  );
  const app = await stage.open({ extra: { client } });
  const conversation = await openConversation(app, { approver: saysYes });
  const ends: string[] = [];
  for (const { text } of turns) ends.push((await play(conversation, text)).end.outcome);
  await conversation.close();
  const rows = (table: string) =>
    app.doors
      .evidence()
      .all<Row>(`SELECT * FROM ${table} ORDER BY id`)
      .map((row) => ({ ...row }));
  const all = { tools: rows('tool_events'), turns: rows('turn_events'), ends: rows('session_events'), outcomes: ends };
  await app.shutdown();
  return { ...all, sessionId: conversation.session.id };
}

describe('the evidence of live turns', () => {
  verifies(
    [
      'curator:store:three-tables',
      'curator:store:tool-event',
      'curator:store:turn-event',
      'curator:store:session-event',
    ],
    'calls, turns and the end of a session, each once, in three tables',
    async (t) => {
      const stage = stageWithSkill(t);
      const { tools, turns, ends, sessionId } = await played(t, stage, [
        {
          text: 'put it online',
          steps: [
            { calls: [{ name: 'skill_view', arguments: { name: 'deploy' }, callId: 'one' }] },
            { calls: [run('echo up', 'one'), run('exit 3', 'two')] },
            'It is online.',
          ],
        },
        { text: 'and now?', steps: [{ calls: [run('echo later', 'one')] }, 'Still.'] },
      ]);
      assert.deepEqual(
        tools.map(({ tool_name, skill_name, active_skill, is_error }) => [
          tool_name,
          skill_name,
          active_skill,
          is_error,
        ]),
        [
          ['skill_view', 'deploy', 'deploy', 0],
          ['terminal', null, 'deploy', 0],
          ['terminal', null, 'deploy', 1],
          ['terminal', null, null, 0],
        ],
      );
      assert.equal(new Set(tools.map(({ event_key }) => event_key)).size, 4, 'an id that comes again is another call');
      assert.ok(tools.every((row) => row.session_id === sessionId && Number.isInteger(row.duration_ms)));
      assert.ok(
        tools.every(({ created_at }) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+00:00$/.test(String(created_at))),
      );
      assert.equal(tools[1]?.args_json, '{"command":"echo up"}');
      assert.match(String(tools[1]?.result_preview), /up/);
      assert.deepEqual(
        turns.map((row) => [row.session_id, row.model, row.platform, row.user_preview, row.assistant_preview]),
        [
          [sessionId, 'scripted/model', 'cli', 'put it online', 'It is online.'],
          [sessionId, 'scripted/model', 'cli', 'and now?', 'Still.'],
        ],
      );
      assert.equal(ends.length, 1);
      assert.partialDeepStrictEqual(ends[0], { session_id: sessionId, completed: 1, interrupted: 0, platform: 'cli' });
    },
  );

  verifies(
    ['curator:hooks:error-text', 'curator:hooks:error-object'],
    'both verdicts stand beside each other: ours knows the exit code, the original’s the words',
    async (t) => {
      const { tools } = await played(t, createStage(t), [
        {
          text: 'test it',
          steps: [
            {
              calls: [
                run("echo 'no errors, 0 failed'"),
                run('exit 4'),
                { name: 'read_file', arguments: { path: 'missing.txt' } },
                { name: 'todo', arguments: { todos: [{ id: '1', content: 'failed exception', status: 'pending' }] } },
              ],
            },
            'Done.',
          ],
        },
      ]);
      const verdicts = new Map(tools.map((row) => [row.args_json, [row.is_error, row.is_error_upstream]]));
      assert.deepEqual(verdicts.get(`{"command":"echo 'no errors, 0 failed'"}`), [0, 1]);
      assert.equal(verdicts.get('{"command":"exit 4"}')?.[0], 1);
      assert.equal(verdicts.get('{"path":"missing.txt"}')?.[0], 1);
      assert.equal(tools.find(({ tool_name }) => tool_name === 'todo')?.is_error, 0);
    },
  );

  verifies('curator:store:preview-limit', 'previews end at 500 characters, arguments at twice that', async (t) => {
    const stage = createStage(t);
    const long = '😀'.repeat(3_000);
    const { tools, turns } = await played(t, stage, [
      {
        text: long,
        steps: [
          { calls: [{ name: 'write_file', arguments: { path: 'a.txt', content: long } }] },
          { calls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] },
          long,
        ],
      },
    ]);
    const points = (text: unknown) => [...String(text)].length;
    const given: { preview?: string } = JSON.parse(String(tools[0]?.args_json));
    assert.deepEqual(Object.keys(given), ['preview']);
    assert.equal(points(given.preview), 1_000);
    for (const text of [tools[1]?.result_preview, turns[0]?.user_preview, turns[0]?.assistant_preview]) {
      assert.equal(points(text), 500);
      assert.ok(String(text).endsWith('…') && String(text).isWellFormed());
    }
  });

  verifies('curator:store:redaction', 'no byte of a key reaches the file, from neither side', async (t) => {
    const stage = createStage(t);
    await played(t, stage, [
      {
        text: `my key is ${KEY}`,
        steps: [{ calls: [run(`echo ${KEY}`), { name: 'read_file', arguments: { path: KEY } }] }, `It is ${KEY}.`],
      },
    ]);
    const files = readdirSync(stage.root).filter((name) => name.startsWith('evidence.sqlite'));
    assert.ok(files.length > 0);
    for (const name of files) {
      const bytes = readFileSync(join(stage.root, name), 'latin1');
      assert.ok(!bytes.includes(KEY.slice(0, 18)), name);
    }
  });

  verifies(
    'curator:hooks:never-break',
    'a ledger that cannot be written costs no turn, and the log says so',
    async (t) => {
      const stage = createStage(t);
      mkdirSync(join(stage.root, 'evidence.sqlite'), { recursive: true });
      const client = createScriptedModel([{ calls: [run('echo up')] }, 'Done.'], { context: t });
      const app = await stage.open({ extra: { client } });
      const conversation = await openConversation(app, { approver: saysYes });
      const { end, events } = await play(conversation, 'go');
      assert.equal(end.outcome, 'done');
      assert.ok(events.some((event) => event.type === 'hook-failed' && event.hook === 'evidence-ledger'));
    },
  );

  verifies('curator:store:quarantine', 'a file that is no database is set aside, and a fresh one begins', async (t) => {
    const stage = createStage(t);
    mkdirSync(stage.root, { recursive: true });
    writeFileSync(join(stage.root, 'evidence.sqlite'), 'this is no database. '.repeat(100));
    const { tools, outcomes } = await played(t, stage, [{ text: 'go', steps: [{ calls: [run('echo up')] }, 'Done.'] }]);
    assert.deepEqual([outcomes, tools.length], [['done'], 1]);
    const aside = readdirSync(stage.root).find((name) => name.startsWith('evidence.sqlite.corrupt'));
    assert.match(readFileSync(join(stage.root, aside ?? ''), 'utf8'), /^this is no database/);
  });
});
