import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { CuratorGround, CuratorMind } from '#extensions/curator/curator-ground.ts';
import { scheduleSchema } from '#extensions/curator/schedule/schedule-config.ts';
import {
  lastRunFile,
  RETRY_MS,
  readLastRun,
  type ScheduledRun,
  scheduleJob,
} from '#extensions/curator/schedule/schedule-job.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const signal = new AbortController().signal;

/** A job over a home of its own; `again` is the same home after a restart. */
function stageOf(t: TestContext, { readOnly = false, schedule = 'hourly' } = {}) {
  const home = createTempHome(t);
  const clock = createManualClock();
  const mind = { state: { readOnly } } as unknown as CuratorMind;
  const ground = { clock, places: { home: home.path }, open: async () => mind } as unknown as CuratorGround;
  const runs: number[] = [];
  const outcome: { next: () => ReturnType<ScheduledRun> } = {
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
    const run: ScheduledRun = () => Promise.reject(new Error('never'));
    assert.equal(scheduleJob({} as CuratorGround, scheduleSchema.parse({}), run), undefined);
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
