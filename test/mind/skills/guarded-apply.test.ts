/** The guarded write: wholly old or wholly new, and the verifiers that have the last word. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { sha256 } from '#base/ids.ts';
import type { SkillGuard } from '#mind/skills/door/door-parts.ts';
import { commandVerifier } from '#mind/skills/door/verify.ts';
import type { SkillWrite, Verifier } from '#mind/skills/skill.ts';
import { createSkillRecords } from '#mind/skills/skill-records.ts';
import { verifies } from '../../verifies.ts';
import { listTree, open, refused, skillText, wordGuard } from './skill-bench.ts';

/** The door for skill text: what it writes, what text it refuses, and the trace that each leaves. */

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

  verifies.slow(
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

/** A curated write: approval, hash, backup, manifest, verifiers in order, and what happens when one of them says no. */

async function curated(context: TestContext, doors: readonly Verifier[] = [], guard: SkillGuard = wordGuard) {
  const opened = open(context, { verifiers: doors, guard, bare: true });
  const { newHash, folder } = await opened.create('csv');
  const before = skillText('csv');
  const change = {
    action: 'edit',
    content: skillText('csv', 'Better.\n'),
    files: [{ path: 'references/b.md', content: 'b\n' }],
  } as const;
  const write = (more: Partial<SkillWrite> = {}) =>
    opened.write('csv', change, { actor: 'curator', expectedHash: newHash ?? '', ...more });
  return { ...opened, curate: write, folder, before, change };
}

const says = (name: string, passed: boolean, asked: string[] = []): Verifier => ({
  name,
  verify: async () => ({ passed: asked.push(name) > 0 && passed, detail: `${name} speaks` }),
});

describe('skill door: a curated write', () => {
  verifies(
    ['curator:apply:approval-required', 'curator:apply:hash-mismatch-refuses'],
    'is refused without approval, without a hash and with another hash; nothing is touched',
    async (context) => {
      const opened = await curated(context);
      const backups = listTree(opened.backups);
      await refused(opened, opened.curate({ approved: false }), 'approval-required');
      await refused(opened, opened.curate({ expectedHash: sha256('another') }), 'hash-mismatch');
      await refused(opened, opened.write('csv', opened.change, { actor: 'curator' }), 'hash-mismatch');
      writeFileSync(join(opened.folder, 'SKILL.md'), skillText('csv', 'By hand.\n'));
      await refused(opened, opened.curate(), 'hash-mismatch');
      assert.equal(opened.read('data/csv/SKILL.md'), skillText('csv', 'By hand.\n'));
      assert.deepEqual(listTree(opened.backups), backups);
    },
  );

  verifies(
    ['curator:apply:backup', 'curator:apply:manifest', 'curator:verify:order', 'curator:verify:top-level'],
    'asks the door, then the caller, and keeps a backup and a manifest that say everything',
    async (context) => {
      const asked: string[] = [];
      const opened = await curated(context, [says('of-the-door', true, asked)]);
      asked.length = 0;
      const scheduler = { service_path: '/units/a.service', timer_path: '/units/a.timer' };
      const done = await opened.curate({
        verifiers: [says('structural', true, asked), says('verify-command', true, asked)],
        trail: { source: 'local-agent-created', evidencePath: '/data/evidence.sqlite', scheduler },
      });
      assert.ok(done.ok, done.ok ? '' : done.detail);
      assert.deepEqual(asked, ['of-the-door', 'structural', 'verify-command']);
      const manifest = JSON.parse(readFileSync(done.value.manifestPath, 'utf8'));
      assert.deepEqual(manifest.provenance, { skill_name: 'csv', source: 'local-agent-created', writable: true });
      assert.deepEqual(manifest.evidence, { db_path: '/data/evidence.sqlite' });
      assert.deepEqual(manifest.scheduler, scheduler);
      assert.deepEqual(manifest.verify, done.value.verify);
      assert.deepEqual(
        [manifest.verify.enabled, manifest.verify.passed, manifest.verify.exit_code, manifest.verify.output],
        [true, true, 0, 'verify-command speaks'],
      );
      assert.deepEqual(
        manifest.verify.stages.map(({ name }: { name: string }) => name),
        asked,
      );
      assert.equal(readFileSync(manifest.backup_path, 'utf8'), opened.before);
      assert.deepEqual(
        [manifest.original_sha256, manifest.new_sha256],
        [sha256(opened.before), sha256(opened.change.content)],
      );
      assert.equal(manifest.rolled_back, false);
    },
  );

  test('without verifiers the result says nothing of them', async (context) => {
    const done = await (await curated(context)).curate();
    assert.ok(done.ok);
    assert.equal('verify' in done.value, false);
  });

  verifies(
    ['curator:verify:rollback', 'curator:verify:order'],
    'a failed verifier ends the asking and puts everything back; refusal and manifest say which stage',
    async (context) => {
      const asked: string[] = [];
      const opened = await curated(context);
      const work = opened.curate({
        verifiers: [says('first', true, asked), says('second', false, asked), says('third', true, asked)],
      });
      assert.match(await refused(opened, work, 'verify-failed'), /second: second speaks/);
      const refusal = await work;
      assert.ok(!refusal.ok);
      assert.deepEqual(asked, ['first', 'second']);
      assert.deepEqual(listTree(opened.folder), ['SKILL.md']);
      assert.equal(refusal.verify?.failed_stage, 'second');
      assert.deepEqual([refusal.verify?.passed, refusal.verify?.exit_code], [false, 1]);
      const manifest = JSON.parse(readFileSync(refusal.manifestPath ?? '', 'utf8'));
      assert.deepEqual(
        [manifest.rolled_back, manifest.rollback_reason, manifest.rollback_failed_stage, manifest.verify.passed],
        [true, 'verify-failed', 'second', false],
      );
      assert.equal(opened.door.versions('csv').length, 1);
      assert.deepEqual(await opened.door.reconcile(), []);
    },
  );

  verifies(
    ['curator:verify:environment', 'curator:verify:rollback'],
    'a command that fails, hangs or kills itself puts everything back, with its exit code',
    async (context) => {
      const opened = await curated(context);
      const command = (text: string, timeoutMs = 60_000) =>
        commandVerifier({ name: 'verify-command', command: text, timeoutMs });
      const cases = [
        ['echo bad; exit 7', 7],
        ['sleep 30', 124],
        ['kill -9 $$', 137],
      ] as const;
      for (const [text, exitCode] of cases) {
        const refusal = await opened.curate({ verifiers: [command(text, exitCode === 124 ? 300 : undefined)] });
        assert.ok(!refusal.ok);
        assert.deepEqual([refusal.reason, refusal.verify?.exit_code], ['verify-failed', exitCode], text);
        assert.deepEqual(listTree(opened.folder), ['SKILL.md']);
        assert.equal(opened.read('data/csv/SKILL.md'), opened.before);
      }
      const holds =
        'grep -q Better "$HERMES_CURATOR_TARGET_PATH" && grep -q "Step one" "$HERMES_CURATOR_BACKUP_PATH" && ' +
        'test -f "$HERMES_CURATOR_MANIFEST_PATH" && test -f references/b.md';
      const done = await opened.curate({ verifiers: [command(holds)] });
      assert.ok(done.ok, done.ok ? '' : done.detail);
    },
  );
});

describe('skill door: a write that is disturbed', () => {
  test('a verifier with a bug: the write is taken back, and the error leaves', async (context) => {
    const opened = await curated(context);
    const backups = listTree(opened.backups);
    const buggy: Verifier = { name: 'buggy', verify: () => Promise.reject(new Error('a bug')) };
    await assert.rejects(opened.curate({ verifiers: [buggy] }), /a bug; nothing was changed/);
    assert.deepEqual(listTree(opened.folder), ['SKILL.md']);
    assert.equal(opened.read('data/csv/SKILL.md'), opened.before);
    assert.deepEqual(listTree(opened.backups), backups);
    assert.equal(opened.ledger.list({ kind: 'skill' })[0]?.status, 'dropped');
  });

  for (const [what, disturb] of [
    ['SKILL.md is edited', (folder: string) => writeFileSync(join(folder, 'SKILL.md'), skillText('csv', 'By hand.\n'))],
    ['a support file comes', (folder: string) => writeFileSync(join(folder, 'mine.md'), 'mine')],
    ['the folder goes', (folder: string) => rmSync(folder, { recursive: true })],
  ] as const)
    verifies(
      'curator:apply:hash-mismatch-refuses',
      `${what} between reading and writing: nothing is written`,
      async (context) => {
        let before = (): void => undefined;
        const scan: typeof wordGuard.scan = (files) => {
          before();
          return wordGuard.scan(files);
        };
        const opened = await curated(context, [], { ...wordGuard, scan });
        before = () => disturb(opened.folder);
        const refusal = await opened.curate();
        assert.equal(refusal.ok || refusal.reason, 'hash-mismatch');
        const rest = listTree(opened.root);
        assert.ok(!rest.some((path) => path.startsWith('.staging') || path.includes('references')), rest.join());
        assert.equal(listTree(opened.backups).filter((path) => path.endsWith('manifest.json')).length, 1);
      },
    );
});

describe('skill door: a verifier that writes into the skill', () => {
  const writing = (command: string) => commandVerifier({ name: 'verify-command', command });

  for (const [what, command] of [
    ['adds a file', 'echo x > references/x.md'],
    ['edits SKILL.md', 'echo x >> SKILL.md'],
    ['edits a file in place that did not change', 'echo x >> scripts/same.sh'],
    ['takes the folder away', 'rm -rf "$PWD"'],
  ] as const)
    test(`${what}: the write is taken back whole, and what it made is in the archive`, async (context) => {
      const opened = await curated(context);
      await opened.write('csv', { action: 'write_file', filePath: 'scripts/same.sh', content: 'same\n' });
      const before = listTree(opened.folder).map((path) => [path, opened.read(`data/csv/${path}`)]);
      const refusal = await opened.curate({ verifiers: [writing(command)] });
      assert.ok(!refusal.ok);
      assert.equal(refusal.reason, 'verify-failed');
      assert.match(refusal.detail, /folder-unchanged: the skill was changed while it was checked: /);
      assert.equal(refusal.verify?.failed_stage, 'folder-unchanged');
      assert.deepEqual(
        listTree(opened.folder).map((path) => [path, opened.read(`data/csv/${path}`)]),
        before,
      );
      const archived = listTree(join(opened.root, '.archive'));
      assert.equal(archived.length > 0, !command.startsWith('rm'), archived.join());
      assert.equal(opened.ledger.get(refusal.proposalId ?? '')?.status, 'refused');
    });

  test('a new skill that is written into goes, and its traces are in the archive', async (context) => {
    const opened = open(context, { bare: true });
    const change = { action: 'create', content: skillText('new') } as const;
    const refusal = await opened.write('new', change, { verifiers: [writing('echo x > x.md')] });
    assert.equal(refusal.ok || refusal.reason, 'verify-failed');
    assert.deepEqual(
      listTree(opened.root).map((path) => path.replace(/\d{8}T\d+Z/, 'STAMP')),
      ['.archive/STAMP/new/SKILL.md', '.archive/STAMP/new/x.md'],
    );
  });

  test("a hidden file is nobody's version", async (context) => {
    const opened = await curated(context);
    assert.ok((await opened.curate({ verifiers: [writing('echo x > .cache')] })).ok);
    rmSync(join(opened.folder, '.cache'));
  });
});

describe('skill door: an edit made while a verifier runs that ends badly', () => {
  test('is kept too when the verifier has a bug, and the error says where', async (context) => {
    const opened = await curated(context);
    const text = skillText('csv', 'By hand.\n');
    const buggy: Verifier = {
      name: 'buggy',
      verify: ({ path }) => {
        writeFileSync(join(path, 'SKILL.md'), text);
        return Promise.reject(new Error('a bug'));
      },
    };
    await assert.rejects(
      opened.curate({ verifiers: [buggy] }),
      /a bug; what stood there then is kept in .*\.archive.*csv$/,
    );
    assert.equal(opened.read('data/csv/SKILL.md'), opened.before);
    const kept = listTree(opened.root).filter((path) => path.startsWith('.archive') && path.endsWith('SKILL.md'));
    assert.deepEqual(kept.map(opened.read), [text]);
  });
});
