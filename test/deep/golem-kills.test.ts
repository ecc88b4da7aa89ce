/** kill −9 of a golem, and of its mind, at random moments of whole lives: no tick that was told is lost or lived twice, and each leaves one testament. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { seededRandom } from '#base/ids.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { until } from '../ends.ts';
import { realClock } from '../ground.ts';
import { COMPILE_CACHE, MAIN } from '../scenario/cli-process.ts';

const KILLS = Number(process.env.KILLS ?? 300);
const SEED = Number(process.env.SEED ?? 4711);
const LIVES = 6;
const options = { timeout: 600_000 };

function kill(pid: number | undefined): void {
  try {
    if (pid) process.kill(pid, 'SIGKILL');
  } catch (error) {
    assert.match(String(error), /ESRCH/);
  }
}

class House {
  readonly path: string;
  readonly random: () => number;

  constructor(t: TestContext, seed: number) {
    this.path = createTempHome(t).path;
    this.random = seededRandom(seed);
  }

  start(...args: readonly string[]) {
    const env = { PATH: process.env.PATH, HOME: this.path, TALARIA_HOME: this.path, NODE_COMPILE_CACHE: COMPILE_CACHE };
    const child = spawn(process.execPath, [MAIN, 'golem', ...args], { cwd: this.path, env });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
      });
    const ended = new Promise<number | null>((done) => child.once('close', done));
    /** Whole lines alone: half of one is nothing that was told. */
    const ticks = () => [...said.matchAll(/^tick (\d+) · T\d.*\n/gm)].map(([, tick]) => Number(tick));
    return { child, ticks, said: () => said, ended };
  }

  /** To its end, which is a good one. */
  async run(...args: readonly string[]): Promise<string> {
    const { ended, said } = this.start(...args);
    assert.equal(await ended, 0, `golem ${args.join(' ')}: ${said()}`);
    return said();
  }

  async bear(name: string, ...from: readonly string[]): Promise<void> {
    await this.run('create', name, '--domain', 'sim', ...from);
    const toml = join(this.path, 'golems', name, 'golem.toml');
    const text = readFileSync(toml, 'utf8').replace(/base_interval_seconds = .*/, 'base_interval_seconds = 0.005');
    writeFileSync(toml, `${text}\n[hermes]\ncurator_interval = 20\ndream_interval = 50\n`);
  }

  /** Early: at a moment of its start; else after the first tick that it told. */
  async killed(isEarly: boolean, ...args: readonly string[]): Promise<readonly number[]> {
    const { child, ticks, ended } = this.start(...args);
    if (!isEarly) await until(() => ticks().length > 0 || child.exitCode !== null);
    await realClock.sleep(this.random() * 300);
    kill(child.pid);
    await ended;
    return ticks();
  }

  /** Every record once and in order, and none missing of those that were told. */
  async keeps(name: string, told: readonly number[]): Promise<void> {
    const isOnce = told.every((tick, at) => at === 0 || tick > (told[at - 1] ?? 0));
    assert.ok(isOnce, 'a tick was told twice');
    const kept: number[] = [];
    for (let from = 1; kept.length === from - 1; from += 1_000) {
      const range = ['--from', String(from), '--to', String(from + 999), '--json'];
      const read: readonly { readonly tick: number }[] = JSON.parse(await this.run('ticks', name, ...range));
      kept.push(...read.map(({ tick }) => tick));
    }
    const isWhole = kept.every((tick, at) => tick === at + 1);
    assert.ok(isWhole && kept.length >= (told.at(-1) ?? 0), `${told.at(-1)} was told, ${kept.length} are there`);
  }

  /** It has ended, once. */
  async hasEnded(name: string): Promise<void> {
    const folder = join(this.path, 'golems', name, 'testament');
    const left = () => readdirSync(folder).filter((file) => !file.endsWith('-bundle.json'));
    const [testament = ''] = left();
    assert.match(await this.run('verify', join(folder, testament)), /^whole: skill-testament of /);
    const again = this.start('run', name, '--ticks', '1');
    await again.ended;
    assert.match(again.said(), /is dead/);
    assert.deepEqual(left(), [testament]);
  }

  /** Minds that run for its golems. */
  minds(): readonly number[] {
    const all = spawnSync('ps', ['-Ao', 'pid=,args=']).stdout.toString().split('\n');
    return all.filter((row) => row.includes(`--socket ${this.path}/golems/`)).map((row) => Number.parseInt(row, 10));
  }
}

/** Lives in a row, each the heir of the last; so many kills in all. Some are killed while they end, some are buried. */
async function liveAndDie(house: House, kills: number): Promise<number> {
  let [told, done] = [0, 0];
  for (let life = 1; life <= LIVES; life += 1) {
    const name = `g${life}`;
    await house.bear(name, ...(life === 1 ? [] : ['--from', `g${life - 1}`]));
    const ticks: number[] = [];
    const run = ['run', name, ...(life % 2 === 0 ? ['--sidecar'] : [])];
    for (; done < (kills * (life - 0.2)) / LIVES; done += 1)
      ticks.push(...(await house.killed(ticks.length > 0 && house.random() < 0.3, ...run)));
    await house.keeps(name, ticks);
    const end = life % 3 === 0 ? ['bury', name] : ['retire', name, '--yes'];
    for (; done < (kills * life) / LIVES; done += 1) await house.killed(true, ...end);
    const { ended, said } = house.start(...end);
    await ended;
    assert.match(said(), /Testament: |is dead/);
    await house.keeps(name, ticks);
    await house.hasEnded(name);
    told += ticks.length;
  }
  return told;
}

test(`a golem that is killed ${KILLS} times, SEED=${SEED}`, options, async (t) => {
  const houses = [new House(t, SEED), new House(t, SEED + 1)];
  const told = await Promise.all(houses.map((house) => liveAndDie(house, KILLS / 2)));
  assert.ok(told.reduce((sum, count) => sum + count) > KILLS, `only ${told.join(' and ')} ticks were told`);
  await until(() => houses.every((house) => house.minds().length === 0));
});

/** One life, so many minds. */
async function outlive(house: House, kills: number): Promise<void> {
  await house.bear('ada');
  const { child, ticks, said, ended } = house.start('run', 'ada', '--sidecar');
  await until(() => ticks().length > 0);
  for (let done = 0; done < kills; done += 1) {
    await until(() => house.minds().length > 0);
    await realClock.sleep(house.random() * 500);
    for (const pid of house.minds()) kill(pid);
  }
  const before = said().length;
  await until(() => said().includes(' · following ', before));
  child.kill('SIGTERM');
  assert.equal(await ended, 143, said());
  assert.match(said().trimEnd().split('\n').at(-1) ?? '', /ticks lived, /);
  await house.keeps('ada', ticks());
  await house.run('retire', 'ada', '--yes');
  await house.hasEnded('ada');
}

test(`a mind that is killed ${KILLS} times, SEED=${SEED}`, options, async (t) => {
  const houses = [new House(t, SEED + 2), new House(t, SEED + 3)];
  await Promise.all(houses.map((house) => outlive(house, KILLS / 2)));
  await until(() => houses.every((house) => house.minds().length === 0));
});
