/** What a start finds half done: mended by hash, left to whoever has it in hand, never guessed. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { hashSkillFolder } from '#mind/skills/door/skill-tree.ts';
import { open } from './door-bench.ts';
import { skillText } from './open-door.ts';

/** A write of `csv` that was begun and not finished. */
async function halfDone(context: TestContext) {
  const opened = open(context);
  const made = await opened.create('csv');
  const draft = { kind: 'skill', actor: 'agent', target: 'csv', action: 'patch', change: {}, citations: [] } as const;
  const proposal = await opened.ledger.open(draft);
  await opened.ledger.begin(proposal.id, {
    path: made.folder,
    beforeHash: hashSkillFolder(made.folder),
    afterHash: 'f'.repeat(64),
  });
  return { ...opened, made, id: proposal.id };
}

describe('skill door: reconcile', () => {
  test('neither the old nor the new state: it was edited by hand and is kept', async (context) => {
    const { door, ledger, made, id, read } = await halfDone(context);
    writeFileSync(made.path, skillText('csv', 'By hand.\n'));
    const [decided] = await door.reconcile();
    assert.equal(decided?.id, id);
    assert.deepEqual([ledger.get(id)?.status, ledger.get(id)?.reason], ['edited', 'edited-by-hand']);
    assert.equal(read('data/csv/SKILL.md'), skillText('csv', 'By hand.\n'));
    assert.equal(door.versions('csv').length, 1);
  });

  test('the old state: dropped, and its staging folder is cleared', async (context) => {
    const { door, ledger, id, root } = await halfDone(context);
    mkdirSync(join(root, '.staging', id), { recursive: true });
    await door.reconcile();
    assert.equal(ledger.get(id)?.status, 'dropped');
    assert.ok(!existsSync(join(root, '.staging', id)));
    assert.deepEqual(await door.reconcile(), []);
  });

  test('a write that a living process has in hand is left to it', async (context) => {
    const { door, ledger, id, root } = await halfDone(context);
    const lock = join(root, '.locks/csv.lock');
    writeFileSync(lock, `${process.pid} ${hostname()}\n`);
    mkdirSync(join(root, '.staging', id), { recursive: true });
    assert.deepEqual(await door.reconcile(), []);
    assert.equal(ledger.get(id)?.status, 'writing');
    assert.ok(existsSync(join(root, '.staging', id)));
  });

  test('what was opened a moment ago is not forgotten yet', async (context) => {
    const opened = open(context);
    const draft = {
      kind: 'skill',
      actor: 'review',
      target: 'new',
      action: 'create',
      change: {},
      citations: [],
    } as const;
    const { id } = await opened.ledger.open(draft);
    await opened.door.reconcile();
    assert.equal(opened.ledger.get(id)?.status, 'proposed');
    await opened.clock.sleep(700_000);
    await opened.door.reconcile();
    assert.deepEqual([opened.ledger.get(id)?.status, opened.ledger.get(id)?.reason], ['dropped', 'interrupted']);
  });
});
