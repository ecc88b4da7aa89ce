/** Owns a life of many jobs under six processes that tick, stop, die and come again, on a clock of its own; and the reckoning at its end. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { openDatabase } from '#base/database.ts';
import { seededRandom } from '#base/ids.ts';
import { type Job, Jobs, type Run, scheduleSchema } from '#extensions/schedule/jobs.ts';
import { read, times } from '#extensions/schedule/when.ts';
import { createManualClock } from '#testing/manual-clock.ts';

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC'];
const SAID = [
  ...[
    'every 7m',
    'every 2h',
    'every 3d',
    'every day at 02:30',
    'weekdays at 8:15',
    'every tuesday and friday at 18:00',
  ],
  ...['first day of the month at 7am', '*/20 * * * *', '0 */5 * * *', '15,45 1-3 * * *', '@daily', '90m', 'in 4 days'],
];

export interface Life {
  readonly folder: string;
  readonly seed: number;
  readonly jobs: number;
  readonly steps: number;
  /** The longest stretch of time off, ms. */
  readonly off?: number;
}

/** Gives how many due times were told apart. */
export async function live({ folder, seed, jobs: count, steps, off = 6 * 86_400_000 }: Life): Promise<number> {
  const random = seededRandom(seed);
  const pick = <One>(list: readonly One[]): One => list[Math.floor(random() * list.length)] as One;
  // A week before daylight saving begins or ends somewhere.
  const clock = createManualClock({
    now: Date.parse(pick(['2026-03-05T00:00Z', '2026-03-25T00:00Z', '2026-10-22T00:00Z'])),
  });
  const gone = new Set<string>();
  const limits = { max_runs_per_hour: pick([3, 1e6]), catch_up: pick(['latest', 'none', 'all'] as const) };
  const open = (holder: string) => {
    const { database } = openDatabase(join(folder, 'schedule.sqlite'), { rooms: [scheduleSchema], clock });
    return {
      holder,
      database,
      jobs: new Jobs({ database, clock, limits, holder, stateOf: (one) => (gone.has(one) ? 'gone' : 'alive') }),
    };
  };
  let born = 0;
  const tickers = Array.from({ length: 6 }, () => open(`p${born++}`));
  const made: { readonly job: Job; readonly at: number }[] = [];
  for (let each = 0; each < count; each += 1) {
    const schedule = read(pick(SAID), clock.now(), pick(ZONES));
    assert.ok(schedule.ok);
    const wish = {
      name: `job ${each}`,
      prompt: 'x',
      deliver: 'local',
      workdir: folder,
      skills: [],
      toolsets: null,
      model: null,
    };
    const more = { schedule: schedule.value, repeat: random() < 0.1 ? 3 : null, created_by: 'owner' } as const;
    made.push({ at: clock.now(), job: await pick(tickers).jobs.create({ ...wish, ...more }, 'active', clock.now()) });
  }
  const running: { readonly run: number; readonly by: (typeof tickers)[number] }[] = [];
  const claimAll = async () => {
    const claims = await Promise.all(tickers.map(async (by) => ({ by, claimed: await by.jobs.claim(clock.now()) })));
    for (const { by, claimed } of claims) for (const run of claimed?.runs ?? []) running.push({ run, by });
    return claims.some(({ claimed }) => claimed !== undefined);
  };
  const endAll = async () => {
    for (const { run, by } of running.splice(0))
      if (!gone.has(by.holder)) await by.jobs.finish(run, { outcome: 'done' }, clock.now());
  };
  const die = () => {
    const at = Math.floor(random() * tickers.length);
    gone.add(tickers[at]?.holder ?? '');
    tickers[at]?.database.close();
    tickers[at] = open(`p${born++}`);
  };
  for (let step = 0; step < steps; step += 1) {
    clock.jump(pick([off / 10_000, off / 300, off / 100, off / 25, off / 6, off]) * random());
    if (random() < 0.05) clock.jump(-7_200_000);
    await claimAll();
    if (random() < 0.6) await endAll();
    if (random() < 0.15) die();
  }
  do await endAll();
  while (await claimAll());
  await endAll();
  const [{ jobs } = tickers[0]!] = tickers;
  const told = reckon(jobs, made);
  for (const { database } of tickers) database.close();
  return told;
}

/** Every due time until the next one is in exactly one row, each row has its end, and none ran twice. */
function reckon(jobs: Jobs, made: readonly { readonly job: Job; readonly at: number }[]): number {
  const rows = Map.groupBy(jobs.runs({ limit: -1 }), ({ job }) => job);
  const now = new Map(jobs.list().map((job) => [job.id, job]));
  let told = 0;
  for (const { job, at } of made) {
    const own: readonly Run[] = rows.get(job.id) ?? [];
    const { state, next_run_at: next = null } = now.get(job.id) ?? {};
    const last = own.reduce((most, { due_at }) => Math.max(most, due_at ?? 0), 0);
    const covered = own.flatMap(({ due_at, count }) => {
      assert.ok(due_at !== null);
      return [due_at, ...times(job.schedule, due_at).take(count - 1)];
    });
    const end = next ?? Math.max(last, ...covered) + 1;
    const expected = [...times(job.schedule, at).take(covered.length + 1)].filter((due) => due < end);
    assert.deepEqual(
      covered.sort((a, b) => a - b),
      expected,
      job.schedule.display,
    );
    assert.deepEqual(
      own.filter(({ outcome }) => outcome === null),
      [],
      'a row without an end',
    );
    const ran = own.filter(({ started_at }) => started_at !== null).length;
    assert.ok(job.repeat === null || ran <= job.repeat);
    assert.ok(state === 'active' || job.schedule.kind === 'once' || ran === job.repeat);
    told += covered.length;
  }
  return told;
}
