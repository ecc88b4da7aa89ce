/** What waits for the owner, read before the yes; and what was kept, taken back from the shell. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createStage, runCommand } from '../app-fixture.ts';

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
    await app.memory.apply('memory', [{ action: 'add', content: 'the harbour opens at six' }], { actor: 'review' });
    assert.equal((await app.learning()).announcements().length, 1);
    await app.shutdown();
    assert.match(readFileSync(memory, 'utf8'), /opens at six/);
    const undone = await runCommand(stage, 'undo');
    assert.equal(undone.failure, undefined, undone.text);
    assert.doesNotMatch(readFileSync(memory, 'utf8'), /opens at six/);
  });
});
