/** Versions of a skill: undone, compared, and drilled. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { sha256 } from '#base/ids.ts';
import { type DrillOptions, type DrillReport, runRestoreDrill } from '#mind/skills/door/restore-drill.ts';
import { createSkillRecords } from '#mind/skills/skill-records.ts';
import type { JsonObject } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import { listTree, open, skillText } from './skill-bench.ts';

/** Versions of a skill: undoing one, by number and by manifest, and what differs between two. */

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

/** The restore drill: its checks, its verdict, and manifests that lie. Live files are the same before and after each. */

/** Every file below a folder with its content, and nothing else. */
function snapshot(folder: string): readonly (readonly [string, string])[] {
  return listTree(folder).map((path) => [path, sha256(readFileSync(join(folder, path)))]);
}

function drilling(context: TestContext, manifestPath: string, live: string) {
  const temp = createTempHome(context);
  const clock = createManualClock();
  return async (more: Partial<DrillOptions> = {}): Promise<DrillReport> => {
    const before = snapshot(live);
    const report = await runRestoreDrill({ manifestPath, clock, tempRoot: temp.path, ...more });
    assert.deepEqual(snapshot(live), before, 'a live file was touched');
    return report;
  };
}

/** A manifest of the door: an edit with a file added, one replaced and one removed. */
async function drilled(context: TestContext) {
  const opened = open(context, { bare: true });
  await opened.create('csv');
  for (const path of ['references/a.md', 'scripts/run.sh'])
    await opened.write('csv', { action: 'write_file', filePath: path, content: `${path}\n` });
  const home = createTempHome(context);
  const timer = home.write('units/curator.timer', '');
  const done = await opened.write(
    'csv',
    {
      action: 'edit',
      content: skillText('csv', 'Better.\n'),
      files: [
        { path: 'references/a.md', content: null },
        { path: 'references/new.md', content: 'new' },
        { path: 'scripts/run.sh', content: 'other\n' },
      ],
    },
    { trail: { source: 'local-agent-created', scheduler: { timer_path: timer } } },
  );
  assert.ok(done.ok);
  const { manifestPath } = done.value;
  const edit = (change: JsonObject) =>
    writeFileSync(manifestPath, JSON.stringify({ ...JSON.parse(readFileSync(manifestPath, 'utf8')), ...change }));
  const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
  return { ...opened, manifestPath, manifest, timer, edit, drill: drilling(context, manifestPath, opened.home) };
}

const statuses = ({ checks }: DrillReport) => Object.fromEntries(checks.map((check) => [check.name, check.status]));
const reasonOf = ({ checks }: DrillReport, name: string) => checks.find((check) => check.name === name)?.reason;

/** A manifest as the original writes it: its support copies are of what was written. */
function upstreamManifest(home: TempHome): { readonly path: string; edit(change: JsonObject): void } {
  const backup = home.write('backups/20260514T101502123000Z/SKILL.md', 'old');
  const support = home.write('backups/20260514T101502123000Z/support/references/auto.md', 'rows');
  const database = join(home.path, 'evidence.sqlite');
  openDatabase(database, { rooms: [{ room: 'test', steps: ['CREATE TABLE t(a)'] }] }).database.close();
  const manifest: JsonObject = {
    schema_version: '0.6',
    target_path: join(home.path, 'skills/csv/SKILL.md'),
    backup_path: backup,
    original_sha256: sha256('old'),
    new_sha256: sha256('new'),
    provenance: { skill_name: 'csv', source: 'local-agent-created', writable: true },
    evidence: { db_path: database },
    scheduler: {},
    support_files: [
      { path: 'references/auto.md', kind: 'reference-spillover', sha256: sha256('rows'), backup_path: support },
    ],
  };
  const path = join(dirname(backup), 'manifest.json');
  const edit = (change: JsonObject) => writeFileSync(path, JSON.stringify({ ...manifest, ...change }));
  edit({});
  return { path, edit };
}

describe('restore drill', () => {
  verifies(
    ['curator:drill:no-live-files', 'curator:drill:checks'],
    'restores SKILL.md and support files into a folder apart, checks the rest, and touches nothing else',
    async (context) => {
      const { drill, manifestPath, manifest } = await drilled(context);
      const report = await drill();
      assert.deepEqual(statuses(report), {
        'target-recovery': 'pass',
        'support-files-recovery': 'pass',
        'evidence-references': 'pass',
        'provenance-metadata': 'pass',
        'scheduler-references': 'pass',
      });
      assert.deepEqual([report.status, report.schema_version, report.manifest_path], ['pass', '0.1', manifestPath]);
      assert.deepEqual([report.warnings, report.errors], [[], []]);
      const target = report.drill_target ?? '';
      assert.match(target, /\/hermes-curator-evolver-drill-\w+$/);
      assert.deepEqual(listTree(target), [
        'SKILL.md',
        'references/a.md',
        'restore-drill-report.json',
        'scripts/run.sh',
      ]);
      assert.equal(sha256(readFileSync(report.restored_target ?? '')), manifest.original_sha256);
      assert.equal(readFileSync(join(target, 'scripts/run.sh'), 'utf8'), 'scripts/run.sh\n');
      assert.deepEqual(JSON.parse(readFileSync(report.report_path ?? '', 'utf8')), report);
    },
  );

  test('a manifest of the original is drilled too, and is not opened where it would leave a log', async (context) => {
    const home = createTempHome(context);
    const { path } = upstreamManifest(home);
    const report = await drilling(context, path, home.path)();
    assert.equal(report.status, 'pass', JSON.stringify(report.checks));
    assert.equal(statuses(report)['scheduler-references'], 'skipped');
    assert.equal(readFileSync(join(report.drill_target ?? '', 'references/auto.md'), 'utf8'), 'rows');
    assert.deepEqual(readdirSync(report.drill_target ?? '').sort(), [
      'SKILL.md',
      'references',
      'restore-drill-report.json',
    ]);
  });

  verifies.slow(
    'curator:drill:checks',
    'a copy that is gone, changed or elsewhere fails, with its reason',
    async (context) => {
      const { drill, edit, manifestPath, manifest } = await drilled(context);
      const copy = join(dirname(manifestPath), 'SKILL.md');
      const target = async () => {
        const report = await drill();
        assert.deepEqual([report.status, report.restored_target], ['fail', null]);
        const reason = reasonOf(report, 'target-recovery');
        assert.deepEqual(report.errors, [`target-recovery:${reason}`]);
        return reason;
      };
      writeFileSync(copy, 'changed');
      assert.equal(await target(), 'sha256-mismatch');
      rmSync(copy);
      assert.equal(await target(), 'backup-missing');
      mkdirSync(copy);
      assert.equal(await target(), 'backup-missing');
      rmSync(copy, { recursive: true });
      symlinkSync('/etc/hostname', copy);
      assert.equal(await target(), 'backup-outside-folder');
      for (const backup_path of [
        '/etc/passwd',
        '/dev/zero',
        `${dirname(manifestPath)}/../SKILL.md`,
        'a\0b',
        '/'.repeat(9_000),
      ]) {
        edit({ backup_path });
        assert.equal(await target(), 'backup-outside-folder', backup_path.slice(0, 50));
      }
      edit({ backup_path: null });
      assert.equal(await target(), 'manifest-missing-backup-path');
      rmSync(copy);
      writeFileSync(copy, '');
      truncateSync(copy, 65 * 1_048_576);
      edit({ backup_path: manifest.backup_path });
      assert.equal(await target(), 'backup-too-large');
    },
  );

  test('support entries: what is malformed warns, what cannot be restored fails', async (context) => {
    const { drill, edit, manifest } = await drilled(context);
    const [first, second, third] = manifest.support_files;
    const check = async (support_files: JsonObject[string]) => {
      edit({ support_files: support_files ?? null });
      const report = await drill();
      return [report.status, reasonOf(report, 'support-files-recovery')];
    };
    assert.deepEqual(await check([]), ['pass', null]);
    assert.deepEqual(await check(null), ['pass', null]);
    assert.deepEqual(await check('odd'), ['partial', 'warned-entries:1']);
    const odd = ['text', 7, {}, { ...first, path: '/abs' }, { ...first, path: 'a/../../b' }, { ...first, path: '' }];
    assert.deepEqual(await check([...odd, second]), ['partial', 'warned-entries:6']);
    assert.deepEqual(await check([{ ...first, backup_path: null }]), ['partial', 'warned-entries:1']);
    const taken = ['SKILL.md', 'restore-drill-report.json'].map((path) => ({ ...first, path }));
    assert.deepEqual(await check(taken), ['partial', 'warned-entries:2']);
    assert.deepEqual(await check([{ ...first, original_sha256: 'f'.repeat(64) }, third]), ['fail', 'failed-entries:1']);
    assert.deepEqual(await check([{ ...first, backup_path: '/etc/passwd' }]), ['fail', 'failed-entries:1']);
    assert.deepEqual(await check([first, { ...third, path: `${first.path}/b` }]), ['fail', 'failed-entries:1']);
    assert.deepEqual(await check(Array.from({ length: 1_001 }, () => first)), ['fail', 'failed-entries:1001']);
    rmSync(first.backup_path);
    assert.deepEqual(await check([first, third, 1]), ['fail', 'failed-entries:1']);
  });

  test('evidence: each way of not being readable', async (context) => {
    const { drill, edit, home } = await drilled(context);
    const at = createTempHome(context);
    const check = async (evidence: JsonObject[string]) => {
      edit({ evidence: evidence ?? null });
      const report = await drill();
      return [report.status, statuses(report)['evidence-references'], reasonOf(report, 'evidence-references')];
    };
    assert.deepEqual(await check(null), ['pass', 'skipped', null]);
    assert.deepEqual(await check({}), ['pass', 'skipped', null]);
    assert.deepEqual(await check({ note: 1 }), ['partial', 'warn', 'no-db-path']);
    assert.deepEqual(await check({ db_path: join(home, 'none') }), ['partial', 'warn', 'db-path-missing']);
    assert.deepEqual(await check({ db_path: 'a\0b' }), ['partial', 'warn', 'db-path-missing']);
    assert.deepEqual(await check({ db_path: at.path }), ['fail', 'fail', 'db-not-readable:OperationalError']);
    const text = at.write('text.sqlite', 'not a database, but long enough to be looked at');
    assert.deepEqual(await check({ db_path: text }), ['fail', 'fail', 'db-not-readable:DatabaseError']);
    const whole = join(at.path, 'whole.sqlite');
    openDatabase(whole, { rooms: [{ room: 'test', steps: ['CREATE TABLE t(a)'] }] }).database.close();
    assert.deepEqual(await check({ db_path: whole }), ['pass', 'pass', null]);
    assert.deepEqual(readdirSync(at.path).sort(), ['text.sqlite', 'whole.sqlite'], 'no log beside it');
    truncateSync(whole, 4_096);
    assert.equal((await check({ db_path: whole }))[2], 'db-not-readable:DatabaseError');
  });

  test('provenance without a source warns; none at all is skipped', async (context) => {
    const { drill, edit } = await drilled(context);
    edit({ provenance: { skill_name: 'csv' } });
    const report = await drill();
    assert.deepEqual([report.status, report.warnings], ['partial', ['provenance-metadata:missing-source']]);
    edit({ provenance: null });
    assert.equal(statuses(await drill())['provenance-metadata'], 'skipped');
  });

  test('a timer that was removed since is a warning of a drill that passes', async (context) => {
    const { drill, edit, timer } = await drilled(context);
    rmSync(timer);
    const ours = await drill();
    assert.deepEqual([ours.status, ours.warnings], ['pass', ['scheduler-references:scheduler-paths-missing']]);
    edit({ scheduler: { note: 'by hand' } });
    assert.deepEqual((await drill()).warnings, ['scheduler-references:no-scheduler-paths']);
    edit({ scheduler: null });
    assert.equal(statuses(await drill())['scheduler-references'], 'skipped');
  });

  test('a first version took nothing away: there is nothing to restore', async (context) => {
    const opened = open(context, { bare: true });
    const { manifestPath } = await opened.create('csv');
    const drill = drilling(context, manifestPath, opened.home);
    const report = await drill();
    assert.deepEqual([report.status, report.restored_target], ['pass', null]);
    assert.equal(statuses(report)['target-recovery'], 'skipped');
  });

  test('two ways to one manifest are one path, and a home that was moved is found again', async (context) => {
    const { drill, manifestPath, home } = await drilled(context);
    const at = createTempHome(context);
    symlinkSync(home, join(at.path, 'link'));
    const other = manifestPath.replace(home, join(at.path, 'link'));
    assert.equal((await drill({ manifestPath: other })).manifest_path, (await drill()).manifest_path);
    const moved = join(at.path, 'moved');
    renameSync(home, moved);
    const report = await runRestoreDrill({
      manifestPath: manifestPath.replace(home, moved),
      clock: createManualClock(),
      tempRoot: at.path,
    });
    assert.equal(statuses(report)['target-recovery'], 'pass');
    assert.equal(statuses(report)['support-files-recovery'], 'pass');
    assert.equal(reasonOf(report, 'evidence-references'), 'db-path-missing');
    renameSync(moved, home);
  });
});

describe('restore drill: what it does not begin', () => {
  slow('a manifest that is not there or cannot be read', async (context) => {
    const { drill, manifestPath } = await drilled(context);
    const begins = async (more: Partial<DrillOptions> = {}) => {
      const report = await drill(more);
      assert.deepEqual(
        [report.status, report.drill_target, report.restored_target, report.report_path, report.checks.length],
        ['fail', null, null, null, 0],
      );
      return report.errors;
    };
    for (const [text, reason] of [
      ['', 'JSONDecodeError'],
      ['{"a":', 'JSONDecodeError'],
      ['[1]', 'ValueError'],
      [Buffer.from([0x7b, 0xff, 0x7d]), 'UnicodeDecodeError'],
    ] as const) {
      writeFileSync(manifestPath, text);
      assert.deepEqual(await begins(), [`manifest-not-readable:${reason}`]);
    }
    truncateSync(manifestPath, 17 * 1_048_576);
    assert.deepEqual(await begins(), ['manifest-not-readable:TooLarge']);
    assert.deepEqual(await begins({ manifestPath: dirname(manifestPath) }), [
      'manifest-not-readable:IsADirectoryError',
    ]);
    assert.deepEqual(await begins({ manifestPath: '/dev/zero' }), ['manifest-not-readable:OSError']);
    assert.deepEqual(await begins({ manifestPath: join(manifestPath, 'below') }), ['manifest-not-found']);
    rmSync(manifestPath);
    assert.deepEqual(await begins(), ['manifest-not-found']);
  });

  verifies.slow(
    'curator:drill:no-live-files',
    'a folder with something in it, and one that is in use',
    async (context) => {
      const { drill, manifestPath, root } = await drilled(context);
      const at = createTempHome(context);
      at.write('full/a.txt', 'mine');
      const errors = async (targetDir: string) => (await drill({ targetDir })).errors;
      assert.deepEqual(await errors(join(at.path, 'full')), ['drill-target-not-empty']);
      assert.deepEqual(await errors(join(at.path, 'full/a.txt')), ['drill-target-not-empty']);
      assert.equal(at.read('full/a.txt'), 'mine');
      for (const live of [join(root, 'data/csv'), join(root, 'data/csv/drill'), join(dirname(manifestPath), 'drill')]) {
        assert.deepEqual(await errors(live), ['drill-target-is-live']);
        assert.ok(!live.endsWith('drill') || !existsSync(live));
      }
      symlinkSync(join(root, 'data/csv'), join(at.path, 'alias'));
      assert.deepEqual(await errors(join(at.path, 'alias/drill')), ['drill-target-is-live']);
      const fresh = join(at.path, 'a/b');
      assert.deepEqual(await errors(fresh), []);
      assert.ok(existsSync(join(fresh, 'SKILL.md')));
      assert.deepEqual(await errors(fresh), ['drill-target-not-empty'], 'once only');
      const full = at.write('file', '');
      await assert.rejects(drill({ targetDir: join(full, 'below') }), { code: 'write-failed' });
    },
  );
});
