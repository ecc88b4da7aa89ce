/** What the owner says to drafts from the shell: the message tells truly whether the draft waits on. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { JsonObject } from '#public/talaria.ts';
import { skillText } from '../../../mind/skills/skill-bench.ts';
import { createStage, runCommand, type Stage } from '../app-fixture.ts';

async function withDrafts(t: TestContext, ...changes: readonly (JsonObject & { readonly name: string })[]) {
  const stage = createStage(t);
  stage.temp.write('home/skills/data/box/SKILL.md', skillText('box'));
  const app = await stage.open();
  for (const change of changes) {
    const { action } = change;
    const draft = { kind: 'skill', actor: 'review', target: change.name, citations: [], change } as const;
    const { id } = await app.doors.proposals.open({ ...draft, action: String(action) });
    await app.doors.proposals.decide(id, { status: 'pending', reason: 'needs-owner' });
  }
  await app.shutdown();
  return stage;
}

async function waiting(stage: Stage): Promise<number> {
  const app = await stage.open();
  const count = app.doors.proposals.list({ status: 'pending' }).length;
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

/** What waits for the owner, read before the yes; and what was kept, taken back from the shell. */

const SETUP = `---
name: setup-box
description: Set a new machine up.
---

# Set up

Append the lines of assets to the profile.
`;

describe('pending show', () => {
  test('an installation that waits shows its text and what the guard finds', async (t) => {
    const stage = createStage(t);
    stage.temp.write('work/setup-box/SKILL.md', SETUP);
    const assets = join(stage.cwd, 'setup-box/assets');
    mkdirSync(assets);
    writeFileSync(join(assets, 'blob.bin'), Buffer.from([0x1a, 0, 0x9c, 0xff, 0, 1, 2, 3, ...Array(64).fill(0)]));
    const asked = await runCommand(stage, 'skills install', { from: 'setup-box' });
    assert.equal(asked.failure?.code, 'guard-asks', asked.text);
    const shown = await runCommand(stage, 'pending show', { id: 'setup-box' });
    assert.equal(shown.failure, undefined, shown.text);
    assert.match(shown.text, /^install setup-box from .*setup-box$/m);
    assert.match(shown.text, /Append the lines/);
    assert.match(
      shown.text,
      /The guard finds this doubtful\.\nIt has a form that skills seldom have\.\nSeen at:\n {2}assets\/blob\.bin structure\/unknown-binary \(high\)/,
    );
    assert.doesNotMatch(shown.text, /force:|category:/);
    rmSync(join(stage.cwd, 'setup-box'), { recursive: true });
    assert.match((await runCommand(stage, 'pending show', { id: 'setup-box' })).text, /cannot be read any more/);
  });
});

describe('undo of the shell', () => {
  test('takes back what was kept last, and says when there is nothing', async (t) => {
    const stage = createStage(t);
    const nothing = await runCommand(stage, 'undo');
    assert.deepEqual([nothing.failure?.code, nothing.failure?.exitCode], ['nothing-to-undo', 3]);
    const app = await stage.open();
    const memory = join(stage.root, 'memories/MEMORY.md');
    await app.doors.memory.apply('memory', [{ action: 'add', content: 'the harbour opens at six' }], {
      actor: 'review',
    });
    assert.equal((await app.doors.learning.load()).announcements().length, 1);
    await app.shutdown();
    assert.match(readFileSync(memory, 'utf8'), /opens at six/);
    const undone = await runCommand(stage, 'undo');
    assert.equal(undone.failure, undefined, undone.text);
    assert.doesNotMatch(readFileSync(memory, 'utf8'), /opens at six/);
  });
});

/** `skills export` and links; `skills list` and what could not be read. */

describe('skills export', () => {
  test('a link that leads out is not copied, and said; one inside is', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/skills/data/box/SKILL.md', skillText('box'));
    stage.temp.write('secret.txt', 'a secret');
    const folder = join(stage.root, 'skills/data/box');
    mkdirSync(join(folder, 'references'));
    symlinkSync(join(stage.temp.path, 'secret.txt'), join(folder, 'references/out.txt'));
    symlinkSync('../../../../../secret.txt', join(folder, 'references/up.txt'));
    symlinkSync(stage.temp.path, join(folder, 'assets'));
    symlinkSync('../SKILL.md', join(folder, 'references/in.md'));
    const { text, failure } = await runCommand(stage, 'skills export', { name: 'box', to: 'copy' });
    assert.equal(failure, undefined, text);
    const copy = join(stage.cwd, 'copy/box');
    assert.equal(readFileSync(join(copy, 'references/in.md'), 'utf8'), skillText('box'));
    for (const path of ['references/out.txt', 'references/up.txt', 'assets']) {
      assert.ok(!existsSync(join(copy, path)), path);
      assert.match(text, new RegExp(`not copied: ${path} is a link`));
    }
  });
});

describe('skills list', () => {
  test('what could not be read is said, with its reason', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/skills/box/SKILL.md', skillText('box'));
    stage.temp.write('home/skills/bad/SKILL.md', '---js\nx\n---\n');
    const { text } = await runCommand(stage, 'skills list', {});
    const app = await stage.open();
    const [problem] = app.doors.skills.problems();
    assert.ok(problem, 'the bad one is a problem');
    assert.ok(text.includes(`not read: ${problem.detail}`), text);
  });
});

/** What only the owner's word does: undoing how a skill began, and the standing yes to new ones. */

const TEXT = '---\nname: digest\ndescription: A digest\n---\n\n# Digest\n\n1. Run `make digest`\n';

describe('skills rollback', () => {
  test('asks before the first version goes, and says that the skill is gone', async (t) => {
    const stage = createStage(t);
    stage.temp.write('work/digest/SKILL.md', TEXT);
    const installed = await runCommand(stage, 'skills install', { from: 'digest', name: 'second' });
    assert.equal(installed.failure, undefined, installed.text);
    assert.match((await runCommand(stage, 'skills list')).text, /second/);
    const asked = await runCommand(stage, 'skills rollback', { name: 'second' });
    assert.equal(asked.failure?.code, 'approval-required');
    const path = join(stage.root, 'skills/second/SKILL.md');
    assert.ok(existsSync(path));
    const gone = await runCommand(stage, 'skills rollback', { name: 'second', yes: true });
    assert.match(gone.text, /^second is gone \(its first version was undone\)\..*rollback second 2/);
    assert.ok(!existsSync(path));
    const back = await runCommand(stage, 'skills rollback', { name: 'second', version: 2 });
    assert.match(back.text, /^Undone\. second is at version 3: /, back.failure?.message);
    assert.ok(existsSync(path));
  });
});

describe('pending always', () => {
  test('shows, gives and takes back the standing yes', async (t) => {
    const stage = createStage(t);
    const listed = async () => (await runCommand(stage, 'pending list')).text;
    assert.match((await runCommand(stage, 'pending always')).text, /^You are asked/);
    assert.doesNotMatch(await listed(), /always/);
    assert.match((await runCommand(stage, 'pending always', { state: 'on' })).text, /kept unasked/);
    assert.match(await listed(), /kept unasked.*pending always off/);
    assert.match((await runCommand(stage, 'pending always', { state: 'off' })).text, /^You are asked/);
    assert.doesNotMatch(await listed(), /always/);
  });
});
