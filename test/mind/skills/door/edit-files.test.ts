/** An edit with its support files: one version, one undo, and what is no part of the skill stays. */
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
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { sha256 } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { argumentsOf } from '#mind/skills/door/change-arguments.ts';
import type { SkillChange, SkillFileEdit } from '#mind/skills/skill-door.ts';
import { readSkillChange, skillManageInput } from '#mind/skills/tools/skill-manage-input.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { open, refused } from './door-bench.ts';
import { listTree, skillText } from './open-door.ts';

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

  test('paths, sizes, keys and the guard count for every file; one bad file and nothing is written', async (context) => {
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
  });

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
