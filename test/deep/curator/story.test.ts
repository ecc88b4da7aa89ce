/** The seed's story of the curator on real files (seed 002): evidence, a plan, a refusal, a guarded write, a failed check, undo, a drill. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Approver } from '#public/talaria.ts';
import { composeApp } from '#surfaces/app/house.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { createPlainWalls } from '../../doubles/plain-walls.ts';
import { realClock } from '../../ground.ts';
import { type CliRun, type CliStage, createCliStage } from '../../scenario/cli-process.ts';
import { readJson } from '../../scenario/curator/read-json.ts';
import { openConversation, play } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';

const NAME = 'release-notes';
const SKILL = `---
name: ${NAME}
description: Write the release notes of a version
---

# ${NAME}

## Steps

1. Run \`git log --oneline\`
2. Sort the lines by kind
`;

const approving: Approver = { approve: async () => ({ decision: 'once' }) };

const call = (name: string, args: JsonObject): ScriptedStep => ({ calls: [{ name, arguments: args }] });

/** One live session: the agent makes the skill, then uses it, and one command of that use fails. */
async function liveSession(stage: CliStage, steps: readonly (readonly [text: string, ...steps: ScriptedStep[]])[]) {
  const client = createScriptedModel(steps.flatMap(([, ...one]) => one));
  const app = await composeApp({
    environment: {
      variables: { PATH: process.env.PATH, HOME: stage.folder, TALARIA_HOME: stage.root },
      cwd: stage.cwd,
      userHome: stage.folder,
    },
    extra: { client, walls: createPlainWalls() },
  });
  try {
    const conversation = await openConversation(app, { approver: approving });
    for (const [text] of steps) await play(conversation, text);
    await conversation.close();
  } finally {
    await app.shutdown();
  }
}

const making: Parameters<typeof liveSession>[1] = [
  ['make a skill for release notes', call('skill_manage', { action: 'create', name: NAME, content: SKILL }), 'Made.'],
  [
    'write the release notes',
    call('skill_view', { name: NAME }),
    call('terminal', { command: 'echo one; echo two' }),
    call('terminal', { command: 'ls no-such-folder-here' }),
    'Here they are.',
  ],
];

/** A stored session of another time, as files that hermes-agent users have. */
function storeSession(stage: CliStage, id: string, daysAgo: number): string {
  const folder = join(stage.cwd, 'sessions');
  mkdirSync(folder, { recursive: true });
  const start = new Date(realClock.now() - daysAgo * 86_400_000).toISOString();
  const calls = [
    { id: 'c1', function: { name: 'skill_view', arguments: JSON.stringify({ name: NAME }) } },
    { id: 'c2', function: { name: 'terminal', arguments: JSON.stringify({ command: 'git log --oneline' }) } },
  ];
  const messages = [
    { role: 'user', content: 'release notes please' },
    { role: 'assistant', content: '', tool_calls: calls },
    { role: 'tool', tool_call_id: 'c1', content: '{"success": true}' },
    { role: 'tool', tool_call_id: 'c2', content: '{"exit_code": 128, "output": "fatal: not a git repository"}' },
    { role: 'assistant', content: 'There is no repository.' },
  ];
  const session = { session_id: id, session_start: start, model: 'm', platform: 'cli', messages };
  writeFileSync(join(folder, `session_${id}.json`), JSON.stringify(session));
  return folder;
}

const json = ({ out }: CliRun): JsonObject => readJson(out);

function firstCandidate(run: CliRun): JsonObject {
  const { candidates } = json(run);
  const first: unknown = Array.isArray(candidates) ? candidates[0] : undefined;
  assert.ok(isJsonObject(first), run.out.slice(0, 400));
  return first;
}

const auto = (...more: readonly string[]) => ['curator', 'auto-run', '--format', 'json', ...more];
const WRITE = ['--apply-low-risk', '--approve-auto-apply'];

describe('the curator, from evidence to undo', () => {
  verifies(
    ['curator:auto:dry-run', 'curator:verify:rollback', 'curator:rollback:restores'],
    'the whole story in one home',
    {
      options: { timeout: 60_000 },
      run: async (context: TestContext) => {
        const stage = createCliStage(context);
        await liveSession(stage, making);
        const file = join(stage.root, 'skills', NAME, 'SKILL.md');
        const written = readFileSync(file, 'utf8');
        assert.equal(written, SKILL);

        const sessions = storeSession(stage, 'older', 2);
        const filled = json(
          await stage.run(['curator', 'backfill-sessions', '--sessions-dir', sessions, '--format', 'json']),
        );
        assert.equal(filled.files_failed, 0);
        assert.ok(Number(filled.tool_events_imported) >= 2);
        const again = json(
          await stage.run(['curator', 'backfill-sessions', '--sessions-dir', sessions, '--format', 'json']),
        );
        assert.equal(again.tool_events_imported, 0, 'nothing counts twice');

        const report = json(await stage.run(['curator', 'report', '--format', 'json']));
        const { skills } = report.summary as JsonObject;
        const tally = (skills as readonly JsonObject[]).find(({ skill_name }) => skill_name === NAME);
        assert.ok(tally && Number(tally.event_count) >= 5 && Number(tally.errors) >= 2, JSON.stringify(skills));

        const dry = await stage.run(auto());
        assert.equal(dry.code, 0, dry.err);
        assert.equal(firstCandidate(dry).status, 'planned');
        assert.equal(json(dry).mode, 'dry-run');
        assert.equal(readFileSync(file, 'utf8'), SKILL);

        const refused = await stage.run(auto('--apply-low-risk'));
        assert.equal(refused.code, 3);
        assert.equal((firstCandidate(refused).apply_result as JsonObject).reason, 'auto-approval-required');
        assert.equal(readFileSync(file, 'utf8'), SKILL);

        const applied = await stage.run(auto(...WRITE));
        assert.equal(applied.code, 0, applied.err + applied.out.slice(-600));
        const { status, apply_result: result } = firstCandidate(applied);
        assert.equal(status, 'applied');
        const curated = readFileSync(file, 'utf8');
        assert.ok(curated.startsWith(`${SKILL}\n<!-- curator-evolver:auto:start -->`), curated.slice(0, 400));
        assert.ok(curated.endsWith('<!-- curator-evolver:auto:end -->\n'));
        assert.match(curated, /- ls: [^\n]*no-such-folder-here[^\n]* \(once\)\n/);
        assert.match(
          curated,
          /- git: fatal: not a git repository \(once, in step 1\)\n {2}last: \S+ terminal error: git log --oneline\n/,
        );
        assert.doesNotMatch(curated, /skill_view|skill_manage/);
        const { manifest_path: manifest } = result as JsonObject;

        const idle = await stage.run(auto(...WRITE));
        assert.equal(readFileSync(file, 'utf8'), curated, 'an unchanged block is not rewritten');
        assert.equal(json(idle).summary && (json(idle).summary as JsonObject).applied, 0);

        const failed = await stage.run(auto(...WRITE, '--days', '30', '--verify-command', 'echo no good; exit 7'));
        assert.equal((firstCandidate(failed).apply_result as JsonObject).reason, 'verify-failed');
        assert.equal(failed.code, 1);
        assert.equal(readFileSync(file, 'utf8'), curated, 'a failed check puts the old state back');

        const drill = await stage.run(['curator', 'restore-drill', '--manifest', String(manifest), '--format', 'json']);
        assert.equal(drill.code, 0, drill.err);
        assert.equal(json(drill).status, 'pass', drill.out);
        assert.equal(readFileSync(file, 'utf8'), curated, 'a drill touches nothing');

        const undone = await stage.run(['curator', 'rollback', '--manifest', String(manifest)]);
        assert.equal(undone.code, 0, undone.err);
        assert.equal(json(undone).reason, 'rolled-back');
        assert.equal(readFileSync(file, 'utf8'), SKILL);
        const twice = await stage.run(['curator', 'rollback', '--manifest', String(manifest)]);
        assert.equal(twice.code, 3);
        assert.equal(readFileSync(file, 'utf8'), SKILL);
      },
    },
  );
});
