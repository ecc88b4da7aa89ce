/** What the owner says to drafts from the shell: the message tells truly whether the draft waits on. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { skillText } from '../../../mind/skills/door/open-door.ts';
import { createStage, runCommand, type Stage } from '../app-fixture.ts';

async function withDrafts(t: TestContext, ...changes: readonly (JsonObject & { readonly name: string })[]) {
  const stage = createStage(t);
  stage.temp.write('home/skills/data/box/SKILL.md', skillText('box'));
  const app = await stage.open();
  for (const change of changes) {
    const { action } = change;
    const draft = { kind: 'skill', actor: 'review', target: change.name, citations: [], change } as const;
    const { id } = await app.proposals.open({ ...draft, action: String(action) });
    await app.proposals.decide(id, { status: 'pending', reason: 'needs-owner' });
  }
  await app.shutdown();
  return stage;
}

async function waiting(stage: Stage): Promise<number> {
  const app = await stage.open();
  const count = app.proposals.list({ status: 'pending' }).length;
  await app.shutdown();
  return count;
}

const patch = (name: string, old: string, more: JsonObject = {}) => ({
  action: 'patch',
  name,
  old_string: old,
  new_string: 'First step.',
  ...more,
});

describe('pending accept', () => {
  test('what time cannot mend is refused and dropped, and the message says so', async (t) => {
    const stage = await withDrafts(t, patch('box', 'Nowhere'));
    const { failure } = await runCommand(stage, 'pending accept', { id: 'box' });
    assert.equal(failure?.code, 'text-not-found');
    assert.match(failure?.message ?? '', /^It was refused and dropped: /);
    assert.doesNotMatch(JSON.stringify(failure), /waits on/);
    assert.equal(await waiting(stage), 0);
  });

  test('a draft for a text that was edited since waits on, without a hash in the message', async (t) => {
    const stage = await withDrafts(t, patch('box', 'Step one.', { expected_hash: 'a'.repeat(64) }));
    writeFileSync(join(stage.root, 'skills/data/box/SKILL.md'), skillText('box', 'By hand.\n'));
    const { failure } = await runCommand(stage, 'pending accept', { id: 'box' });
    assert.equal(failure?.code, 'hash-mismatch');
    assert.match(
      failure?.message ?? '',
      /box was edited since the draft was made; .*skills diff box.* It waits on as prop_/,
    );
    assert.doesNotMatch(failure?.message ?? '', /[0-9a-f]{64}/);
    assert.equal(await waiting(stage), 1);
  });

  test('a draft from which a key was taken out is never applied', async (t) => {
    const key = `sk-proj-${'aB3dE5fG7h'.repeat(4)}`;
    const stage = await withDrafts(t, {
      action: 'create',
      name: 'keyed',
      content: skillText('keyed', `Use ${key}.\n`),
    });
    const { failure } = await runCommand(stage, 'pending accept');
    assert.equal(failure?.code, 'secret', failure?.message);
    assert.equal(await waiting(stage), 0);
  });
});

describe('pending reject', () => {
  test('by the name of a skill: all of that name; --all: all', async (t) => {
    const stage = await withDrafts(
      t,
      patch('box', 'One'),
      patch('box', 'Two'),
      { action: 'create', name: 'other', content: skillText('other') },
      patch('third', 'One'),
    );
    const listed = await runCommand(stage, 'pending list');
    assert.match(JSON.stringify(listed), /a change of this skill is yours to decide/);
    assert.match(JSON.stringify(listed), /a new skill is yours to decide/);
    assert.equal((await runCommand(stage, 'pending reject', { id: 'box' })).failure, undefined);
    assert.equal(await waiting(stage), 2);
    assert.equal((await runCommand(stage, 'pending reject', { id: 'prop_' })).failure?.code, 'ambiguous-proposal');
    assert.equal((await runCommand(stage, 'pending reject', { all: true })).failure, undefined);
    assert.equal(await waiting(stage), 0);
    assert.equal((await runCommand(stage, 'pending reject', { all: true })).failure?.code, 'no-such-proposal');
  });
});
