/** The drill gate on real state files: read closed, never behind what the door knows, open again after a drill that passed. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe } from 'node:test';
import { readDrillState } from '#extensions/curator/run/drill/drill-state.ts';
import { drillManifest } from '#extensions/curator/run/manual/drill-manifest.ts';
import { rollBackManifest } from '#extensions/curator/run/manual/roll-back-manifest.ts';
import { autoRunExit } from '#extensions/curator/run/run-outcome.ts';
import { verifies } from '../../../verifies.ts';
import { appliedManifest, entryOf, hashTree, openBench, type RunBench, WRITE } from './run-bench.ts';

const GATED = { ...WRITE, requireRestoreDrill: true } as const;

const stateOf = ({ ground }: RunBench) => join(ground.places.skillBackups, 'restore-drill-state.json');
const gateOf = async (bench: RunBench) => (await bench.run({ requireRestoreDrill: true })).safety.restore_drill_gate;

async function twoSkills(t: Parameters<typeof openBench>[0]) {
  const bench = await openBench(t);
  for (const name of ['alpha', 'beta']) await bench.skill(name);
  bench.used('alpha', 5);
  bench.used('beta', 3);
  return bench;
}

describe('the drill gate of a run', () => {
  verifies(
    'curator:drill:gate',
    'one write closes it for the rest of the pass and the next one, a passed drill opens it',
    async (t) => {
      const bench = await twoSkills(t);
      const first = await bench.run(GATED);
      const manifest = appliedManifest(entryOf(first, 'alpha'));
      assert.equal(first.safety.restore_drill_gate.reason, 'no-prior-apply');
      assert.equal(entryOf(first, 'beta').reason, 'restore-drill-required');
      assert.equal(autoRunExit(first), 0);
      const second = await bench.run(GATED);
      assert.equal(second.safety.restore_drill_gate.reason, 'restore-drill-missing');
      assert.deepEqual([second.summary.applied, autoRunExit(second)], [0, 3]);
      const before = hashTree(bench.ground.places.skills);
      const drill = await drillManifest(bench.ground, { manifest });
      assert.equal(drill.status, 'pass', JSON.stringify(drill.checks));
      assert.deepEqual(hashTree(bench.ground.places.skills), before);
      rmSync(drill.drill_target ?? '', { recursive: true });
      const third = await bench.run(GATED);
      assert.equal(third.safety.restore_drill_gate.reason, 'restore-drill-passed');
      assert.equal(entryOf(third, 'beta').status, 'applied');
      assert.equal((await gateOf(bench)).reason, 'restore-drill-stale');
    },
  );

  verifies('curator:drill:gate', 'without the flag it warns and writes', async (t) => {
    const bench = await twoSkills(t);
    assert.equal((await bench.run(WRITE)).summary.applied, 2);
    const run = await bench.run(WRITE);
    assert.deepEqual(
      [run.safety.restore_drill_gate.allowed, run.safety.restore_drill_gate.reason],
      [true, 'restore-drill-missing-warning'],
    );
  });

  verifies(
    'curator:drill:gate',
    'an apply that the state file missed counts: never written, thrown away, put back from before',
    async (t) => {
      const bench = await twoSkills(t);
      await bench.run({ ...WRITE, maxSkills: 1 });
      rmSync(stateOf(bench));
      assert.equal((await gateOf(bench)).reason, 'restore-drill-missing');
      const alpha = bench.mind.door.versions('alpha').at(-1)?.manifestPath ?? '';
      await drillManifest(bench.ground, { manifest: alpha, targetDir: join(bench.stage.temp.path, 'drill') });
      assert.equal((await gateOf(bench)).reason, 'restore-drill-passed');
      const old = readFileSync(stateOf(bench), 'utf8');
      await bench.clock.advance(60_000);
      assert.equal(entryOf(await bench.run(WRITE), 'beta').status, 'applied');
      writeFileSync(stateOf(bench), old);
      const gate = await gateOf(bench);
      assert.deepEqual([gate.reason, gate.last_apply?.skill_name], ['restore-drill-stale', 'beta']);
      const beta = bench.mind.door.versions('beta').at(-1)?.manifestPath ?? '';
      await rollBackManifest(bench, { manifest: beta, force: false });
      assert.equal((await gateOf(bench)).reason, 'restore-drill-passed', 'what was undone needs no drill');
    },
  );

  verifies('curator:drill:gate', 'a clock that was set back makes no old apply the last one', async (t) => {
    const bench = await twoSkills(t);
    await bench.run({ ...WRITE, maxSkills: 1 });
    bench.clock.jump(-3_600_000);
    const run = await bench.run(WRITE);
    const manifest = appliedManifest(entryOf(run, 'beta'));
    assert.equal((await gateOf(bench)).last_apply?.skill_name, 'beta');
    await drillManifest(bench.ground, { manifest, targetDir: join(bench.stage.temp.path, 'drill') });
    assert.equal((await gateOf(bench)).reason, 'restore-drill-passed');
  });

  verifies(
    'curator:drill:gate',
    'a state file that is not wholly right closes it, and a fresh one mends it',
    async (t) => {
      const bench = await twoSkills(t);
      const manifest = appliedManifest(entryOf(await bench.run({ ...WRITE, maxSkills: 1 }), 'alpha'));
      const broken = [
        '',
        '{',
        '[]',
        '{"last_apply": "x"}',
        '{"last_apply": {}, "last_drill": {"status": "pass"}}',
        '{"last_drill": 3}',
      ];
      for (const text of broken) {
        writeFileSync(stateOf(bench), text);
        assert.equal(readDrillState(stateOf(bench)).ok, false, text);
        const run = await bench.run(GATED);
        assert.equal(run.safety.restore_drill_gate.reason, 'restore-drill-state-unreadable', text);
        assert.deepEqual([run.summary.applied, autoRunExit(run)], [0, 3]);
        const drill = await drillManifest(bench.ground, {
          manifest,
          targetDir: join(bench.stage.temp.path, `d${text.length}`),
        });
        assert.ok(drill.state_error !== undefined);
        assert.equal(readFileSync(stateOf(bench), 'utf8'), text);
      }
      rmSync(stateOf(bench));
      symlinkSync(bench.ground.places.skillBackups, join(bench.stage.temp.path, 'way'));
      const byLink = join(bench.stage.temp.path, 'way', manifest.split('/').slice(-2).join('/'));
      await drillManifest(bench.ground, { manifest: byLink, targetDir: join(bench.stage.temp.path, 'last') });
      assert.equal((await gateOf(bench)).reason, 'restore-drill-passed');
    },
  );

  verifies(
    ['curator:drill:checks', 'curator:drill:no-live-files'],
    'a failed drill is remembered and keeps it closed',
    async (t) => {
      const bench = await twoSkills(t);
      const manifest = appliedManifest(entryOf(await bench.run({ ...WRITE, maxSkills: 1 }), 'alpha'));
      writeFileSync(join(dirname(manifest), 'SKILL.md'), 'not what it was');
      const before = hashTree(bench.ground.places.skills);
      const targetDir = join(bench.stage.temp.path, 'drill');
      const drill = await drillManifest(bench.ground, { manifest, targetDir });
      assert.deepEqual([drill.status, drill.errors], ['fail', ['target-recovery:sha256-mismatch']]);
      assert.deepEqual(
        drill.checks.map(({ name }) => name),
        [
          'target-recovery',
          'support-files-recovery',
          'evidence-references',
          'provenance-metadata',
          'scheduler-references',
        ],
      );
      assert.equal((await gateOf(bench)).reason, 'restore-drill-failed');
      const again = await drillManifest(bench.ground, { manifest, targetDir });
      assert.deepEqual(again.errors, ['drill-target-not-empty']);
      assert.ok(existsSync(drill.report_path ?? ''));
      assert.deepEqual(readdirSync(targetDir).sort(), ['SKILL.md', 'restore-drill-report.json']);
      assert.deepEqual(hashTree(bench.ground.places.skills), before);
    },
  );
});
