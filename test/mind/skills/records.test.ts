/** Records of skills: what they say, and of which folder. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { createSkillLibrary } from '#mind/skills/library/skill-library.ts';
import { createSkillRecords } from '#mind/skills/skill-records.ts';
import { verifies } from '../../verifies.ts';
import { open, refused, skillText } from './skill-bench.ts';

/** The records beside skills and the side-car that other tools read. */

function recording(context: TestContext) {
  const opened = open(context);
  const records = createSkillRecords({ database: opened.database, root: opened.root, clock: opened.clock });
  const usage = () =>
    JSON.parse(readFileSync(join(opened.root, '.usage.json'), 'utf8')) as Record<string, Record<string, unknown>>;
  return { ...opened, records, usage };
}

describe('skill records', () => {
  test('what the door, views, uses and the owner do is in one record', async (context) => {
    const { create, write, records } = recording(context);
    assert.equal(records.get('csv'), undefined);
    await create('csv');
    await write('csv', { action: 'patch', oldString: 'Step one.', newString: 'First.' });
    await records.viewed('csv');
    await records.used('csv', 'success');
    await records.used('csv', 'failure');
    await records.pin('csv', true);
    await records.setStatus('csv', 'flagged');
    const record = records.get('csv');
    assert.deepEqual(
      { ...record, createdAt: 0, updatedAt: 0, lastUsedAt: 0 },
      {
        name: 'csv',
        createdBy: 'agent',
        status: 'flagged',
        pinned: true,
        confidence: 0.5,
        priorConfidence: 0.5,
        priorWeight: 2,
        validatedCount: 1,
        improvedCount: 1,
        viewCount: 1,
        useCount: 2,
        successCount: 1,
        failureCount: 1,
        attribution: 0,
        bloodstain: false,
        lineage: [],
        categories: [],
        version: 2,
        parentVersion: 1,
        createdAt: 0,
        updatedAt: 0,
        lastUsedAt: 0,
      },
    );
    await records.put({
      ...(record ?? assert.fail()),
      name: 'taken',
      lineage: ['g1', 'g2'],
      bloodstain: true,
      attribution: 0.25,
    });
    const taken = records.get('taken');
    assert.deepEqual([taken?.lineage, taken?.bloodstain, taken?.attribution], [['g1', 'g2'], true, 0.25]);
    assert.deepEqual(
      records.list().map(({ name }) => name),
      ['csv', 'taken'],
    );
  });

  test('a record that was handed on keeps what it was worth: uses here move it by their number against its weight', async (context) => {
    const { create, write, records } = recording(context);
    await create('csv');
    const own = records.get('csv') ?? assert.fail();
    const handed = { priorConfidence: 0.72, priorWeight: 5, categories: ['disk', 'net'], derivedFrom: 'tables' };
    await records.put({ ...own, confidence: 0.72, ...handed });
    await records.used('csv', 'success');
    assert.equal(records.get('csv')?.confidence, (0.72 * 5 + 1) / 6);
    await records.used('csv', 'failure');
    await records.used('csv', 'late-failure');
    assert.equal(records.get('csv')?.confidence, (0.72 * 5) / 7);
    await write('csv', { action: 'patch', oldString: 'Step one.', newString: 'First.' });
    const { priorConfidence, priorWeight, categories, derivedFrom } = records.get('csv') ?? assert.fail();
    assert.deepEqual({ priorConfidence, priorWeight, categories, derivedFrom }, handed);
    await records.put({ ...own, confidence: 0.5 });
    assert.equal(records.get('csv')?.derivedFrom, undefined);
  });

  test('a skill that nobody recorded is the owner’s', async (context) => {
    const { records } = recording(context);
    await records.viewed('hand-made');
    assert.equal(records.get('hand-made')?.createdBy, 'owner');
  });

  test('.usage.json follows, and keeps what is not ours', async (context) => {
    const { create, write, records, usage, root } = recording(context);
    await create('csv');
    writeFileSync(
      join(root, '.usage.json'),
      JSON.stringify({ other: { created_by: 'agent', use_count: 7 }, csv: { patch_generation: 3 }, _note: 'kept' }),
    );
    await records.used('csv', 'success');
    assert.ok((await records.mirror()).ok);
    assert.deepEqual(usage().other, { created_by: 'agent', use_count: 7 });
    assert.equal(usage()._note, 'kept');
    const { csv } = usage();
    assert.equal(csv?.patch_generation, 3);
    assert.equal(csv?.created_by, 'agent');
    assert.equal(csv?.use_count, 1);
    assert.equal(csv?.state, 'active');
    assert.match(String(csv?.last_used_at), /^2026-/);
    await write('csv', { action: 'delete' });
    await records.mirror();
    assert.equal(usage().csv?.state, 'archived');
    assert.match(String(usage().csv?.archived_at), /^2026-/);
  });

  test('a side-car that is no JSON object is left alone', async (context) => {
    const { create, records, root } = recording(context);
    await create('csv');
    writeFileSync(join(root, '.usage.json'), 'not json');
    const done = await records.mirror();
    assert.equal(done.ok ? '' : done.reason, 'unreadable');
    assert.equal(readFileSync(join(root, '.usage.json'), 'utf8'), 'not json');
  });
});

/** Whose skill it is, when the name that was recorded lies in another folder: no unattended write, no undo into the wrong place. */

const OWNERS = skillText('csv', 'The owner wrote this.\n');

/** The agent's `data/csv`, with an unattended edit for whatever is called `csv` now. */
async function agentMade(context: TestContext) {
  const opened = open(context, { bare: true });
  await opened.create('csv');
  const put = (folder: string, text = OWNERS) => {
    const path = join(opened.root, folder, 'SKILL.md');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const records = createSkillRecords({ database: opened.database, root: opened.root });
  const curate = (text: string) =>
    opened.write(
      'csv',
      { action: 'edit', content: skillText('csv', 'Curated.\n') },
      { actor: 'curator', expectedHash: sha256(text) },
    );
  return { ...opened, put, curate, records };
}

describe('a record and the folder that it speaks of', () => {
  verifies('curator:auto:source-gate', "the owner's skill of the same name elsewhere is not the agent's", async (t) => {
    const opened = await agentMade(t);
    const path = opened.put('csv');
    await refused(opened, opened.curate(OWNERS), 'not-agent-made');
    assert.equal(readFileSync(path, 'utf8'), OWNERS);
    rmSync(dirname(path), { recursive: true });
    assert.ok((await opened.curate(skillText('csv'))).ok, 'the own one still is');
  });

  test('who reads asks for the folder that stands there', async (t) => {
    const opened = await agentMade(t);
    const own = join(opened.root, 'data/csv');
    assert.equal(opened.records.get('csv', own)?.createdBy, 'agent');
    assert.equal(opened.records.get('csv', join(opened.root, 'csv')), undefined);
    const cacheFile = join(opened.home, 'cache.sqlite');
    const library = createSkillLibrary({ root: opened.root, cacheFile, records: opened.records.get });
    t.after(() => library.close());
    await library.refresh();
    assert.equal(library.record('csv')?.createdBy, 'agent');
    rmSync(own, { recursive: true });
    opened.put('csv');
    await library.refresh();
    assert.deepEqual([library.record('csv'), library.get('csv')?.source], [undefined, 'owner']);
  });

  test("a skill that was moved by hand, or came after the agent's was deleted, is not the agent's", async (t) => {
    const opened = await agentMade(t);
    renameSync(join(opened.root, 'data'), join(opened.root, 'tables'));
    await refused(opened, opened.curate(skillText('csv')), 'not-agent-made');
    renameSync(join(opened.root, 'tables'), join(opened.root, 'data'));
    assert.ok((await opened.write('csv', { action: 'delete' })).ok);
    opened.put('data/csv');
    await refused(opened, opened.curate(OWNERS), 'not-agent-made');
  });

  test('a change by the owner in the other folder does not carry the licence there', async (t) => {
    const opened = await agentMade(t);
    opened.put('csv');
    const patch = { action: 'patch', oldString: 'The owner', newString: 'Its owner' } as const;
    assert.ok((await opened.write('csv', patch, { actor: 'owner' })).ok);
    await refused(opened, opened.curate(OWNERS.replace('The owner', 'Its owner')), 'not-agent-made');
    assert.equal(opened.records.get('csv')?.createdBy, 'owner');
  });

  test('a deletion that is undone leaves the maker as it was', async (t) => {
    const opened = await agentMade(t);
    assert.ok((await opened.write('csv', { action: 'delete' })).ok);
    assert.ok((await opened.door.rollback({ skill: 'csv' })).ok);
    assert.ok((await opened.curate(skillText('csv'))).ok);
  });

  test('a record without a version is of the folder that bears its name', async (t) => {
    const opened = await agentMade(t);
    const own = opened.records.get('csv');
    assert.ok(own);
    await opened.records.put({ ...own, name: 'old' });
    const text = skillText('old', 'From elsewhere.\n');
    opened.put('data/old', text);
    const change = { action: 'edit', content: skillText('old', 'Curated.\n') } as const;
    const done = await opened.write('old', change, { actor: 'curator', expectedHash: sha256(text) });
    assert.ok(done.ok, done.ok ? '' : done.detail);
  });
});

describe('undoing a version of a name that lies elsewhere now', () => {
  test('a deletion is not undone beside another skill of the name, forced or not', async (t) => {
    const opened = await agentMade(t);
    assert.ok((await opened.write('csv', { action: 'delete' })).ok);
    const path = opened.put('csv');
    for (const force of [false, true]) {
      const undone = await opened.door.rollback({ skill: 'csv' }, { force });
      assert.ok(!undone.ok && undone.reason === 'target-changed');
      assert.match(undone.detail, /csv lies in csv now, and version 2 was written in data\/csv/);
    }
    rmSync(dirname(path), { recursive: true });
    assert.ok((await opened.door.rollback({ skill: 'csv' })).ok);
  });

  test('a version of a folder that still stands is undone there by force only', async (t) => {
    const opened = await agentMade(t);
    assert.ok((await opened.curate(skillText('csv'))).ok);
    const path = opened.put('csv');
    const undone = await opened.door.rollback({ skill: 'csv' });
    assert.equal(undone.ok || undone.reason, 'target-changed');
    assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv', 'Curated.\n'));
    assert.ok((await opened.door.rollback({ skill: 'csv' }, { force: true })).ok);
    assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv'));
    assert.equal(readFileSync(path, 'utf8'), OWNERS);
  });

  test('is no part of the history of the other', async (t) => {
    const opened = await agentMade(t);
    opened.put('csv');
    const patch = { action: 'patch', oldString: 'The owner', newString: 'Its owner' } as const;
    assert.ok((await opened.write('csv', patch, { actor: 'owner' })).ok);
    const mixed = await opened.door.diff('csv', { from: 1, to: 2 });
    assert.ok(!mixed.ok && mixed.reason === 'no-such-version');
    assert.match(mixed.detail, /Version 1 of csv was written in data\/csv; what is called so now was written in csv/);
    assert.ok((await opened.door.rollback({ skill: 'csv' })).ok, 'the own version is undone in its own folder');
    assert.equal(opened.read('csv/SKILL.md'), OWNERS);
    const first = await opened.door.rollback({ skill: 'csv' });
    assert.equal(first.ok || first.reason, 'target-changed');
    assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv'));
  });
});
