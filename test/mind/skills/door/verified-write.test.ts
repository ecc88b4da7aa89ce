/** A curated write: approval, hash, backup, manifest, verifiers in order, and what happens when one of them says no. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { sha256 } from '#base/ids.ts';
import type { SkillGuard } from '#mind/skills/door/door-parts.ts';
import { commandVerifier } from '#mind/skills/door/verify/command-verifier.ts';
import type { Verifier } from '#mind/skills/door/verify/verifier.ts';
import type { SkillWrite } from '#mind/skills/skill-door.ts';
import { verifies } from '../../../verifies.ts';
import { open, refused } from './door-bench.ts';
import { listTree, skillText, wordGuard } from './open-door.ts';

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
