/** The four commands as typed: what they print and with which code they leave. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { runCommand } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';
import { appliedManifest, entryOf, openBench, type RunBench, skillText, typedRun, WRITE } from './run-bench.ts';

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

async function typed({ stage }: RunBench, name: string, input: Record<string, unknown>) {
  const { outputs, failure, data } = await runCommand(stage, `curator ${name}`, input);
  const [first] = outputs;
  const printed = first?.type === 'line' ? first.text : '';
  return {
    printed,
    code: failure?.exitCode ?? 0,
    reason: failure?.code ?? null,
    data: data as Record<string, unknown>,
  };
}

/** A bench whose app has ended: each command opens the home for itself. */
async function closedBench(t: Parameters<typeof openBench>[0]) {
  const bench = await openBench(t);
  const path = await bench.skill('deploy');
  bench.used('deploy');
  return { bench, path };
}

describe('the run commands', () => {
  verifies.slow(
    ['curator:apply:approval-required', 'curator:cli:exit-codes'],
    'apply asks for approval, target and hash in this order, and prints what it did',
    async (t) => {
      const { bench, path } = await closedBench(t);
      const content = skillText('deploy', 'Do it in one step.\n');
      const contentFile = bench.stage.temp.write('work/new.md', content);
      const order = { target: path, contentFile, expectedSha256: hashOf(path) };
      const apply = (more: Record<string, unknown>) => typed(bench, 'apply', { ...order, ...more });

      const unasked = await apply({ target: '/no/such/SKILL.md' });
      assert.deepEqual(
        [unasked.code, unasked.reason, JSON.parse(unasked.printed).applied],
        [3, 'approval-required', false],
      );
      const foreign = bench.stage.temp.write('.hermes/skills/deploy/SKILL.md', skillText('deploy'));
      for (const target of ['/no/such/SKILL.md', foreign, contentFile]) {
        const missed = await apply({ target, approve: true });
        assert.deepEqual([missed.code, missed.reason], [3, 'target-not-found'], target);
      }
      const stale = await apply({ expectedSha256: '0'.repeat(64), approve: true });
      assert.deepEqual([stale.code, stale.data.reason, stale.data.current_sha256], [3, 'hash-mismatch', hashOf(path)]);
      const failed = await apply({ approve: true, verifyCommand: 'test -f SKILL.md && exit 3' });
      assert.deepEqual([failed.code, failed.reason], [1, 'verify-failed']);
      assert.equal(readFileSync(path, 'utf8'), skillText('deploy'));
      const gone = await apply({ contentFile: '/no/such/file', approve: true });
      assert.equal(gone.code, 2);

      const done = await apply({ target: 'home-link', approve: true, verifyCommand: 'test -f SKILL.md' });
      assert.equal(done.code, 3, 'a relative path starts from the folder of the person');
      const applied = await apply({ approve: true, expectedSha256: hashOf(path).toUpperCase() });
      assert.equal(applied.code, 0, applied.printed);
      assert.equal(readFileSync(path, 'utf8'), content);
      const printed = JSON.parse(applied.printed);
      assert.deepEqual(printed, applied.data);
      assert.deepEqual(Object.keys(printed), Object.keys(printed).sort());
      assert.equal(bench.mind.door.versions('deploy').at(-1)?.actor, 'owner');

      const drill = await typed(bench, 'restore-drill', {
        manifest: printed.manifest_path,
        targetDir: join(bench.stage.temp.path, 'drill'),
        format: 'markdown',
      });
      assert.equal(drill.code, 0, drill.printed);
      assert.match(drill.printed, /- Status: pass/);
      const undone = await typed(bench, 'rollback', { manifest: printed.manifest_path });
      assert.deepEqual([undone.code, JSON.parse(undone.printed).reason], [0, 'rolled-back']);
      assert.equal(readFileSync(path, 'utf8'), skillText('deploy'));
      assert.equal((await typed(bench, 'rollback', { manifest: printed.manifest_path })).code, 3);
    },
  );

  verifies('curator:cli:exit-codes', 'a drill of nothing fails, and says so in its report', async (t) => {
    const { bench } = await closedBench(t);
    const drill = await typed(bench, 'restore-drill', { manifest: 'no/such/manifest.json' });
    assert.deepEqual([drill.code, drill.data.status, drill.data.errors], [1, 'fail', ['manifest-not-found']]);
    assert.equal(drill.data.schema_version, '0.1');
    const stray = join(bench.stage.temp.path, 'stray');
    mkdirSync(join(stray, 'folder'), { recursive: true });
    writeFileSync(join(stray, 'folder', 'manifest.json'), '{}');
    const odd = await typed(bench, 'restore-drill', { manifest: join(stray, 'folder', 'manifest.json') });
    assert.equal(odd.code, 1);
    assert.deepEqual(readdirSync(stray), ['folder'], 'nothing is remembered beside what is no backup');
    assert.equal(odd.data.state_path, join(bench.ground.places.skillBackups, 'restore-drill-state.json'));
  });

  verifies(
    ['curator:cli:exit-codes', 'curator:auto:two-flags'],
    'auto-run prints JSON and nothing else, then its refusal',
    async (t) => {
      const { bench, path } = await closedBench(t);
      const alone = await typed(bench, 'auto-run', { applyLowRisk: true, format: 'json', days: 36_500 });
      assert.deepEqual([alone.code, alone.reason], [3, 'auto-approval-required']);
      assert.equal(JSON.parse(alone.printed).schema_version, '0.8');
      const text = await typed(bench, 'auto-run', { days: 36_500 });
      assert.deepEqual([text.code, text.printed.split('\n')[0]], [0, '# Curator auto-run']);
      const elsewhere = join(bench.stage.cwd, 'skills');
      mkdirSync(elsewhere);
      writeFileSync(join(elsewhere, 'SKILL.md'), skillText('deploy'));
      const planned = await typed(bench, 'auto-run', {
        skillsDir: 'skills',
        format: 'json',
        days: 36_500,
        maxSkills: 0,
        variants: 9,
      });
      const { config } = JSON.parse(planned.printed);
      assert.deepEqual([config.skills_dir, config.days, config.max_skills, config.variants], [elsewhere, 3650, 3, 4]);
      assert.equal(readFileSync(path, 'utf8'), skillText('deploy'));
    },
  );

  verifies('curator:cli:exit-codes', 'both flags, and a gate before every skill that there is: 3', async (t) => {
    const { bench, path } = await closedBench(t);
    const auto = (more: Record<string, unknown> = {}) =>
      typed(bench, 'auto-run', { applyLowRisk: true, approveAutoApply: true, days: 36_500, format: 'json', ...more });
    const before = readFileSync(path, 'utf8');
    const blocked = await auto({ blockAutoApplySkill: ['*'] });
    assert.deepEqual([blocked.code, blocked.reason], [3, 'auto-apply-blocklisted']);
    assert.equal((JSON.parse(blocked.printed) as Record<string, unknown>).mode, 'apply-low-risk');
    assert.deepEqual(blocked.data, JSON.parse(blocked.printed), 'the result is there for --json too');
    const planned = await typed(bench, 'auto-run', { blockAutoApplySkill: ['*'], days: 36_500 });
    assert.equal(planned.code, 0, 'a dry run');
    assert.equal((await auto({ blockAutoApplySkill: ['*'], minEvidence: 9 })).code, 0, 'nothing is eligible');
    bench.used('gone', 5);
    assert.equal((await auto({ blockAutoApplySkill: ['*'] })).code, 3, 'what is not there does not count');
    assert.equal(readFileSync(path, 'utf8'), before);
    assert.equal((await auto()).code, 0, 'written');
    const again = await auto();
    assert.equal(again.code, 0, 'nothing new to say');
    bench.handMade('by-hand');
    bench.used('by-hand', 4);
    assert.equal((await auto()).code, 0, 'one is up to date, one is kept back');
  });

  test('a folder that was named and is not there is noted, and no failure', async (t) => {
    const { bench } = await closedBench(t);
    const missing = `there is no folder ${join(bench.stage.cwd, 'nowhere')}`;
    for (const more of [{}, { applyLowRisk: true, approveAutoApply: true }]) {
      const ran = await typed(bench, 'auto-run', { skillsDir: 'nowhere', format: 'json', days: 36_500, ...more });
      assert.deepEqual([ran.code, JSON.parse(ran.printed).note], [0, missing]);
    }
    const text = await typed(bench, 'auto-run', { skillsDir: 'nowhere', days: 36_500 });
    assert.ok(text.printed.endsWith(`\n${missing}`), text.printed);
  });

  test('an empty pattern, as an unset variable gives it, is a wrong use that names the flag', async (t) => {
    const { bench, path } = await closedBench(t);
    const before = readFileSync(path, 'utf8');
    for (const key of ['allowAutoApplySkill', 'blockAutoApplySkill']) {
      const ran = await runCommand(bench.stage, 'curator auto-run', {
        ...{ applyLowRisk: true, approveAutoApply: true, days: 36_500 },
        [key]: [''],
      });
      assert.deepEqual([ran.failure?.exitCode, ran.failure?.code], [2, 'empty-pattern']);
      assert.match(ran.failure?.message ?? '', /^--(?:allow|block)-auto-apply-skill: /);
    }
    assert.equal(readFileSync(path, 'utf8'), before);
  });
});

// Drill, rollback and apply as they are typed: manifests that were changed, files that are none, edits made while a check runs.

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
