/** The records beside skills and the side-car that other tools read. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createSkillRecords } from '#mind/skills/record/skill-records.ts';
import { open } from '../door/door-bench.ts';

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
        validatedCount: 1,
        improvedCount: 1,
        viewCount: 1,
        useCount: 2,
        successCount: 1,
        failureCount: 1,
        attribution: 0,
        bloodstain: false,
        lineage: [],
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
