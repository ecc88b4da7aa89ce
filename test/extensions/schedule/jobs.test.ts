/** The rows of the schedule: every due time has one, whatever ticks, dies, is late or is not there. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { Jobs, type JobsPlace, scheduleSchema } from '#extensions/schedule/jobs.ts';
import { read } from '#extensions/schedule/when.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';
import { live } from './life.ts';

const NOW = Date.parse('2026-01-15T12:00:00Z');
const HOUR = 3_600_000;

function openJobs(t: TestContext, limits: Partial<JobsPlace['limits']> = {}, folder = createTempHome(t).path) {
  const clock = createManualClock({ now: NOW });
  const gone = new Set<string>();
  const opened = (holder: string) => {
    const { database } = openDatabase(join(folder, 'schedule.sqlite'), { rooms: [scheduleSchema], clock });
    t.after(() => database.close());
    const stateOf = (name: string) => (gone.has(name) ? 'gone' : 'alive');
    return new Jobs({
      database,
      clock,
      holder,
      stateOf,
      limits: { max_runs_per_hour: 1_000, catch_up: 'latest', ...limits },
    });
  };
  return { jobs: opened('one'), other: opened('two'), gone };
}

async function add(jobs: Jobs, said: string, more: object = {}) {
  const schedule = read(said, NOW, 'UTC');
  assert.ok(schedule.ok);
  const rest = {
    deliver: 'local',
    workdir: '/',
    skills: [],
    toolsets: null,
    model: null,
    repeat: null,
    created_by: 'owner',
  } as const;
  return jobs.create({ name: said, prompt: 'x', ...rest, ...more, schedule: schedule.value }, 'active', NOW);
}

const shown = (jobs: Jobs, job: string) =>
  jobs.runs({ job }).map(({ due_at, count, outcome }) => [((due_at ?? 0) - NOW) / HOUR, count, outcome]);

verifies(
  ['R5.45', 'R5.46'],
  'after a time off the newest due time runs and the others are one missed row',
  async (t) => {
    const { jobs } = openJobs(t);
    const job = await add(jobs, 'every 1h');
    assert.equal(await jobs.claim(NOW + HOUR - 1), undefined);
    const claimed = await jobs.claim(NOW + 5.5 * HOUR);
    assert.deepEqual(
      shown(jobs, job.id),
      [
        [5, 1, null],
        [1, 4, 'missed'],
      ],
      'the row is there before the run',
    );
    await jobs.finish(claimed?.runs[0] ?? 0, { outcome: 'failed', error: 'model-auth: no' }, NOW + 5.6 * HOUR);
    assert.deepEqual(shown(jobs, job.id)[0], [5, 1, 'failed']);
    assert.equal(await jobs.claim(NOW + 5.9 * HOUR), undefined);
  },
);

verifies('R5.46', 'catch_up none runs nothing that is late, all the newest ten', async (t) => {
  const none = openJobs(t, { catch_up: 'none' }).jobs;
  const quiet = await add(none, 'every 1h');
  assert.equal(await none.claim(NOW + 3.5 * HOUR), undefined);
  assert.deepEqual(shown(none, quiet.id), [[1, 3, 'missed']]);
  assert.equal((await none.claim(NOW + 4 * HOUR + 60_000))?.runs.length, 1, 'on time it runs');
  const all = openJobs(t, { catch_up: 'all' }).jobs;
  const busy = await add(all, 'every 1h');
  assert.equal((await all.claim(NOW + 12 * HOUR))?.runs.length, 10);
  assert.deepEqual(shown(all, busy.id).at(-1), [1, 2, 'missed']);
});

verifies(
  'R5.47',
  'two processes claim a due time once; still running is skipped, a dead process leaves interrupted',
  async (t) => {
    const { jobs, other, gone } = openJobs(t);
    const job = await add(jobs, 'every 1h');
    const claims = await Promise.all([jobs.claim(NOW + HOUR), other.claim(NOW + HOUR)]);
    assert.equal(claims.filter(Boolean).length, 1);
    assert.equal(await other.claim(NOW + 2 * HOUR), undefined);
    assert.deepEqual(shown(jobs, job.id), [
      [2, 1, 'skipped'],
      [1, 1, null],
    ]);
    gone.add(claims[0] ? 'one' : 'two');
    const survivor = claims[0] ? other : jobs;
    assert.equal((await survivor.claim(NOW + 3 * HOUR))?.runs.length, 1);
    assert.deepEqual(shown(jobs, job.id), [
      [3, 1, null],
      [2, 1, 'skipped'],
      [1, 1, 'interrupted'],
    ]);
  },
);

verifies('R5.48', 'two jobs run side by side, and beyond the runs of an hour a due time is refused', async (t) => {
  const { jobs, other } = openJobs(t, { max_runs_per_hour: 3 });
  const all = [
    await add(jobs, 'every 1h'),
    await add(jobs, 'every 60m'),
    await add(jobs, 'every 1 hour'),
    await add(jobs, '1h'),
  ];
  const [one, two] = [await jobs.claim(NOW + HOUR), await other.claim(NOW + HOUR)];
  assert.ok(one && two);
  assert.equal(await jobs.claim(NOW + HOUR), undefined, 'the third waits');
  await jobs.finish(one.runs[0] ?? 0, { outcome: 'done' }, NOW + HOUR + 1);
  const third = await jobs.claim(NOW + HOUR + 2);
  await jobs.finish(third?.runs[0] ?? 0, { outcome: 'done' }, NOW + HOUR + 3);
  assert.equal(await jobs.claim(NOW + HOUR + 4), undefined);
  const outcomes = all.map(({ id }) => jobs.runs({ job: id })[0]?.outcome).sort();
  assert.deepEqual(outcomes, [null, 'done', 'done', 'refused'].sort());
});

verifies(
  ['R5.45', 'R5.47'],
  'through random lives every due time is in one row, none ran twice, none is silent',
  async (t) => {
    for (const seed of [1, 2, 3, 4]) {
      assert.ok((await live({ folder: createTempHome(t).path, seed, jobs: 12, steps: 40 })) > 100);
    }
  },
);

verifies('R5.49', 'a result is told once, a failure once a day, and that it works again once', async (t) => {
  const { jobs } = openJobs(t);
  await add(jobs, 'every 1h', { name: 'mail' });
  const run = async (hour: number, end: object) => {
    const claimed = await jobs.claim(NOW + hour * HOUR);
    await jobs.finish(claimed?.runs[0] ?? 0, end, NOW + hour * HOUR);
    return (await jobs.news(NOW + hour * HOUR)).map(({ text }) => text);
  };
  const [fails, works] = [
    { outcome: 'failed', error: 'no net' },
    { outcome: 'done', result: '3 mails', delivery: 'queued' },
  ];
  assert.match((await run(1, works)).join(), /^cron mail: 3 mails$/);
  assert.equal(jobs.runs()[0]?.delivery, 'sent');
  assert.deepEqual(await jobs.news(NOW), []);
  assert.match((await run(2, fails)).join(), /mail failed: no net/);
  assert.deepEqual(await run(3, fails), []);
  assert.match((await run(27, fails)).join(), /mail failed/);
  assert.match((await run(28, { ...works, delivery: 'none' })).join(), /^cron mail works again/);
  assert.deepEqual(await run(29, { ...works, delivery: 'none' }), []);
});

verifies('R5.45', 'the newest 1,000 rows of a job are kept, and what still runs', async (t) => {
  const folder = createTempHome(t).path;
  const { jobs } = openJobs(t, {}, folder);
  const job = await add(jobs, 'every 1h');
  const { database } = openDatabase(join(folder, 'schedule.sqlite'), { rooms: [scheduleSchema] });
  t.after(() => database.close());
  database.run(
    `WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 1002)
     INSERT INTO runs(job, name, count, holder, outcome) SELECT ?, 'x', 1, 'one', iif(n = 2, NULL, 'done') FROM more`,
    job.id,
  );
  await jobs.claim(NOW + HOUR);
  const rows = jobs.runs({ limit: -1 });
  assert.deepEqual([rows.length, ...rows.slice(-2).map(({ id }) => id), rows[0]?.id], [1_001, 4, 2, 1_003]);
});

verifies('R5.54', 'a tick over 1,000 jobs of which none is due reads no job', async (t) => {
  const folder = createTempHome(t).path;
  const { jobs } = openJobs(t, {}, folder);
  await add(jobs, '2027-01-01T09:00');
  const { database } = openDatabase(join(folder, 'schedule.sqlite'), { rooms: [scheduleSchema] });
  t.after(() => database.close());
  database.run(
    `WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 999)
     INSERT INTO jobs SELECT id || n, state, next_run_at, ran, created_at, told_at, 'no JSON at all' FROM jobs, more`,
  );
  const plan = database.all<{ detail: string }>(
    "EXPLAIN QUERY PLAN SELECT * FROM jobs WHERE state = 'active' AND next_run_at <= 1 ORDER BY next_run_at, id LIMIT 1",
  );
  assert.match(plan.map(({ detail }) => detail).join(), /SEARCH jobs USING INDEX jobs_due/);
  for (let tick = 0; tick < 20; tick += 1) assert.equal(await jobs.claim(NOW + HOUR), undefined);
});

verifies(
  'R5.40',
  'a job is found by id or by name without regard to case; an ambiguous name is refused with the ids',
  async (t) => {
    const { jobs } = openJobs(t);
    const [one, two] = [await add(jobs, 'every 1h', { name: 'Mail' }), await add(jobs, 'every 2h', { name: 'mail' })];
    const both = jobs.find('MAIL');
    assert.ok(!both.ok && both.reason === 'ambiguous' && both.detail.includes(one.id) && both.detail.includes(two.id));
    await jobs.remove(two, NOW);
    const found = jobs.find('MAIL');
    assert.ok(found.ok && found.value.id === one.id);
    assert.equal(jobs.find(one.id).ok, true);
    assert.equal(jobs.find('nothing').ok, false);
  },
);

verifies('R5.45', 'a damaged file is put aside and said; one of a newer version is only read', async (t) => {
  const { jobs } = openJobs(t);
  await add(jobs, 'every 1h');
  const path = join(createTempHome(t).path, 'schedule.sqlite');
  writeFileSync(path, 'this is no database, and it is long enough to be looked at as one'.repeat(20));
  const { database, notices } = openDatabase(path, { rooms: [scheduleSchema], onNewer: 'read-only' });
  assert.equal(notices[0]?.code, 'database-quarantined');
  assert.match(readFileSync(notices[0]?.copy ?? '', 'utf8'), /no database/);
  database.run("UPDATE schema_versions SET version = 99 WHERE room = 'schedule'");
  database.close();
  const newer = openDatabase(path, { rooms: [scheduleSchema], onNewer: 'read-only' }).database;
  t.after(() => newer.close());
  const place = { database: newer, clock: createManualClock(), holder: 'x', stateOf: () => 'alive' as const };
  const reading = new Jobs({ ...place, limits: { max_runs_per_hour: 1, catch_up: 'latest' } });
  assert.deepEqual([reading.list(), await reading.claim(NOW), await reading.news(NOW)], [[], undefined, []]);
  await assert.rejects(async () => add(reading, 'every 1h'), { code: 'home-newer' });
});
