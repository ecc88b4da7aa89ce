/** The restore drill: its checks, its verdict, and manifests that lie. Live files are the same before and after each. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { sha256 } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import type { DrillReport } from '#mind/skills/door/drill/drill-report.ts';
import { type DrillOptions, runRestoreDrill } from '#mind/skills/door/drill/restore-drill.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../../verifies.ts';
import { open } from '../door-bench.ts';
import { listTree, skillText } from '../open-door.ts';

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

  verifies(
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

  test('a timer that was removed since is a warning of a drill that passes; the original calls it partial', async (context) => {
    const { drill, edit, timer } = await drilled(context);
    rmSync(timer);
    const ours = await drill();
    assert.deepEqual([ours.status, ours.warnings], ['pass', ['scheduler-references:scheduler-paths-missing']]);
    const theirs = await drill({ compat: 'upstream' });
    assert.deepEqual([theirs.status, theirs.warnings], ['partial', ours.warnings]);
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
    const theirs = await drill({ compat: 'upstream' });
    assert.deepEqual([theirs.status, theirs.errors], ['fail', ['target-recovery:manifest-missing-backup-path']]);
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
  test('a manifest that is not there or cannot be read', async (context) => {
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

  verifies('curator:drill:no-live-files', 'a folder with something in it, and one that is in use', async (context) => {
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
  });
});
