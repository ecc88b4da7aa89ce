import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import {
  autoRunFlags,
  type LastRun,
  lastRunFile,
  PERIOD_MS,
  RETRY_MS,
  readLastRun,
  runDue,
  scheduleJob,
  scheduleSchema,
} from '#extensions/curator/schedule-job.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { until } from '../../ends.ts';
import { createStage, runCommand } from '../../surfaces/app/app-fixture.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const signal = new AbortController().signal;

/** A job over a home of its own; `again` is the same home after a restart. */
function stageOf(t: TestContext, { readOnly = false, schedule = 'hourly' } = {}) {
  const home = createTempHome(t);
  const clock = createManualClock();
  const mind = { state: { readOnly } } as unknown as Mind;
  const ground = { clock, places: { home: home.path }, open: async () => mind } as unknown as Ground;
  const runs: number[] = [];
  const outcome: { next: () => ReturnType<NonNullable<Parameters<typeof scheduleJob>[2]>> } = {
    next: async () => ({ failed: false, summary: { applied: 1 } }),
  };
  const make = () => {
    const job = scheduleJob(ground, scheduleSchema.parse({ schedule }), async () => {
      runs.push(clock.now());
      return outcome.next();
    });
    assert.ok(job);
    return job;
  };
  return { home, clock, runs, outcome, make, path: lastRunFile(home.path) };
}

/** Wakes a job once a minute, as the host does; gives the errors that it reported. */
async function live(
  job: ReturnType<ReturnType<typeof stageOf>['make']>,
  clock: ReturnType<typeof createManualClock>,
  minutes: number,
) {
  const errors: unknown[] = [];
  for (let i = 0; i < minutes; i++) {
    await clock.advance(MINUTE);
    await job.run(signal).catch((error: unknown) => errors.push(error));
  }
  return errors;
}

describe('the schedule inside Talaria', () => {
  test('there is no job unless the owner asked for one', () => {
    const run = () => Promise.reject(new Error('never'));
    assert.equal(scheduleJob({} as Ground, scheduleSchema.parse({}), run), undefined);
  });

  test('runs once a period, writes down what it did, and a restart changes nothing', async (t) => {
    const { make, clock, runs, path, home } = stageOf(t);
    await live(make(), clock, 30);
    assert.equal(runs.length, 1);
    const written = readFileSync(path, 'utf8');
    assert.match(written, /"state": "done"/);
    assert.match(written, /"applied": 1/);
    assert.match(home.read('logs/curator.log'), /"event":"scheduled-run".*"applied":1/);
    await live(make(), clock, 30);
    assert.equal(runs.length, 1);
    await live(make(), clock, 60);
    assert.equal(runs.length, 2);
  });

  test('the time is on disk before the run begins: what dies in the middle is not run again at once', async (t) => {
    const { make, clock, runs, outcome, path } = stageOf(t);
    outcome.next = async () => {
      assert.deepEqual(readLastRun(path), { at: clock.now(), failed: true });
      throw new Error('disk full');
    };
    const errors = await live(make(), clock, 5);
    assert.deepEqual([runs.length, errors.length], [1, 1]);
    await live(make(), clock, RETRY_MS / MINUTE);
    assert.equal(runs.length, 2);
  });

  test('a run that another writer of the home kept back is tried again soon, not a period later', async (t) => {
    const { make, clock, runs, outcome } = stageOf(t, { schedule: 'weekly' });
    outcome.next = async () => ({ failed: true, reason: 'lease-held' });
    await live(make(), clock, 1 + RETRY_MS / MINUTE);
    assert.equal(runs.length, 2);
  });

  test('a clock moved back neither stops the runs nor makes them follow each other', async (t) => {
    const { make, clock, runs } = stageOf(t);
    const job = make();
    await live(job, clock, 2);
    clock.jump(-1000 * HOUR);
    await live(job, clock, 59);
    assert.equal(runs.length, 1);
    await live(job, clock, 3);
    assert.equal(runs.length, 2);
    clock.jump(3 * HOUR);
    await live(job, clock, 30);
    assert.equal(runs.length, 3);
  });

  test('a file that says nothing counts as none; a home that may not be written is left alone', async (t) => {
    const first = stageOf(t);
    await live(first.make(), first.clock, 1);
    for (const text of ['', '{', '[]', '{"at": 5}', '{"at": "soon"}']) {
      writeFileSync(first.path, text);
      assert.equal(readLastRun(first.path), undefined, text);
    }
    const newer = stageOf(t, { readOnly: true });
    await live(newer.make(), newer.clock, 3);
    assert.equal(newer.runs.length, 0);
  });

  test('a time that cannot be written down is reported once in a while, and nothing runs', async (t) => {
    const { make, clock, runs, home } = stageOf(t);
    writeFileSync(join(home.path, 'curator'), 'no folder');
    const errors = await live(make(), clock, 15);
    assert.deepEqual([runs.length, errors.length], [0, 2]);
  });
});

describe('when a run is due', () => {
  test('at once when there was none, then once a period', () => {
    const periodMs = PERIOD_MS.daily;
    assert.equal(runDue(undefined, 5, periodMs), 'due');
    assert.equal(runDue({ at: 0, failed: false }, periodMs - 1, periodMs), 'waiting');
    assert.equal(runDue({ at: 0, failed: false }, periodMs, periodMs), 'due');
  });

  test('what failed is tried again soon, but not at once', () => {
    assert.equal(runDue({ at: 0, failed: true }, RETRY_MS - 1, PERIOD_MS.weekly), 'waiting');
    assert.equal(runDue({ at: 0, failed: true }, RETRY_MS, PERIOD_MS.weekly), 'due');
  });

  test('however the clock jumps, runs do not follow each other and never stop', () => {
    const jump = fc.record({ minutes: fc.integer({ min: 1, max: 200 }), days: fc.integer({ min: -2, max: 2 }) });
    fc.assert(
      fc.property(fc.array(jump, { maxLength: 60 }), (jumps) => {
        const life: Life = { now: 10 * PERIOD_MS.daily };
        wakeFor(life, 1);
        for (const { minutes, days } of jumps) {
          life.now += days * PERIOD_MS.daily;
          // A jump forward may bring one run early.
          assert.ok(wakeFor(life, minutes) <= 1 + Math.ceil(minutes / 60));
        }
        // A clock that was put back delays by one period at most.
        assert.ok(wakeFor(life, 61) >= 1);
      }),
    );
  });
});

interface Life {
  now: number;
  last?: LastRun;
}

/** Wakes once a minute, as the job does, an hour being the period; gives how often it ran. */
function wakeFor(life: Life, minutes: number): number {
  let ran = 0;
  for (let i = 0; i < minutes; i++, life.now += MINUTE) {
    const due = runDue(life.last, life.now, PERIOD_MS.hourly);
    if (due !== 'waiting') life.last = { at: life.now, failed: false };
    if (due === 'due') ran += 1;
  }
  return ran;
}

async function openWith(t: TestContext, settings: string) {
  const stage = createStage(t);
  stage.temp.write('home/config.yaml', settings);
  const clock = createManualClock();
  const app = await stage.open({ clock });
  const path = lastRunFile(stage.root);
  return { stage, clock, path, app };
}

/** What the last run wrote down, once it has ended. */
async function ended(path: string) {
  let found: JsonObject = {};
  await until(() => {
    const parsed = existsSync(path) ? parseJsonObject(readFileSync(path, 'utf8')) : undefined;
    if (parsed?.ok) found = parsed.value;
    return Object.keys(found).length > 2;
  });
  return found;
}

describe('a composed agent with a schedule', () => {
  test('plans by itself soon after the start, and writes nothing', async (t) => {
    const { clock, path } = await openWith(t, 'curator:\n  schedule: daily\n');
    assert.equal(existsSync(path), false, 'starting runs nothing');
    await clock.advance(MINUTE);
    const done = await ended(path);
    assert.deepEqual([done.state, done.mode], ['done', 'dry-run']);
  });

  test('without one nothing ever runs', async (t) => {
    const { clock, path } = await openWith(t, 'curator:\n  write: true\n');
    await clock.advance(3 * MINUTE);
    assert.equal(existsSync(dirname(path)), false);
  });

  test('goes away while another process of the home writes, and comes back for it', async (t) => {
    const { clock, path, stage } = await openWith(t, 'curator:\n  schedule: weekly\n  write: true\n');
    const lease = join(stage.root, 'cache', 'unattended.lock');
    mkdirSync(dirname(lease), { recursive: true });
    writeFileSync(lease, `${process.ppid} ${hostname()}\n`);
    await clock.advance(MINUTE);
    const held = await ended(path);
    assert.deepEqual([held.state, held.reason], ['open', 'lease-held']);
    rmSync(lease);
    rmSync(path);
    writeFileSync(path, `{"at": "${String(held.at)}", "state": "open"}`);
    await clock.advance(RETRY_MS + MINUTE);
    const done = await ended(path);
    assert.deepEqual([done.state, done.mode], ['done', 'apply-low-risk']);
  });
});

describe('the section `curator` of config.yaml', () => {
  test('its settings are known to `config`, checked before they are written, and shown', async (t) => {
    const stage = createStage(t);
    const file = stage.temp.write('home/config.yaml', '# mine\nversion: 1\n');
    const set = (key: string, value: string) => runCommand(stage, 'config set', { key, value });
    assert.equal((await set('curator.schedule', 'daily')).failure, undefined);
    assert.equal((await set('curator.schedule', 'dayly')).failure?.code, 'config-value');
    assert.equal((await set('curator.max_skills', '99')).failure?.code, 'config-value');
    assert.match((await set('curator.shedule', 'daily')).failure?.fix ?? '', /curator\.schedule\?/);
    assert.equal((await runCommand(stage, 'config get', { key: 'curator.schedule' })).data, 'daily');
    assert.equal((await runCommand(stage, 'config get', { key: 'curator.write' })).data, false);
    assert.match((await runCommand(stage, 'config show')).text, /curator\.min_evidence \| 2/);
    assert.equal(readFileSync(file, 'utf8'), '# mine\nversion: 1\ncurator:\n  schedule: daily\n');
  });

  test('a section that is wrong is named by line and key when Talaria starts', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/config.yaml', 'curator:\n  schedule: dayly\n');
    await assert.rejects(runCommand(stage, 'cost'), {
      code: 'config-invalid',
      message: /config\.yaml:2:\d+: curator\.schedule/,
    });
    assert.match((await runCommand(stage, 'config show')).text, /agent\.max_steps/);
  });

  test('nothing runs and nothing is written unless it says so; writing needs one setting', () => {
    const config = scheduleSchema.parse({});
    assert.deepEqual([config.schedule, config.write], ['off', false]);
    const flags = autoRunFlags(config, 'check');
    assert.deepEqual([flags.apply_low_risk, flags.approve_auto_apply, flags.verify_command], [false, false, 'check']);
    const writing = autoRunFlags(scheduleSchema.parse({ write: true, verify_command: 'mine' }), 'check');
    assert.deepEqual(
      [writing.apply_low_risk, writing.approve_auto_apply, writing.verify_command],
      [true, true, 'mine'],
    );
  });
});
