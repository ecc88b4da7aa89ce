/** Reference files come, go and are undone with the version that they belong to, by either rollback. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe } from 'node:test';
import { rollBackManifest } from '#extensions/curator/run/manual/roll-back-manifest.ts';
import { verifies } from '../../../verifies.ts';
import { appliedManifest, edit, entryOf, hashTree, openBench, type RunBench, WRITE } from './run-bench.ts';

/** Over the soft limit with any block inside. */
const LONG = `${'All about it. '.repeat(6_420)}\n`;

async function spilled(bench: RunBench, times: number): Promise<readonly string[]> {
  const manifests: string[] = [];
  for (let at = 0; at < times; at += 1) {
    bench.used('deploy', 1, `look ${at}`);
    await bench.clock.advance(1_000);
    manifests.push(appliedManifest(entryOf(await bench.run({ ...WRITE, minEvidence: 1 }), 'deploy')));
  }
  return manifests;
}

const references = (path: string) => readdirSync(join(dirname(path), 'references')).sort();
const folderOf = (path: string) => hashTree(dirname(path));

describe('reference files', () => {
  verifies(
    ['curator:size:reference-growth', 'curator:apply:support-files', 'curator:size:soft-cap'],
    'bulky evidence goes to a reference file of the same version, and only the newest three stay',
    async (t) => {
      const bench = await openBench(t);
      const path = await bench.skill('deploy', LONG);
      await bench.stage.temp.write('home/skills/deploy/references/mine.md', 'Mine.\n');
      const manifests = await spilled(bench, 5);
      const files = references(path).filter((name) => name !== 'mine.md');
      assert.equal(files.length, 3);
      assert.match(readFileSync(path, 'utf8'), new RegExp(`references/${files.at(-1)}`));
      assert.match(readFileSync(join(dirname(path), 'references', files.at(-1) ?? ''), 'utf8'), /look 4/);
      assert.ok(references(path).includes('mine.md'));
      const kinds = JSON.parse(readFileSync(manifests.at(-1) ?? '', 'utf8')).support_files;
      assert.deepEqual(kinds.map(({ kind }: { kind: string }) => kind).sort(), ['added', 'removed']);
    },
  );

  verifies(
    ['curator:rollback:restores', 'curator:apply:support-files'],
    'either rollback undoes the version of the other way, reference files included',
    async (t) => {
      const bench = await openBench(t);
      const path = await bench.skill('deploy', LONG);
      await spilled(bench, 3);
      const before = folderOf(path);
      const [manifest = ''] = await spilled(bench, 1);
      assert.notDeepEqual(folderOf(path), before);
      const byManifest = await rollBackManifest(bench, { manifest, force: false });
      assert.deepEqual([byManifest.rolled_back, byManifest.reason], [true, 'rolled-back']);
      assert.deepEqual(folderOf(path), before);
      await spilled(bench, 1);
      const bySkill = await bench.mind.door.rollback({ skill: 'deploy' }, { actor: 'rollback' });
      assert.ok(bySkill.ok);
      assert.deepEqual(folderOf(path), before);
      const own = bench.mind.door.versions('deploy').find(({ version }) => version === bySkill.value.version);
      const back = await rollBackManifest(bench, { manifest: own?.manifestPath ?? '', force: false });
      assert.ok(back.rolled_back, 'a rollback by skill is undone by its manifest');
    },
  );

  verifies(
    ['curator:rollback:target-changed', 'curator:rollback:backup-checked'],
    'a rollback refuses an edited skill, a second time, and a backup that is gone, damaged or lied about',
    async (t) => {
      const bench = await openBench(t);
      const path = await bench.skill('deploy', LONG);
      const [manifest = ''] = await spilled(bench, 1);
      const whole = folderOf(path);
      const reasonOf = async (force = false) => (await rollBackManifest(bench, { manifest, force })).reason;

      edit(path, (text) => `${text}By hand.\n`);
      const changed = await rollBackManifest(bench, { manifest, force: false });
      assert.equal(changed.reason, 'target-changed');
      assert.notEqual(changed.current_sha256, changed.expected_sha256);
      edit(path, (text) => text.replace(/By hand\.\n$/, ''));

      const told = readFileSync(manifest, 'utf8');
      const lie = (change: (value: Record<string, unknown>) => void) => {
        const value = JSON.parse(told);
        change(value);
        writeFileSync(manifest, JSON.stringify(value));
      };
      lie((value) => {
        value.original_sha256 = 'f'.repeat(64);
      });
      assert.equal(await reasonOf(true), 'manifest-changed');
      lie((value) => {
        value.support_files = [
          {
            path: '../../../evil.md',
            kind: 'replaced',
            sha256: null,
            original_sha256: null,
            backup_path: null,
            recorded_at: '',
          },
        ];
      });
      await reasonOf();
      assert.ok(!existsSync(join(bench.stage.root, '..', 'evil.md')));
      writeFileSync(manifest, told.slice(0, -40));
      assert.equal(await reasonOf(true), 'manifest-changed');
      writeFileSync(manifest, told);
      assert.deepEqual(folderOf(path), whole);

      const copy = join(dirname(manifest), 'SKILL.md');
      const kept = readFileSync(copy);
      rmSync(copy);
      assert.equal(await reasonOf(true), 'backup-not-found');
      writeFileSync(copy, kept);
      assert.equal(await reasonOf(), 'rolled-back');
      assert.equal(await reasonOf(), 'target-changed');
      assert.equal(
        (await rollBackManifest(bench, { manifest: '/nowhere/x/manifest.json', force: true })).reason,
        'no-such-version',
      );
    },
  );

  verifies('curator:apply:backup', 'a folder for backups gets a copy, and undoing works by the copy too', async (t) => {
    const bench = await openBench(t);
    const path = await bench.skill('deploy');
    const text = readFileSync(path, 'utf8');
    bench.used('deploy');
    const backupDir = join(bench.stage.temp.path, 'copies');
    const run = await bench.run({ ...WRITE, backupDir });
    const manifest = appliedManifest(entryOf(run, 'deploy'));
    assert.ok(manifest.startsWith(backupDir));
    assert.equal(readFileSync(join(dirname(manifest), 'SKILL.md'), 'utf8'), text);
    assert.ok(existsSync(join(backupDir, 'restore-drill-state.json')));
    rmSync(dirname(manifest), { recursive: true });
    assert.equal((await rollBackManifest(bench, { manifest, force: false })).reason, 'rolled-back');
    assert.equal(readFileSync(path, 'utf8'), text);
  });
});
