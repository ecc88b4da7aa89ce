/** Drill, rollback and apply as they are typed: manifests that were changed, files that are none, edits made while a check runs. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { appliedManifest, entryOf, openBench, type RunBench, skillText, WRITE } from './run-bench.ts';
import { typedRun } from './typed-run.ts';

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

async function curated(t: Parameters<typeof openBench>[0]) {
  const bench = await openBench(t);
  const path = await bench.skill('deploy');
  bench.used('deploy');
  const manifest = appliedManifest(entryOf(await bench.run(WRITE), 'deploy'));
  const told = readFileSync(manifest, 'utf8');
  const change = (more: Record<string, unknown>) =>
    writeFileSync(manifest, JSON.stringify({ ...JSON.parse(told), ...more }));
  return { bench, path, manifest, told, change };
}

/** A command that edits the skill while it is asked. */
const EDITS = 'echo "The owner wrote this." >> "$HERMES_CURATOR_TARGET_PATH"';

function archived(bench: RunBench, result: Record<string, unknown>): string {
  const folder = String(result.archive_path);
  assert.ok(folder.startsWith(join(bench.ground.places.skills, '.archive')), folder);
  assert.match(readFileSync(join(folder, 'SKILL.md'), 'utf8'), /The owner wrote this\.\n$/);
  return folder;
}

describe('a manifest that was changed since it was written', () => {
  verifies(
    ['curator:drill:checks', 'curator:rollback:backup-checked', 'curator:cli:exit-codes'],
    'fails the drill, and undoing by it is refused with the same reason, forced or not',
    async (t) => {
      const { bench, path, manifest, told, change } = await curated(t);
      const before = readFileSync(path, 'utf8');
      change({ new_sha256: '00' });
      const drill = await typedRun(bench, 'restore-drill', { manifest });
      assert.deepEqual([drill.code, drill.data.status], [1, 'fail']);
      assert.deepEqual([drill.data.errors, drill.data.restored_target], [['target-recovery:manifest-changed'], null]);
      for (const force of [false, true]) {
        const undone = await typedRun(bench, 'rollback', { manifest, force });
        assert.deepEqual([undone.code, undone.reason], [3, 'manifest-changed']);
      }
      const bySkill = await typedRun(bench, '', { name: 'deploy' }, 'skills rollback');
      assert.deepEqual([bySkill.code, bySkill.reason], [3, 'manifest-changed']);
      assert.equal(readFileSync(path, 'utf8'), before);
      writeFileSync(manifest, told);
      assert.equal((await typedRun(bench, 'restore-drill', { manifest })).code, 0);
      rmSync(dirname(manifest), { recursive: true });
      assert.equal((await typedRun(bench, 'rollback', { manifest })).reason, 'backup-not-found');
    },
  );

  verifies('curator:rollback:backup-checked', 'its paths are not what the result shows', async (t) => {
    const { bench, path, manifest, change } = await curated(t);
    change({ backup_path: '/etc/hostname', target_path: '/etc/passwd' });
    const { data } = await typedRun(bench, 'rollback', { manifest });
    assert.deepEqual([data.rolled_back, data.backup_path], [true, join(dirname(manifest), 'SKILL.md')]);
    assert.equal(data.target_path, path);
  });
});

describe('what is no manifest of a version', () => {
  verifies('curator:cli:exit-codes', 'each gets its own sentence', async (t) => {
    const bench = await openBench(t);
    const path = await bench.skill('deploy');
    const contentFile = bench.stage.temp.write('work/new.md', skillText('deploy', 'Other.\n'));
    const failed = await typedRun(bench, 'apply', {
      ...{ target: path, contentFile, expectedSha256: hashOf(path), approve: true, verifyCommand: 'exit 3' },
    });
    assert.equal(failed.reason, 'verify-failed');
    assert.match(failed.fix, /Nothing was changed/);
    const folder = join(bench.stage.temp.path, 'work/folder');
    mkdirSync(folder);
    const rollback = async (manifest: string) => {
      const { code, reason, message, data } = await typedRun(bench, 'rollback', { manifest });
      assert.deepEqual([code, data.rolled_back, data.backup_path], [3, false, null]);
      return `${reason}: ${message}`;
    };
    assert.match(await rollback(join(folder, 'manifest.json')), /^no-such-version: There is no file /);
    assert.match(await rollback(folder), /^no-such-version: .* is a folder; name the manifest\.json in it/);
    assert.match(await rollback(contentFile), /^no-such-version: .* is no manifest/);
    const takenBack = String(failed.data.manifest_path);
    assert.match(await rollback(takenBack), /^nothing-to-undo: That write was taken back by its check; there is noth/);
    const other = bench.stage.temp.write(
      'work/other/manifest.json',
      JSON.stringify({ ...JSON.parse(readFileSync(takenBack, 'utf8')), proposal_id: 'prop_0' }),
    );
    assert.match(await rollback(other), /^no-such-version: No version of a skill in this home belongs to /);
  });
});

describe('an edit that is made while a check runs', () => {
  verifies('curator:verify:rollback', 'is named by apply, with its place, and by the manifest', async (t) => {
    const bench = await openBench(t);
    const path = await bench.skill('deploy');
    const contentFile = bench.stage.temp.write('work/new.md', skillText('deploy', 'Other.\n'));
    const order = { target: path, contentFile, expectedSha256: hashOf(path), approve: true };
    for (const verifyCommand of [EDITS, `${EDITS}; exit 3`]) {
      const done = await typedRun(bench, 'apply', { ...order, verifyCommand });
      assert.deepEqual([done.code, done.reason], [1, 'verify-failed']);
      const folder = archived(bench, done.data);
      for (const text of [done.message, done.fix]) assert.ok(text.includes(folder), text);
      assert.doesNotMatch(done.fix, /Nothing was changed/);
      const { stages } = JSON.parse(readFileSync(String(done.data.manifest_path), 'utf8')).verify;
      assert.equal(stages.at(-1).name, 'folder-unchanged');
      assert.ok(stages.at(-1).output.includes(folder));
      assert.equal(readFileSync(path, 'utf8'), skillText('deploy'));
    }
  });

  verifies('curator:verify:rollback', 'is named by auto-run, in both forms', async (t) => {
    const bench = await openBench(t);
    await bench.skill('deploy');
    bench.used('deploy');
    const flags = { ...WRITE, days: 36_500, verifyCommand: EDITS };
    for (const format of ['json', 'markdown']) {
      const done = await typedRun(bench, 'auto-run', { ...flags, format });
      assert.deepEqual([done.code, done.reason], [1, 'verify-failed']);
      const [entry] = done.data.candidates as { apply_result: Record<string, unknown> }[];
      const folder = archived(bench, entry?.apply_result ?? {});
      for (const text of [done.printed, done.fix]) assert.ok(text.includes(folder), text);
      assert.doesNotMatch(done.fix, /stands as it was before/);
    }
  });
});
