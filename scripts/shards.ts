/**
 * Runs `node --test` in as many processes as there are cores and one more, each with its share of the files: `node scripts/shards.ts ARGUMENT…`;
 * with `--on-disk` first in two, whose throw-away folders are where the machine has them; with `--slow` first only the tests that say `slow`.
 * The bundle is built first when it is older than the source. Every argument goes to every process. The first one's lines are shown as
 * they come, the others' when all are done; the counts of all are added up and come last. One process that fails makes the run fail.
 * What was compiled once is kept for the next process, and the tests start many. Their throw-away folders are in memory where there is
 * enough of it (Linux): thousands of homes are made, synced and removed. `TMPDIR=/tmp npm test` has them on the disk.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

// Tests of the bundle test what stands in the source.
const built = spawnSync(process.execPath, [join(import.meta.dirname, 'build.ts'), '--if-stale'], { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);

const counted = /^# (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/;
const onDisk = process.argv[2] === '--on-disk';
const onlySlow = process.argv[2] === '--slow';
const given = process.argv.slice(onDisk || onlySlow ? 3 : 2);
const began = performance.now();
// One more than there are cores: tests wait, too.
const shards = Number(process.env.TALARIA_TEST_SHARDS ?? (onDisk ? 2 : Math.min(4, availableParallelism() + 1)));
const sums = new Map<string, number>();
const temp = !onDisk && process.env.TMPDIR === undefined ? inMemory() : undefined;
process.once('exit', () => temp !== undefined && rmSync(temp, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

const runs = await Promise.all(Array.from({ length: shards }, (_, at) => runShard(at + 1)));
for (const { held } of runs) for (const line of held) console.log(line);
sums.set('duration_ms', performance.now() - began);
for (const [name, value] of sums) console.log(`# ${name} ${value}`);
process.exitCode = runs.find(({ code }) => code !== 0)?.code ?? 0;

async function runShard(shard: number): Promise<{ code: number; held: readonly string[] }> {
  // A sandbox lives for one test: its WebAssembly is not worth a second, slower compilation; most objects do not, either: young garbage may wait.
  const flags = [
    '--max-semi-space-size=32',
    ...(onDisk ? [] : ['--liftoff-only']),
    ...(onlySlow ? ['--test-only'] : []),
    `--test-shard=${shard}/${shards}`,
    '--test',
    ...given,
  ];
  const child = spawn(process.execPath, flags, { env: environment(), stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const held: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name, value] = counted.exec(line) ?? [];
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + Number(value));
    else if (shard === 1) console.log(line);
    else held.push(line);
  }
  const [code] = await closed;
  return { code: typeof code === 'number' ? code : 1, held };
}

function environment(): NodeJS.ProcessEnv {
  return {
    NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled'),
    TALARIA_TEST_MAIN: join(import.meta.dirname, '../dist/main.js'),
    ...(temp === undefined ? {} : { TMPDIR: temp }),
    ...(onlySlow ? { TALARIA_TESTS: 'slow' } : {}),
    ...process.env,
  };
}

/** A folder in memory that holds what the tests have at one time, several times over. */
function inMemory(): string | undefined {
  const place = '/dev/shm';
  if (!existsSync(place)) return undefined;
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize > 4_000_000_000 ? mkdtempSync(`${place}/talaria-`) : undefined;
}
