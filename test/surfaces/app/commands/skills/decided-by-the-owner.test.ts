/** What only the owner's word does: undoing how a skill began, and the standing yes to new ones. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createStage, runCommand } from '../../app-fixture.ts';

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
