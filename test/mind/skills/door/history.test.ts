/** Versions of a skill: undoing one, by number and by manifest, and what differs between two. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createSkillRecords } from '#mind/skills/record/skill-records.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { open } from './door-bench.ts';
import { listTree, skillText } from './open-door.ts';

/** Three versions: made, patched, a file added. */
async function three(context: TestContext) {
  const opened = open(context);
  await opened.create('csv');
  await opened.write('csv', { action: 'patch', oldString: 'Step one.', newString: 'First.' });
  await opened.write('csv', { action: 'write_file', filePath: 'references/a.md', content: 'a\n' });
  return opened;
}

describe('skill door: rollback', () => {
  test('undoes the newest version, then the one before; each is a version with a parent', async (context) => {
    const opened = await three(context);
    const file = await opened.door.rollback({ skill: 'csv' });
    assert.ok(file.ok);
    assert.deepEqual(listTree(opened.root), ['data/csv/SKILL.md'], 'the support file is gone with it');
    const text = await opened.door.rollback({ skill: 'csv' });
    assert.ok(text.ok);
    assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv'));
    const versions = opened.door.versions('csv');
    assert.deepEqual(
      versions.map(({ version, parent, action, rolledBackAt }) => [
        version,
        parent,
        action,
        rolledBackAt !== undefined,
      ]),
      [
        [1, undefined, 'create', false],
        [2, 1, 'patch', true],
        [3, 2, 'write_file', true],
        [4, 3, 'rollback', false],
        [5, 4, 'rollback', false],
      ],
    );
    assert.match(readFileSync(versions[1]?.manifestPath ?? '', 'utf8'), /"rolled_back": true/);
    assert.equal(opened.ledger.get(text.value.proposalId)?.status, 'applied');
    const gone = await opened.door.rollback({ skill: 'csv' });
    assert.ok(gone.ok, 'the creation itself can be undone');
    assert.equal(gone.value.newHash, null);
    const none = await opened.door.rollback({ skill: 'csv' });
    assert.equal(none.ok ? '' : none.reason, 'nothing-to-undo');
  });

  test('by manifest; a second time the target is changed; force restores over an edit by hand', async (context) => {
    const opened = await three(context);
    const manifestPath = opened.door.versions('csv')[1]?.manifestPath ?? '';
    assert.ok((await opened.door.rollback({ manifestPath })).ok);
    assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv'));
    assert.equal(opened.read('data/csv/references/a.md'), 'a\n', 'what the version did not touch stays');
    const again = await opened.door.rollback({ manifestPath });
    assert.equal(again.ok ? '' : again.reason, 'target-changed');
    writeFileSync(join(opened.root, 'data/csv/SKILL.md'), 'by hand');
    const refused = await opened.door.rollback({ manifestPath });
    assert.equal(refused.ok ? '' : refused.reason, 'target-changed');
    assert.ok((await opened.door.rollback({ manifestPath }, { force: true })).ok);
    assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv'));
    const last = opened.door.versions('csv').length;
    assert.ok((await opened.door.rollback({ skill: 'csv', version: last })).ok, 'a rollback can be undone');
    assert.equal(opened.read('data/csv/SKILL.md'), 'by hand');
  });

  test('a deleted skill comes back whole, runnable scripts too', async (context) => {
    const opened = await three(context);
    const script = join(opened.root, 'data/csv/scripts/run.sh');
    mkdirSync(join(opened.root, 'data/csv/scripts'));
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
    await opened.write('csv', { action: 'delete' });
    assert.ok((await opened.door.rollback({ skill: 'csv' })).ok);
    assert.equal(statSync(script).mode & 0o777, 0o700);
    assert.equal(opened.read('data/csv/references/a.md'), 'a\n');
    assert.equal(createSkillRecords({ database: opened.database, root: opened.root }).get('csv')?.status, 'active');
    const again = await opened.door.rollback({ skill: 'csv', version: 4 }, { force: true });
    assert.equal(again.ok ? '' : again.reason, 'target-changed', 'never over a skill that stands there again');
  });

  test('a copy that is gone or was changed restores nothing', async (context) => {
    const opened = await three(context);
    const [, patched] = opened.door.versions('csv');
    const folder = join(patched?.manifestPath ?? '', '..');
    writeFileSync(join(folder, 'SKILL.md'), 'not what was copied');
    const changed = await opened.door.rollback({ skill: 'csv', version: 2 });
    assert.equal(changed.ok ? '' : changed.reason, 'backup-not-found');
    rmSync(folder, { recursive: true });
    const missing = await opened.door.rollback({ skill: 'csv', version: 2 }, { force: true });
    assert.equal(missing.ok ? '' : missing.reason, 'backup-not-found');
    const unknown = await opened.door.rollback({ skill: 'csv', version: 9 });
    assert.equal(unknown.ok ? '' : unknown.reason, 'no-such-version');
    const never = await opened.door.rollback({ skill: 'none' });
    assert.equal(never.ok ? '' : never.reason, 'nothing-to-undo');
  });
});

describe('skill door: diff', () => {
  test('any two versions, support files and hand edits included', async (context) => {
    const opened = await three(context);
    const diff = async (from: number, to: number) => {
      const made = await opened.door.diff('csv', { from, to });
      return made.ok ? made.value : made.reason;
    };
    assert.match(
      await diff(1, 2),
      /^--- a\/csv\/SKILL\.md\n\+\+\+ b\/csv\/SKILL\.md\n@@ .* @@\n(?:.*\n)*-Step one\.\n\+First\.\n/,
    );
    assert.match(await diff(2, 3), /--- \/dev\/null\n\+\+\+ b\/csv\/references\/a\.md\n@@ -0,0 \+1,1 @@\n\+a\n$/);
    assert.match(await diff(0, 1), /^--- \/dev\/null\n/);
    assert.match(await diff(3, 1), /-a\n$/);
    assert.equal(await diff(2, 2), '');
    assert.equal(await diff(1, 7), 'no-such-version');
    writeFileSync(join(opened.root, 'data/csv/SKILL.md'), skillText('csv', 'By hand.\n'));
    assert.match(await diff(2, 3), /\+By hand\./);
    await opened.write('csv', { action: 'delete' });
    assert.match(await diff(3, 4), /\+\+\+ \/dev\/null/);
  });
});

describe('skill door: install', () => {
  function outside(context: TestContext) {
    const from = createTempHome(context);
    from.write(
      'SKILL.md',
      skillText(
        'digest',
        'Do it.\n',
        'A description of more than sixty characters is fine for what comes from outside',
      ),
    );
    from.write('references/a.md', 'a');
    from.write('.git/config', 'hidden');
    return from;
  }

  test('takes the folder in whole, without hidden files, and can be undone', async (context) => {
    const opened = open(context);
    const from = outside(context);
    symlinkSync(join(from.path, 'references/a.md'), join(from.path, 'references/b.md'));
    const done = await opened.door.install({ from: from.path, category: 'news', source: 'community', approved: true });
    assert.ok(done.ok, done.ok ? '' : done.detail);
    assert.deepEqual(listTree(opened.root), [
      'news/digest/SKILL.md',
      'news/digest/references/a.md',
      'news/digest/references/b.md',
    ]);
    assert.equal(
      createSkillRecords({ database: opened.database, root: opened.root }).get('digest')?.createdBy,
      'install',
    );
    const twice = await opened.door.install({ from: from.path, source: 'community', approved: true });
    assert.equal(twice.ok ? '' : twice.reason, 'name-taken');
    const named = await opened.door.install({ from: from.path, name: 'other', source: 'import', approved: true });
    assert.ok(named.ok);
    assert.ok((await opened.door.rollback({ skill: 'digest' })).ok);
    assert.equal(
      createSkillRecords({ database: opened.database, root: opened.root }).get('other')?.createdBy,
      'import',
    );
  });

  test('under another name its header says that name, and nothing else is changed', async (context) => {
    const opened = open(context);
    const from = createTempHome(context);
    const text =
      '---\r\nname:  "digest" # ours\r\ndescription: A digest: of news\r\nversion: 1\r\n---\r\nname: stays\r\n';
    from.write('SKILL.md', text);
    const done = await opened.door.install({ from: from.path, name: 'second', source: 'community', approved: true });
    assert.ok(done.ok, done.ok ? '' : done.detail);
    const written = readFileSync(done.value.path, 'utf8');
    assert.equal(written, text.replace('name:  "digest" # ours', 'name: second'));
    from.write('SKILL.md', '---\nname:\n  digest\ndescription: A digest\n---\nDo it.\n');
    const odd = await opened.door.install({ from: from.path, name: 'third', source: 'community', approved: true });
    assert.deepEqual([odd.ok || odd.reason, existsSync(join(opened.root, 'third'))], ['invalid-skill', false]);
  });

  test('the guard looks at it by its source; force lifts a question and no refusal', async (context) => {
    const opened = open(context);
    const from = outside(context);
    const install = async (source: 'trusted' | 'community', force = false) => {
      const done = await opened.door.install({ from: from.path, source, approved: true, force });
      return done.ok ? 'ok' : done.reason;
    };
    from.write('scripts/x.sh', 'ODD');
    assert.equal(await install('community'), 'guard-asks');
    from.write('scripts/x.sh', 'EVIL');
    assert.equal(await install('community', true), 'guard-refused');
    assert.equal(await install('trusted', true), 'guard-refused');
    from.write('scripts/x.sh', 'ODD');
    assert.equal(await install('community', true), 'ok');
  });

  test('what is no skill, leads out, or is too large is refused', async (context) => {
    const opened = open(context);
    const from = outside(context);
    const reason = async (path = from.path, approved = true) => {
      const done = await opened.door.install({ from: path, source: 'community', approved });
      assert.deepEqual(listTree(opened.root), []);
      return done.ok ? 'ok' : done.reason;
    };
    assert.equal(await reason(join(from.path, 'none')), 'target-not-found');
    assert.equal(await reason(join(from.path, 'references')), 'invalid-skill');
    assert.equal(await reason(from.path, false), 'approval-required');
    symlinkSync('/etc/hostname', join(from.path, 'references/host.md'));
    assert.equal(await reason(), 'outside-folder');
    rmSync(join(from.path, 'references/host.md'));
    from.write('assets/big.bin', 'x'.repeat(1_048_577));
    assert.equal(await reason(), 'too-large');
  });
});
