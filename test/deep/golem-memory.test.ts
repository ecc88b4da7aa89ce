/** What a golem needs: a thousand ticks with its mind beside it in 256 MB. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCliStage } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';

const LIMIT = 256 * 1024 ** 2;
const GROUPS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
];

/** A group of processes that together may hold so much; undefined: none can be made here. */
function memoryGroup() {
  for (const { root, limit, peak } of GROUPS) {
    const path = join(root, `talaria-test-${process.pid}`);
    try {
      mkdirSync(path);
      writeFileSync(join(path, limit), String(LIMIT));
      return { path, peak: () => Number(readFileSync(join(path, peak), 'utf8')) / 1024 ** 2 };
    } catch (error) {
      // There is no such kind of group, or its memory is not ours to give.
      assert.match(String(error), /ENOENT|EACCES|EPERM|EROFS|EINVAL/);
      if (existsSync(path)) rmdirSync(path);
    }
  }
  return undefined;
}

const group = memoryGroup();
if (group !== undefined) process.once('exit', () => rmdirSync(group.path));

verifies('RQ.1', 'a golem and its mind in a process of its own live a thousand ticks within 256 MB', {
  options: { timeout: 300_000, ...(group ? {} : { skip: 'skipped: no memory group can be made here' }) },
  run: async (t) => {
    assert.ok(group);
    const stage = createCliStage(t);
    assert.equal((await stage.run(['golem', 'create', 'ada', '--domain', 'sim'])).code, 0);
    const toml = join(stage.root, 'golems/ada/golem.toml');
    writeFileSync(
      toml,
      readFileSync(toml, 'utf8').replace(/base_interval_seconds = .*/, 'base_interval_seconds = 0.001'),
    );
    const joins = join(stage.folder, 'joins.cjs');
    writeFileSync(joins, `require('node:fs').writeFileSync('${group.path}/cgroup.procs', String(process.pid))`);
    const env = { NODE_OPTIONS: `--require=${joins}` };
    const { code, out, err } = await stage.run(['golem', 'run', 'ada', '--ticks', '1000', '--sidecar'], { env });
    console.log(`golem and mind held ${group.peak().toFixed(0)} MB at most`);
    assert.equal(code, 0, `${out.slice(-2_000)}${err}`);
    assert.match(out, /^1000 ticks lived, 1000 in all; thriving; \d+ skills packed/m);
    assert.ok(!/the mind (?:is|did)/.test(out), 'it did without its mind for a while');
  },
});
