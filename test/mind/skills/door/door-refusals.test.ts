/** The door for skill text: who may write what, what the guard and the verifiers say, links that lead away. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { sha256 } from '#base/ids.ts';
import { createSkillRecords } from '#mind/skills/record/skill-records.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { open, refused } from './door-bench.ts';
import { listTree, skillText, wordGuard } from './open-door.ts';

describe('skill door: who may', () => {
  test('without approval nothing happens', async (context) => {
    const opened = open(context);
    await refused(
      opened,
      opened.write('csv', { action: 'create', content: skillText('csv') }, { approved: false }),
      'approval-required',
    );
  });

  test('a hash that is not the one of SKILL.md is refused; unattended writers must give one', async (context) => {
    const opened = open(context);
    const { newHash } = await opened.create('csv');
    const patch = { action: 'patch', oldString: 'Step one.', newString: 'First.' } as const;
    writeFileSync(join(opened.root, 'data/csv/SKILL.md'), skillText('csv', 'Step one.\nBy hand.\n'));
    assert.ok(newHash);
    await refused(opened, opened.write('csv', patch, { expectedHash: newHash }), 'hash-mismatch');
    await refused(opened, opened.write('csv', patch, { actor: 'review' }), 'hash-mismatch');
    const expectedHash = sha256(skillText('csv', 'Step one.\nBy hand.\n'));
    assert.ok((await opened.write('csv', patch, { actor: 'review', expectedHash })).ok);
  });

  test('unattended writers touch only what the agent made and nobody pinned', async (context) => {
    const opened = open(context);
    const records = createSkillRecords({ database: opened.database, root: opened.root });
    const owners = await opened.create('mine', undefined, { actor: 'owner' });
    const agents = await opened.create('its');
    const patch = { action: 'patch', oldString: 'Step one.', newString: 'First.' } as const;
    for (const actor of ['review', 'flush', 'curator', 'dream'] as const)
      await refused(
        opened,
        opened.write('mine', patch, { actor, expectedHash: owners.newHash ?? '' }),
        'not-agent-made',
      );
    await records.pin('its', true);
    const given = { actor: 'curator', expectedHash: agents.newHash ?? '' } as const;
    await refused(opened, opened.write('its', patch, given), 'read-only');
    await records.pin('its', false);
    assert.ok((await opened.write('its', patch, given)).ok);
    assert.ok((await opened.write('mine', patch)).ok, 'the agent itself, with the owner there, may');
  });

  test('a review deletes only what another skill took in', async (context) => {
    const opened = open(context);
    const { newHash } = await opened.create('old');
    await opened.create('new');
    const given = { actor: 'review', expectedHash: newHash ?? '' } as const;
    await refused(opened, opened.write('old', { action: 'delete' }, given), 'target-not-found');
    await refused(opened, opened.write('old', { action: 'delete', absorbedInto: 'old' }, given), 'target-not-found');
    await refused(opened, opened.write('old', { action: 'delete', absorbedInto: 'none' }, given), 'target-not-found');
    assert.ok((await opened.write('old', { action: 'delete', absorbedInto: 'new' }, given)).ok);
  });

  test('what is read-only, and links, are left alone', async (context) => {
    const opened = open(context);
    const home = createTempHome(context);
    home.write('out/SKILL.md', skillText('linked'));
    mkdirSync(join(opened.root, 'locked/fixed'), { recursive: true });
    writeFileSync(join(opened.root, 'locked/fixed/SKILL.md'), skillText('fixed'));
    symlinkSync(join(home.path, 'out'), join(opened.root, 'linked'));
    await opened.create('csv');
    home.write('secret.md', 'secret');
    mkdirSync(join(opened.root, 'data/csv/references'));
    symlinkSync(join(home.path, 'secret.md'), join(opened.root, 'data/csv/references/link.md'));
    symlinkSync(home.path, join(opened.root, 'data/csv/assets'));
    await refused(opened, opened.write('fixed', { action: 'delete' }), 'read-only');
    await refused(
      opened,
      opened.write('linked', { action: 'edit', content: skillText('linked', 'x') }),
      'outside-folder',
    );
    await refused(
      opened,
      opened.write('csv', { action: 'write_file', filePath: 'references/link.md', content: 'x' }),
      'outside-folder',
    );
    await refused(
      opened,
      opened.write('csv', { action: 'write_file', filePath: 'assets/x.md', content: 'x' }),
      'outside-folder',
    );
    symlinkSync(home.path, join(opened.root, 'away'));
    await refused(
      opened,
      opened.write('new', { action: 'create', content: skillText('new'), category: 'away' }),
      'outside-folder',
    );
    assert.equal(home.read('secret.md'), 'secret');
    assert.equal(home.read('out/SKILL.md'), skillText('linked'));
  });
});

describe('skill door: guard and verifiers', () => {
  verifies(
    'core:skills:scan-on-write',
    'every write is scanned as a whole skill, the support files too',
    async (context) => {
      const opened = open(context);
      await refused(
        opened,
        opened.write('bad', { action: 'create', content: skillText('bad', 'EVIL\n') }),
        'guard-asks',
      );
      await opened.create('csv');
      await refused(
        opened,
        opened.write('csv', { action: 'patch', oldString: 'Step one.', newString: 'EVIL' }),
        'guard-asks',
      );
      await refused(opened, opened.write('csv', { action: 'edit', content: skillText('csv', 'EVIL') }), 'guard-asks');
      await refused(
        opened,
        opened.write('csv', { action: 'write_file', filePath: 'scripts/a.sh', content: 'EVIL' }),
        'guard-asks',
      );
      const odd = await opened.write('csv', { action: 'write_file', filePath: 'scripts/a.sh', content: 'ODD' });
      assert.ok(odd.ok);
      assert.match(odd.value.warnings.join('\n'), /scripts\/a\.sh:1 test\/word \(high\)/);
    },
  );

  test('what the guard asks about is written when the owner accepts that very proposal', async (context) => {
    const opened = open(context);
    const change = { action: 'create', content: skillText('bad', 'EVIL\n') } as const;
    const asked = await opened.write('bad', change, { actor: 'review' });
    assert.ok(!asked.ok && asked.proposalId);
    const again = await opened.write('bad', change, { actor: 'review' });
    assert.ok(!again.ok, 'asking twice is no acceptance');
    const accepted = await opened.write('bad', change, { actor: 'owner', proposalId: asked.proposalId });
    assert.ok(accepted.ok);
    const record = createSkillRecords({ database: opened.database, root: opened.root }).get('bad');
    assert.equal(record?.createdBy, 'agent', 'the review made it, the owner allowed it');
  });

  test('a key is never written into a skill', async (context) => {
    const opened = open(context);
    const key = `ghp_${'a1B2c3D4e5'.repeat(4)}`;
    const detail = await refused(
      opened,
      opened.write('csv', { action: 'create', content: skillText('csv', `use ${key}\n`) }),
      'secret',
    );
    assert.doesNotMatch(detail, /ghp_/);
  });

  test('a failing verifier puts the old state back and says so', async (context) => {
    const asked: string[] = [];
    const opened = open(context, {
      verifiers: [
        { name: 'first', verify: async ({ after }) => ({ passed: asked.push(after ?? 'gone') > 0, detail: 'fine' }) },
        {
          name: 'second',
          verify: async ({ after }) => ({ passed: !after?.includes('broken'), detail: 'it says broken' }),
        },
        { name: 'third', verify: async () => ({ passed: asked.push('third') > 0, detail: '' }) },
      ],
    });
    await opened.create('csv');
    asked.length = 0;
    const patch = { action: 'patch', oldString: 'Step one.', newString: 'broken' } as const;
    assert.match(await refused(opened, opened.write('csv', patch), 'verify-failed'), /second: it says broken/);
    assert.equal(asked.length, 1, 'nobody is asked after a failure');
    assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv'));
    assert.equal(opened.door.versions('csv').length, 1);
    const manifests = listTree(opened.backups).filter((path) => path.endsWith('manifest.json'));
    const failed = readFileSync(join(opened.backups, manifests.at(-1) ?? ''), 'utf8');
    assert.match(failed, /"rollback_reason": "verify-failed"/);
    assert.match(failed, /"rollback_failed_stage": "second"/);
    await refused(
      opened,
      opened.write('new', { action: 'create', content: skillText('new', 'broken\n') }),
      'verify-failed',
    );
  });
});

describe('skill door: at the same time', () => {
  test('a SKILL.md that changes on disk during an edit keeps the change; nothing is written', async (context) => {
    let during = (): void => undefined;
    const guard = {
      ...wordGuard,
      scan: (files: Parameters<typeof wordGuard.scan>[0]) => {
        during();
        return wordGuard.scan(files);
      },
    };
    const opened = open(context, { guard });
    const { path, proposalId } = await opened.create('csv');
    during = () => writeFileSync(path, skillText('csv', 'By hand.\n'));
    const result = await opened.write('csv', { action: 'patch', oldString: 'Step one.', newString: 'First.' });
    assert.equal(result.ok ? '' : result.reason, 'hash-mismatch');
    assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv', 'By hand.\n'));
    const [newest] = opened.ledger.list({ kind: 'skill' });
    assert.deepEqual([newest?.status, newest?.reason], ['dropped', 'hash-mismatch']);
    assert.deepEqual(
      opened.ledger.list({ status: 'applied' }).map(({ id }) => id),
      [proposalId],
    );
    assert.equal(listTree(opened.backups).filter((name) => name.endsWith('manifest.json')).length, 1);
  });

  test('writes of one skill wait for each other, and two of one name cannot be made', async (context) => {
    const opened = open(context, { clock: systemClock });
    const both = await Promise.all(
      ['a', 'b'].map((category) => opened.write('csv', { action: 'create', content: skillText('csv'), category })),
    );
    assert.deepEqual(both.map((done) => (done.ok ? 'made' : done.reason)).sort(), ['made', 'name-taken']);
    const many = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        opened.write('csv', { action: 'write_file', filePath: `references/${i}.md`, content: `${i}` }),
      ),
    );
    assert.ok(many.every(({ ok }) => ok));
    assert.deepEqual(
      opened.door.versions('csv').map(({ version }) => version),
      Array.from({ length: 13 }, (_, i) => i + 1),
    );
  });

  test('a reader that is a moment behind does not matter', async (context) => {
    const blind = open(context, { locate: () => undefined });
    await blind.create('csv');
    assert.ok((await blind.write('csv', { action: 'patch', oldString: 'Step one.', newString: 'First.' })).ok);
    const folder = join(blind.root, 'data/csv');
    const late = open(context, { locate: () => ({ folder, source: 'agent', writable: true }) });
    assert.ok((await late.write('csv', { action: 'create', content: skillText('csv') })).ok === false, 'it is there');
    await blind.write('csv', { action: 'delete' });
    assert.ok((await late.write('csv', { action: 'create', content: skillText('csv') })).ok, 'it is gone');
  });

  test('an abort while it waits leaves a decided proposal and no change', async (context) => {
    const opened = open(context);
    const signal = AbortSignal.abort(new Error('stopped'));
    const change = { action: 'create', content: skillText('csv') } as const;
    await assert.rejects(opened.door.write({ name: 'csv', change, actor: 'agent', approved: true }, signal), /stopped/);
    assert.deepEqual(listTree(opened.root), []);
    assert.equal(opened.ledger.list({ kind: 'skill' })[0]?.status, 'dropped');
  });
});
