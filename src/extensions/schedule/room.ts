// Owns the front of the schedule: its settings, its tool, what ticks while something serves, and schedule.sqlite, opened when it is asked for.
// Invariant: a plain start opens no file of it and loads nothing that reads a schedule.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openDatabase } from '#base/database.ts';
import { lazy } from '#base/lazy.ts';
import { holderName, holderState } from '#base/process/holder.ts';
import { plural } from '#base/text.ts';
import { good, type HealthLine } from '#core/agent/health.ts';
import type { OpenRoom, Room, RoomGround } from '#core/agent/room.ts';
import { lateTool } from '#core/agent/tool.ts';
import type { Desk } from './tick.ts';

declare module '#core/agent/room.ts' {
  interface Doors {
    /** Opens schedule.sqlite. */
    readonly schedule: () => Promise<Desk>;
  }
}

const settings = z.object({
  max_cost: z.number().positive().optional().describe('US dollars that one scheduled run may cost.'),
  max_minutes: z.int().min(1).max(1_440).default(60).describe('Minutes that one scheduled run may take.'),
  max_runs_per_hour: z.int().min(1).default(20).describe('Runs that may begin within an hour.'),
  catch_up: z
    .enum(['latest', 'none', 'all'])
    .default('latest')
    .describe('What runs of the times that passed while nothing ticked; all: the newest ten.'),
});

const FILE = 'schedule.sqlite';
const TICK_MS = 15_000;

const card = {
  name: 'cronjob',
  description:
    'Jobs that run later or again and again, unattended. schedule: "30m", "every 2h", "0 9 * * 1-5", "every day at 9:30".',
  input: z.object({
    action: z.enum(['create', 'list', 'edit', 'pause', 'resume', 'remove', 'run']),
    job: z.string().describe('id or name').optional(),
    schedule: z.string().optional(),
    prompt: z.string().describe('the whole task: a run knows nothing of this conversation').optional(),
    name: z.string().optional(),
    skills: z.array(z.string()).optional(),
    toolsets: z.array(z.string()).optional(),
    model: z.string().optional(),
    workdir: z.string().optional(),
    repeat: z.int().min(1).optional(),
    zone: z.string().optional(),
  }),
  toolset: 'schedule',
  effect: 'write',
  defer: 'rare',
} as const;

function openSchedule(ground: RoomGround): OpenRoom {
  const { clock, places, seat, serves, background } = ground;
  const desk = lazy(async (): Promise<Desk> => {
    const [{ Jobs, scheduleSchema }, config] = await Promise.all([import('./jobs.ts'), ground.settings()]);
    const limits = config.section('schedule', settings);
    const database = ground.database(FILE, scheduleSchema);
    const jobs = new Jobs({ database, clock, limits, holder: holderName(), stateOf: holderState });
    // Whoever asks in its first seconds hears that it ticks.
    if (serves) await jobs.beat('serve', clock.now());
    return { ground, jobs, limits, now: clock.now };
  });
  if (serves) background.hold('cron', desk());
  const isThere = () => existsSync(join(places.home, FILE));
  const load = async () => (await import('./commands.ts')).cronjobTool(card, desk, seat.isAttended);
  const run = async () =>
    background.hold('cron', (await import('./tick.ts')).tick(await desk(), 'serve', background.signal));
  return {
    doors: { schedule: desk },
    tools: [lateTool(card, load)],
    rules: async () => (await import('./commands.ts')).scheduleRules,
    news: async () => (isThere() ? (await (await desk()).jobs.news(clock.now())).map(({ text }) => text) : []),
    deliveries: async (to, keep) => void (isThere() && (await (await desk()).jobs.news(clock.now(), to, keep))),
    forget: async (what) => (isThere() ? (await desk()).jobs.forget(what) : []),
    imports: {
      entry: 'cron',
      bring: async (from, isDry) => {
        const folder = join(from, 'cron');
        if (!existsSync(folder)) return [];
        const jobs = isDry ? undefined : (await desk()).jobs;
        return (await import('./commands.ts')).importJobs(ground, jobs, folder);
      },
    },
    jobs: serves ? [{ name: 'cron', everyMs: TICK_MS, run }] : [],
  };
}

export const room: Room = {
  name: 'schedule',
  settings: async () => settings.describe('Jobs that run later; see `talaria cron`.'),
  lends: ['schedule'],
  commands: async (ground) => (await import('./commands.ts')).cronCommands(ground),
  doctor: async ({ places, clock }): Promise<readonly HealthLine[]> => {
    const path = join(places.home, FILE);
    if (!existsSync(path)) return [];
    const { database } = openDatabase(path, { rooms: [], readOnly: true, onCorrupt: 'throw', clock });
    const [row] = database.all<{ count: number }>("SELECT count(*) AS count FROM jobs WHERE state = 'active'");
    database.close();
    return [good('schedule', `${plural(row?.count ?? 0, 'active job')}; \`talaria cron status\` tells more`)];
  },
  open: openSchedule,
};
