/** What the owner can still do after a home was brought back. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createStage, runCommand } from '../app-fixture.ts';

const skill = (body: string) => `---\nname: tidy\ndescription: Tidy the desk.\n---\n\n# Tidy\n\n${body}\n`;

describe('a home that came back from a backup', () => {
  test('a skill can be rolled back to a version from before it', async (t) => {
    const stage = createStage(t);
    const app = await stage.open();
    const write = async (change: Parameters<typeof app.skills.door.write>[0]['change']) => {
      const done = await app.skills.door.write({ name: 'tidy', change, actor: 'owner', approved: true });
      assert.ok(done.ok, done.ok ? '' : done.detail);
      await app.skills.library.refresh();
    };
    await write({ action: 'create', content: skill('Put the pens away.') });
    await write({ action: 'edit', content: skill('Throw the pens away.') });
    await app.shutdown();
    const made = await runCommand(stage, 'backup', { file: 'b.tar.gz' });
    assert.equal(made.failure, undefined, made.text);
    assert.doesNotMatch(made.text, /backups/);
    rmSync(stage.root, { recursive: true });
    const elsewhere = join(stage.temp.path, 'elsewhere');
    const moved = {
      ...stage,
      environment: { ...stage.environment, variables: { ...stage.environment.variables, TALARIA_HOME: elsewhere } },
    };
    const restored = await runCommand(moved, 'restore', { file: 'b.tar.gz' });
    assert.equal(restored.failure, undefined, restored.text);
    const undone = await runCommand(moved, 'skills rollback', { name: 'tidy' });
    assert.equal(undone.failure, undefined, undone.text);
    assert.match(readFileSync(join(elsewhere, 'skills/tidy/SKILL.md'), 'utf8'), /Put the pens away/);
  });

  test('what a memory provider keeps elsewhere is named as left out', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/config.yaml', 'memory:\n  provider: attic\n');
    const made = await runCommand(stage, 'backup', { file: 'b.tar.gz' });
    assert.match(made.text, /left out: what the memory provider attic keeps outside the home/);
  });
});
