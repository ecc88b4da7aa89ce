/** The four commands as typed: what they print and with which code they leave. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runCommand } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';
import { openBench, type RunBench, skillText } from './run-bench.ts';

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
  verifies(
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
