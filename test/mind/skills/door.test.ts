/** The skill door: what it refuses, edits of several files, writes that stay or go, what a killed write left. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { sha256 } from '#base/ids.ts';
import { hashSkillFolder } from '#mind/skills/door/skill-tree.ts';
import type { SkillChange, SkillFileEdit } from '#mind/skills/skill.ts';
import { argumentsOf, readSkillChange, skillManageInput } from '#mind/skills/skill-cards.ts';
import { createSkillRecords } from '#mind/skills/skill-records.ts';
import type { JsonObject } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import { listTree, open, refused, skillText, wordGuard } from './skill-bench.ts';

/** The door for skill text: who may write what, what the guard and the verifiers say, links that lead away. */

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

/** An edit with its support files: one version, one undo, and what is no part of the skill stays. */

/** `csv` with a reference and a script that may be run. */
async function withFiles(context: TestContext) {
  const opened = open(context, { bare: true });
  await opened.create('csv');
  await opened.write('csv', { action: 'write_file', filePath: 'references/a.md', content: 'a\n' });
  await opened.write('csv', { action: 'write_file', filePath: 'scripts/run.sh', content: 'echo 1\n' });
  const edit = (files: readonly SkillFileEdit[], body?: string) =>
    opened.write('csv', { action: 'edit', content: skillText('csv', body), files });
  return { ...opened, edit, folder: join(opened.root, 'data/csv') };
}

const FILES: readonly SkillFileEdit[] = [
  { path: 'references/new.md', content: 'new\n' },
  { path: 'references/a.md', content: null },
  { path: 'scripts/run.sh', content: 'echo 2\n' },
];

describe('skill door: an edit with support files', () => {
  verifies(
    ['curator:apply:support-files', 'curator:rollback:restores'],
    'added, replaced and removed files are one version with SKILL.md, and one rollback restores all of it',
    async (context) => {
      const opened = await withFiles(context);
      const { folder, door } = opened;
      mkdirSync(join(folder, '.git'));
      writeFileSync(join(folder, '.git/HEAD'), 'hidden');
      mkdirSync(join(folder, 'assets'));
      symlinkSync('SKILL.md', join(folder, 'linked'));
      const before = listTree(folder).map((path) => [path, readFileSync(join(folder, path), 'utf8')]);
      const done = await opened.edit(FILES, 'See references/new.md.\n');
      assert.ok(done.ok, done.ok ? '' : done.detail);
      assert.equal(done.value.version, 4);
      assert.equal(done.value.newHash, sha256(skillText('csv', 'See references/new.md.\n')));
      assert.deepEqual(listTree(folder), ['.git/HEAD', 'SKILL.md', 'references/new.md', 'scripts/run.sh']);
      assert.equal(opened.read('data/csv/scripts/run.sh'), 'echo 2\n');
      assert.equal(readlinkSync(join(folder, 'linked')), 'SKILL.md');
      assert.ok(existsSync(join(folder, 'assets')), 'an empty folder stays');
      assert.deepEqual(
        ['.', 'references'].map((path) => statSync(join(folder, path)).mode & 0o777),
        [0o700, 0o700],
      );
      const manifest = JSON.parse(readFileSync(done.value.manifestPath, 'utf8'));
      assert.deepEqual(
        manifest.support_files.map((file: JsonObject) => [file.path, file.kind, file.sha256, file.original_sha256]),
        [
          ['references/a.md', 'removed', null, sha256('a\n')],
          ['references/new.md', 'added', sha256('new\n'), null],
          ['scripts/run.sh', 'replaced', sha256('echo 2\n'), sha256('echo 1\n')],
        ],
      );
      assert.equal((await door.diff('csv', { from: 3, to: 4 })).ok, true);
      const back = await door.rollback({ manifestPath: done.value.manifestPath });
      assert.ok(back.ok, back.ok ? '' : back.detail);
      assert.deepEqual(
        listTree(folder).map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
        before,
      );
      const again = await door.rollback({ skill: 'csv', version: back.value.version });
      assert.ok(again.ok, 'a rollback can be undone');
      assert.deepEqual(listTree(folder), ['.git/HEAD', 'SKILL.md', 'references/new.md', 'scripts/run.sh']);
      assert.deepEqual(listTree(join(opened.root, '.staging')), []);
    },
  );

  test('an executable file stays one', async (context) => {
    const opened = await withFiles(context);
    const script = join(opened.folder, 'scripts/run.sh');
    rmSync(script);
    writeFileSync(script, 'echo 1\n', { mode: 0o755 });
    assert.ok((await opened.edit(FILES, 'x\n')).ok);
    assert.equal(statSync(script).mode & 0o777, 0o700);
  });

  test('files alone are a change; nothing at all is none', async (context) => {
    const opened = await withFiles(context);
    const hash = sha256(skillText('csv'));
    const done = await opened.edit([{ path: 'references/a.md', content: 'b\n' }]);
    assert.ok(done.ok && done.value.newHash === hash);
    assert.equal(opened.read('data/csv/references/a.md'), 'b\n');
    await refused(opened, opened.edit([]), 'unchanged');
    await refused(opened, opened.edit([{ path: 'references/a.md', content: 'b\n' }]), 'unchanged');
    await refused(opened, opened.edit([{ path: 'references/gone.md', content: null }]), 'unchanged');
  });

  slow(
    'paths, sizes, keys and the guard count for every file; one bad file and nothing is written',
    async (context) => {
      const opened = await withFiles(context);
      const good: SkillFileEdit = { path: 'references/ok.md', content: 'ok' };
      for (const path of ['SKILL.md', 'a.md', 'references/../x', '/etc/x', 'references/.h', 'assets\\x'])
        await refused(opened, opened.edit([good, { path, content: 'x' }]), 'outside-folder');
      await refused(opened, opened.edit([good, { path: 'references/a.md/b.md', content: 'x' }]), 'outside-folder');
      await refused(opened, opened.edit([good, { ...good, content: 'other' }]), 'text-ambiguous');
      await refused(opened, opened.edit([good, { path: 'assets/x', content: 'x'.repeat(1_048_577) }]), 'too-large');
      await refused(
        opened,
        opened.edit([good, { path: 'references/k.md', content: `ghp_${'a1B2c3D4e5'.repeat(4)}` }]),
        'secret',
      );
      await refused(opened, opened.edit([good, { path: 'references/e.md', content: 'EVIL' }]), 'guard-asks');
      const many = Array.from({ length: 1_000 }, (_, i) => ({ path: `assets/${i}`, content: 'x' }));
      await refused(opened, opened.edit(many), 'too-large');
      symlinkSync(createTempHome(context).path, join(opened.folder, 'templates'));
      await refused(opened, opened.edit([good, { path: 'templates/x.md', content: 'x' }]), 'outside-folder');
      assert.ok(
        (
          await opened.edit([
            { path: 'references/a.md', content: null },
            { path: 'references/a.md/b', content: 'x' },
          ])
        ).ok,
      );
    },
  );

  test('the proposal holds the files: the same change can be read from it', async (context) => {
    const opened = await withFiles(context);
    const change: SkillChange = { action: 'edit', content: skillText('csv', 'x\n'), files: FILES };
    const done = await opened.write('csv', change);
    assert.ok(done.ok);
    const proposal = opened.ledger.get(done.value.proposalId);
    const read = readSkillChange(skillManageInput.parse(proposal?.change));
    assert.deepEqual(read, { ok: true, value: { name: 'csv', change } });
    const odd = readSkillChange(skillManageInput.parse({ ...argumentsOf(change), name: 'csv', files: [{ path: 1 }] }));
    assert.equal(odd.ok, false);
  });
});

function lies([first, ...others]: readonly JsonObject[]): readonly JsonObject[] {
  return [
    { original_sha256: sha256('lie') },
    { support_files: [] },
    { support_files: [{ ...first, path: '../../../escaped.md' }, ...others] },
    { support_files: [{ ...first, path: '/etc/passwd' }, ...others] },
    { support_files: [{ ...first, original_sha256: sha256('lie') }, ...others] },
    { support_files: [{ ...first }, ...others, { ...first, path: 'references/more.md' }] },
    { skill_name: 'other' },
    { folder: '../other' },
    { new_tree_sha256: null },
  ];
}

describe('skill door: a manifest that was edited by hand', () => {
  verifies(
    ['curator:rollback:backup-checked', 'curator:rollback:target-changed'],
    'restores nothing, forced or not, and nothing is changed',
    async (context) => {
      const opened = await withFiles(context);
      const done = await opened.edit(FILES, 'x\n');
      assert.ok(done.ok);
      const { manifestPath } = done.value;
      const text = readFileSync(manifestPath, 'utf8');
      const copy = join(manifestPath, '../support/references/a.md');
      const before = listTree(opened.root);
      const refuses = async (edited: string) => {
        writeFileSync(manifestPath, edited);
        for (const force of [false, true]) {
          const result = await opened.door.rollback({ manifestPath }, { force });
          assert.equal(result.ok || result.reason, 'manifest-changed', edited.slice(0, 200));
        }
      };
      for (const edit of lies(JSON.parse(text).support_files)) {
        if (JSON.stringify(edit).includes(sha256('lie'))) writeFileSync(copy, 'lie');
        await refuses(JSON.stringify({ ...JSON.parse(text), ...edit }));
        writeFileSync(copy, 'a\n');
      }
      for (const broken of ['', '{', '[]', 'null', '\0']) await refuses(broken);
      assert.deepEqual(listTree(opened.root), before);
      writeFileSync(manifestPath, text);
      writeFileSync(join(opened.folder, 'references/new.md'), 'by hand\n');
      const changed = await opened.door.rollback({ manifestPath });
      assert.equal(changed.ok || changed.reason, 'target-changed');
      assert.ok((await opened.door.rollback({ manifestPath }, { force: true })).ok);
      assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv'));
    },
  );
});

/** What a start finds half done: mended by hash, left to whoever has it in hand, never guessed. */

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
