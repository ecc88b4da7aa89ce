/** The door for skill text: what it writes, what text it refuses, and the trace that each leaves. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { createSkillRecords } from '#mind/skills/record/skill-records.ts';
import { verifies } from '../../../verifies.ts';
import { open, refused } from './door-bench.ts';
import { listTree, skillText } from './open-door.ts';

describe('skill door: writing', () => {
  verifies(
    'core:skills:create',
    'create makes a private folder below its category, with a version and provenance',
    async (context) => {
      const opened = open(context);
      const made = await opened.create('csv-import');
      assert.equal(opened.read('data/csv-import/SKILL.md'), skillText('csv-import'));
      assert.equal(made.newHash, sha256(skillText('csv-import')));
      assert.equal(made.version, 1);
      assert.equal(statSync(made.folder).mode & 0o777, 0o700);
      assert.equal(statSync(made.path).mode & 0o777, 0o600);
      assert.deepEqual(listTree(opened.root), ['data/csv-import/SKILL.md']);
      assert.equal(opened.ledger.get(made.proposalId)?.status, 'applied');
      const [why] = opened.ledger.why({ kind: 'skill', target: 'csv-import', key: '1' });
      assert.equal(why?.proposal.id, made.proposalId);
      const record = createSkillRecords({ database: opened.database, root: opened.root }).get('csv-import');
      assert.equal(record?.createdBy, 'agent');
      assert.equal(record?.version, 1);
    },
  );

  verifies(
    'core:skills:create',
    'create refuses front matter that is missing, broken, of another name, or code',
    async (context) => {
      const opened = open(context);
      const make = (content: string) => opened.write('csv', { action: 'create', content });
      await refused(opened, make('# no front matter\n'), 'invalid-skill');
      await refused(opened, make('---\nname: csv\n---\nbody\n'), 'invalid-skill');
      await refused(opened, make('---\nname: other\ndescription: d\n---\nbody\n'), 'invalid-skill');
      await refused(opened, make('---js\nmodule.exports = { name: "csv" }\n---\nbody\n'), 'invalid-skill');
      await refused(opened, make('---\nname: csv\ndescription: [unclosed\n---\nbody\n'), 'invalid-skill');
      await refused(opened, make(skillText('csv', 'x\n', 'd'.repeat(61))), 'description-too-long');
      assert.equal((await make(skillText('csv', 'x\n', 'd'.repeat(60)))).ok, true);
      await refused(opened, make(skillText('csv')), 'name-taken');
    },
  );

  test('names and categories that leave the folder or are not ours are refused', async (context) => {
    const opened = open(context);
    for (const name of ['../up', 'Upper', 'a/b', '.hidden', '', 'a'.repeat(65), 'nul\0'])
      await refused(opened, opened.write(name, { action: 'create', content: skillText(name) }), 'invalid-name');
    for (const category of ['..', '../x', '/abs', 'a//b', '.git', 'a/b/c/d'])
      await refused(
        opened,
        opened.write('ok', { action: 'create', content: skillText('ok'), category }),
        'invalid-name',
      );
  });

  verifies(
    'core:skills:patch',
    'patch replaces text in SKILL.md and in a named file, and leaves the rest',
    async (context) => {
      const opened = open(context);
      await opened.create('csv');
      const done = await opened.write('csv', { action: 'patch', oldString: 'Step two.', newString: 'Step 2: check.' });
      assert.ok(done.ok);
      assert.equal(done.value.version, 2);
      assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv', 'Step one.\nStep 2: check.\n'));
      await opened.write('csv', { action: 'write_file', filePath: 'references/api.md', content: 'old words\n' });
      const file = { action: 'patch', oldString: 'old', newString: 'new', filePath: 'references/api.md' } as const;
      assert.ok((await opened.write('csv', file)).ok);
      assert.equal(opened.read('data/csv/references/api.md'), 'new words\n');
      assert.match(
        await refused(opened, opened.write('csv', { ...file, filePath: 'references/no.md' }), 'target-not-found'),
        /no\.md/,
      );
    },
  );

  verifies(
    'core:skills:patch-unique',
    'text that is absent or occurs twice is refused; replace_all takes all; blanks are forgiven',
    async (context) => {
      const opened = open(context);
      await opened.create('csv', 'run it\nrun it\n  - deep item\n');
      const patch = (oldString: string, newString: string, replaceAll = false) =>
        opened.write('csv', { action: 'patch', oldString, newString, replaceAll });
      assert.match(await refused(opened, patch('run it', 'do it'), 'text-ambiguous'), /2 times/);
      assert.match(await refused(opened, patch('rum it', 'do it'), 'text-not-found'), /Nearest/);
      await refused(opened, patch('', 'x'), 'text-not-found');
      await refused(opened, patch('run it', 'run it'), 'unchanged');
      assert.ok((await patch('run it', 'do it', true)).ok);
      assert.ok((await patch('- deep item\n', '- other item\n')).ok);
      assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv', 'do it\ndo it\n  - other item\n'));
    },
  );

  verifies(
    'core:skills:edit',
    'edit replaces the whole SKILL.md, keeps the name, and says when nothing changes',
    async (context) => {
      const opened = open(context);
      await opened.create('csv');
      const text = skillText(
        'csv',
        'All new.\n',
        'A longer description than a new skill may have, since the owner may write one',
      );
      assert.ok((await opened.write('csv', { action: 'edit', content: text })).ok);
      assert.equal(opened.read('data/csv/SKILL.md'), text);
      await refused(opened, opened.write('csv', { action: 'edit', content: text }), 'unchanged');
      await refused(opened, opened.write('csv', { action: 'edit', content: skillText('other') }), 'invalid-skill');
      await refused(opened, opened.write('none', { action: 'edit', content: text }), 'target-not-found');
    },
  );

  verifies('core:skills:delete', 'delete takes the folder away into the archive', async (context) => {
    const opened = open(context);
    await opened.create('csv');
    await opened.write('csv', { action: 'write_file', filePath: 'scripts/a.sh', content: 'echo a\n' });
    const gone = await opened.write('csv', { action: 'delete' });
    assert.ok(gone.ok);
    assert.equal(gone.value.newHash, null);
    const left = listTree(opened.root);
    assert.equal(left.length, 2);
    for (const path of left) assert.match(path, /^\.archive\/\d{8}T\d+Z\/data\/csv\/(?:SKILL\.md|scripts\/a\.sh)$/);
    const record = createSkillRecords({ database: opened.database, root: opened.root }).get('csv');
    assert.equal(record?.status, 'retired');
  });

  verifies(
    'core:skills:write-file',
    'write_file adds and replaces files in the four sub-folders only',
    async (context) => {
      const opened = open(context);
      await opened.create('csv');
      const put = (filePath: string, content = 'x\n') =>
        opened.write('csv', { action: 'write_file', filePath, content });
      for (const folder of ['references', 'templates', 'scripts', 'assets'])
        assert.ok((await put(`${folder}/deep/a.md`)).ok);
      assert.ok((await put('references/deep/a.md', 'y\n')).ok);
      assert.equal(opened.read('data/csv/references/deep/a.md'), 'y\n');
      for (const bad of [
        'SKILL.md',
        'a.md',
        'other/a.md',
        'references',
        'references/',
        'references/../SKILL.md',
        '/etc/x',
        'references/.h',
        'references//a',
        'scripts\\a',
        'references/a\nb',
      ])
        await refused(opened, put(bad), 'outside-folder');
      await refused(opened, put('assets/big.txt', 'x'.repeat(1_048_577)), 'too-large');
      assert.ok((await put('assets/big.txt', 'x'.repeat(1_048_576))).ok);
    },
  );

  verifies('core:skills:remove-file', 'remove_file removes one supporting file and nothing else', async (context) => {
    const opened = open(context);
    await opened.create('csv');
    await opened.write('csv', { action: 'write_file', filePath: 'references/a.md', content: 'a' });
    await opened.write('csv', { action: 'write_file', filePath: 'references/b.md', content: 'b' });
    assert.ok((await opened.write('csv', { action: 'remove_file', filePath: 'references/a.md' })).ok);
    assert.deepEqual(listTree(opened.root), ['data/csv/SKILL.md', 'data/csv/references/b.md']);
    await refused(
      opened,
      opened.write('csv', { action: 'remove_file', filePath: 'references/a.md' }),
      'target-not-found',
    );
    await refused(opened, opened.write('csv', { action: 'remove_file', filePath: 'SKILL.md' }), 'outside-folder');
  });

  verifies(
    'core:skills:size-limit',
    'a SKILL.md over 100,000 characters is refused, by create, edit and patch',
    async (context) => {
      const opened = open(context);
      const fit = (size: number) => skillText('csv', 'x'.repeat(size - skillText('csv', '').length));
      await refused(opened, opened.write('csv', { action: 'create', content: fit(100_001) }), 'too-large');
      assert.ok((await opened.write('csv', { action: 'create', content: fit(100_000) })).ok);
      await refused(opened, opened.write('csv', { action: 'edit', content: `${fit(100_000)}x` }), 'too-large');
      await refused(
        opened,
        opened.write('csv', { action: 'patch', oldString: '# csv', newString: '# csv!' }),
        'too-large',
      );
    },
  );

  test('a file that is not UTF-8 is not patched, and can be replaced whole', async (context) => {
    const opened = open(context);
    await opened.create('csv');
    writeFileSync(join(opened.root, 'data/csv/SKILL.md'), Buffer.from([0x2d, 0x2d, 0x2d, 0xff, 0xfe, 0x0a]));
    await refused(opened, opened.write('csv', { action: 'patch', oldString: '-', newString: 'x' }), 'invalid-skill');
    assert.ok((await opened.write('csv', { action: 'edit', content: skillText('csv') })).ok);
  });

  test('a patch of a skill that was broken before is not refused for that, and may not break more', async (context) => {
    const opened = open(context);
    mkdirSync(join(opened.root, 'odd'), { recursive: true });
    writeFileSync(join(opened.root, 'odd/SKILL.md'), '---\nname: odd\n---\nNo description.\n');
    assert.ok((await opened.write('odd', { action: 'patch', oldString: 'No', newString: 'Still no' })).ok);
    await refused(
      opened,
      opened.write('odd', { action: 'patch', oldString: 'name: odd\n', newString: '' }),
      'invalid-skill',
    );
  });
});

describe('skill door: manifest', () => {
  test('has the fields of its format, and a copy of what was there', async (context) => {
    const opened = open(context);
    await opened.create('csv');
    const done = await opened.write('csv', { action: 'write_file', filePath: 'references/a.md', content: 'a' });
    assert.ok(done.ok);
    const text = readFileSync(done.value.manifestPath, 'utf8');
    const manifest = JSON.parse(text) as Record<string, unknown>;
    assert.deepEqual(Object.keys(manifest), Object.keys(manifest).sort());
    assert.equal(manifest.schema_version, '0.6');
    assert.equal(manifest.skill_name, 'csv');
    assert.equal(manifest.target_path, join(opened.root, 'data/csv/SKILL.md'));
    assert.equal(manifest.original_sha256, sha256(skillText('csv')));
    assert.equal(manifest.new_sha256, sha256(skillText('csv')));
    assert.equal(manifest.rolled_back, false);
    assert.deepEqual(manifest.verify, { enabled: false, exit_code: 0, output: '', passed: true });
    assert.deepEqual(manifest.provenance, { skill_name: 'csv', source: 'agent', writable: true });
    assert.deepEqual(manifest.evidence, { db_path: join(opened.home, 'state.db') });
    assert.deepEqual(manifest.scheduler, {});
    const [file] = manifest.support_files as readonly Record<string, unknown>[];
    assert.equal(file?.path, 'references/a.md');
    assert.equal(file?.sha256, sha256('a'));
    assert.equal(readFileSync(String(manifest.backup_path), 'utf8'), skillText('csv'));
  });
});
