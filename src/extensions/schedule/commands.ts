// Owns how the schedule is spoken to: `talaria cron`, the tool `cronjob`, the lines that reflex/1 takes for a schedule, and jobs of hermes-agent.
// Invariant: what a model asks for where nobody looks on, or after it read foreign words, waits as `pending` for the owner's `cron resume`.
import { join } from 'node:path';
import { z } from 'zod';
import { isoTime, parseTime } from '#base/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { readIfThere } from '#base/platform.ts';
import { holderState, holderWords } from '#base/process/holder.ts';
import type { ServiceSpec } from '#base/process/service-units.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  failed,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { ReflexInput, ReflexRule } from '#core/agent/reflex-rule.ts';
import type { Brought, Ground } from '#core/agent/room.ts';
import { type AnyTool, defineTool, type ToolCard } from '#core/agent/tool.ts';
import { isTainted } from '#core/model/message.ts';
import type { Job, Jobs, Run } from './jobs.ts';
import { type Asked, type Desk, runJob, tick, wishOf } from './tick.ts';
import { calendar, localTime, localZone, readWords } from './when.ts';

const TICKS = 'Start `talaria serve`, or let this machine tick: `talaria cron install`.';
const iso = (at: number | null) => (at === null ? null : isoTime(at));

function runValue(run: Run): JsonObject {
  return { ...run, due_at: iso(run.due_at), started_at: iso(run.started_at), ended_at: iso(run.ended_at) };
}

function jobValue({ jobs }: Desk, { ran: _, ...job }: Job): JsonObject {
  const [last] = jobs.runs({ job: job.id, limit: 1 });
  const times = { next_run_at: iso(job.next_run_at), created_at: iso(job.created_at) };
  return { ...job, ...times, enabled: job.state === 'active', last_run: last ? runValue(last) : null };
}

/** The last says what to do where nothing ticks. */
function tickLines({ jobs, ground }: Desk): readonly string[] {
  const rows = jobs.tickers().filter(({ at }) => Math.abs(ground.clock.now() - at) < 180_000);
  const alive = rows.filter(({ kind, holder }) => kind === 'tick' || holderState(holder) === 'alive');
  if (alive.length === 0) return [`Nothing ticks, so no job runs by itself. ${TICKS}`];
  return alive.map(({ kind, holder, at }) => `${kind} ticks: ${holderWords(holder)}, last at ${isoTime(at)}`);
}

/** What is said, and the same as data. */
type Answer = readonly [lines: readonly string[], value: JsonValue];

async function ofJob(desk: Desk, job: Job): Promise<Answer> {
  const { name, id, schedule, state, prompt, next_run_at: next } = job;
  const said = state === 'pending' ? '' : `\n  ${ellipsize(oneLine(prompt), 160)}`;
  const lines = [`${name} (${id}): ${schedule.display} (${schedule.zone}), ${state}${said}`];
  const times = next === null ? [] : (await calendar()).times(schedule, next - 1, next).take(3);
  const shown = [...times].map((at) => localTime(at, schedule.zone)).join(', ');
  return [state === 'active' ? [...lines, `  next: ${shown}`, ...tickLines(desk)] : lines, jobValue(desk, job)];
}

function ofRuns(runs: readonly Run[]): Answer {
  const lines = runs.map(({ name, due_at, started_at, count, outcome, error, result }) => {
    const what = `${outcome ?? 'runs'}${count > 1 ? ` × ${count}` : ''}`;
    return `${iso(due_at ?? started_at)}  ${name}  ${what}  ${ellipsize(oneLine(error ?? result ?? ''), 2_000)}`.trimEnd();
  });
  return [lines, runs.map(runValue)];
}

function ofAll(desk: Desk): Answer {
  const all = desk.jobs.list('ORDER BY next_run_at IS NULL, next_run_at');
  const lines = all.map(({ id, name, schedule, state, next_run_at: next }) => {
    const at = next === null || state !== 'active' ? '' : `, next ${localTime(next, schedule.zone)}`;
    return `${id}  ${state === 'pending' ? '(asked by the agent)' : name}: ${schedule.display}, ${state}${at}`;
  });
  return [lines.length > 0 ? lines : ['There is no job.'], all.map((job) => jobValue(desk, job))];
}

function status(desk: Desk): Answer {
  const { jobs, ground } = desk;
  const due = jobs.list("WHERE state = 'active' AND next_run_at <= ?", ground.clock.now());
  const last = jobs.list().flatMap(({ id }) => jobs.runs({ job: id, limit: 1 }));
  const [lines, failed] = ofRuns(last.filter(({ outcome }) => /^(?:failed|interrupted|refused)$/.test(outcome ?? '')));
  const ticks = jobs.tickers().map((row) => ({ ...row, at: isoTime(row.at) }));
  const said = [...tickLines(desk), `due now: ${due.length}`, ...lines.map((text) => `failed: ${text}`)];
  return [said, { ticks, due: due.map((job) => jobValue(desk, job)), failed }];
}

type Order = Asked & { readonly job?: string; readonly paused?: boolean; readonly now?: string };
type By = Pick<CommandContext, 'cwd' | 'signal'>;
type Obey = (desk: Desk, order: Order, by: By) => Promise<Result<Answer>>;
type ObeyOn = (desk: Desk, job: Job, order: Order, by: By) => Promise<Result<Answer>>;

const OVERALL: Readonly<Record<string, Obey>> = {
  list: async (desk) => ok(ofAll(desk)),
  status: async (desk) => ok(status(desk)),
  runs: async ({ jobs }) => ok(ofRuns(jobs.runs())),
  tick: async (desk, { now }, { signal }) => {
    const at = now === undefined ? undefined : parseTime(now);
    if (now !== undefined && at === undefined) return refuse('unreadable', `${now} is no time.`);
    const ids = await tick(desk, 'tick', signal, at);
    return ok(ofRuns(ids.flatMap((id) => desk.jobs.runs({ id }))));
  },
  create: async (desk, { paused, ...asked }, by) => {
    const made = await wishOf(desk, asked, by);
    if (!made.ok) return made;
    const waits = asked.created_by === 'agent' ? 'pending' : 'paused';
    return ok(
      await ofJob(desk, await desk.jobs.create(made.value, paused ? waits : 'active', desk.ground.clock.now())),
    );
  },
};

const ON_JOB: Readonly<Record<string, ObeyOn>> = {
  show: async (desk, job) => ok(await ofJob(desk, job)),
  runs: async ({ jobs }, { id }) => ok(ofRuns(jobs.runs({ job: id }))),
  pause: (desk, job) => changed(desk, job, { state: 'paused' }),
  resume: async (desk, job) => {
    const isOver = (await calendar()).times(job.schedule, desk.ground.clock.now()).next().done;
    return isOver ? refuse('past', `${job.name} is never due again.`) : changed(desk, job, { state: 'active' });
  },
  remove: async ({ jobs, ground }, job) => {
    await jobs.remove(job, ground.clock.now());
    return ok([[`${job.name} is gone.`], null]);
  },
  edit: async (desk, before, { paused: _, ...asked }, { cwd }) => {
    const made = await wishOf(desk, asked, { cwd, before });
    return made.ok ? changed(desk, before, made.value) : made;
  },
  run: async (desk, job, _, { signal }) => {
    const begun = await desk.jobs.start(job, desk.ground.clock.now());
    if (!begun.ok) return begun;
    await runJob(desk, { job, run: begun.value, now: () => desk.ground.clock.now() }, signal);
    const runs = desk.jobs.runs({ id: begun.value });
    return runs[0]?.outcome === 'done' ? ok(ofRuns(runs)) : refuse('run-failed', ofRuns(runs)[0].join());
  },
};

async function changed(desk: Desk, job: Job, change: Partial<Job>): Promise<Result<Answer>> {
  return ok(await ofJob(desk, await desk.jobs.change(job, change, desk.ground.clock.now())));
}

async function obey(desk: Desk, action: string, { job, ...asked }: Order, by: By): Promise<Result<Answer>> {
  const overall = job === undefined ? OVERALL[action] : undefined;
  const found = desk.jobs.find(job ?? '');
  if (overall || !found.ok) return overall?.(desk, asked, by) ?? refuse('no-such-job', found.ok ? '' : found.detail);
  return ON_JOB[action]?.(desk, found.value, asked, by) ?? refuse('no-such-job', action);
}

const text = (about: string) => z.string().describe(about);
const maybe = (about: string) => text(about).optional();
const job = text('Id or name of the job');
const schedule = text('30m, every 2h, "0 9 * * 1-5", "every day at 09:30", "tomorrow at 5pm", …');
const prompt = text('The whole task');
const zone = maybe("Time zone, e.g. Europe/Berlin; default: the machine's");
const wish = {
  ...{
    zone,
    name: maybe('What it is called; default: how the prompt begins'),
    skills: maybe('Skills that it reads first: a,b'),
  },
  ...{ workdir: maybe('Folder that it works in; default: this one'), toolsets: maybe('All that it may use: a,b') },
  ...{ model: maybe('provider/model that answers it'), deliver: maybe('Where its answer goes: local') },
  repeat: z.coerce.number().int().positive().optional().describe('So many runs, and no more'),
};
const make = { schedule, prompt, ...wish, paused: z.boolean().default(false).describe('Not before `cron resume`') };

const ORDERS: readonly (readonly [summary: string, fields: Readonly<Record<string, z.ZodType>>, action: string])[] = [
  ['Have something done later, or again and again', make, 'create schedule prompt'],
  ['Every job, and when it is due', {}, 'list'],
  ['One job, with its next three times', { job }, 'show job'],
  ['Change a job', { job, ...wish, schedule: schedule.optional(), prompt: prompt.optional() }, 'edit job'],
  ['Keep a job from running', { job }, 'pause job'],
  ['Let a job run that was paused, or waits for your yes', { job }, 'resume job'],
  ['Take a job away; what its runs came to stays', { job }, 'remove job'],
  ['Run a job now, and wait for its end', { job }, 'run job'],
  ['What came of each due time, the newest first', { job: job.optional() }, 'runs job'],
  ['Run what is due, and end', { now: maybe('As if it were this time (ISO)') }, 'tick'],
  ['What ticks, what is due, what failed', {}, 'status'],
];
const TYPED = new Set(['unreadable', 'too-often', 'zone-unknown', 'incomplete']);

function* answered(done: Result<Answer>): Generator<CommandOutput> {
  if (done.ok) {
    for (const text of done.value[0]) yield line(text);
    return yield { type: 'data', value: done.value[1] };
  }
  const { reason, detail } = done;
  if (reason === 'run-failed') return yield failed(reason, detail);
  yield TYPED.has(reason) ? wrongUse(reason, detail) : refused(reason, detail, '`talaria cron list` has all jobs.');
}

export function cronCommands(ground: Ground): readonly AnyCommand[] {
  const orders = ORDERS.map(([summary, fields, words]) => {
    const [action = '', ...positional] = words.split(' ');
    return defineCommand<Order>({
      ...{ name: `cron ${action}`, summary, surfaces: ['cli'], positional },
      ...(/^(?:list|show|runs|status)$/.test(action) ? { readOnly: true } : {}),
      input: z.object(fields) as unknown as z.ZodType<Order>,
      async *run(asked, by) {
        yield* answered(await obey(await (await ground.door('schedule'))(), action, asked, by));
      },
    });
  });
  return [...orders, nextCommand(ground), serviceCommand(ground, 'install'), serviceCommand(ground, 'uninstall')];
}

/** Needs no home. */
function nextCommand({ clock }: Ground): AnyCommand {
  const count = z.coerce.number().int().min(1).max(1_000).default(5).describe('How many');
  return defineCommand({
    ...{ name: 'cron next', summary: 'The next times of a schedule', surfaces: ['cli'], readOnly: true },
    ...{ positional: ['schedule'], input: z.object({ schedule, zone, count, from: maybe('Time to begin at (ISO)') }) },
    async *run({ schedule: said, from, zone: at = localZone(), count: most }): AsyncGenerator<CommandOutput> {
      const start = from === undefined ? clock.now() : parseTime(from);
      if (start === undefined) return yield wrongUse('unreadable', `${from} is no time.`);
      const { read, times } = await calendar();
      const found = read(said, start, at);
      if (!found.ok) return yield* answered(found);
      const all = [...times(found.value, start).take(most)].map((one) => ({
        at: isoTime(one),
        local: localTime(one, at),
      }));
      yield* answered(ok([[`${found.value.display} (${at})`, ...all.map((one) => `${one.local}  ${one.at}`)], all]));
    },
  });
}

function serviceCommand(ground: Ground, name: 'install' | 'uninstall'): AnyCommand {
  const summary = name === 'install' ? 'Let systemd or launchd tick every minute' : 'Take that timer away';
  return defineCommand({
    ...{ name: `cron ${name}`, summary, surfaces: ['cli'], input: z.object({}) },
    async *run(_: object, { signal }): AsyncGenerator<CommandOutput> {
      const service = await import('#base/process/service.ts');
      const scheduler = service.findScheduler(ground);
      if (!scheduler) return yield refused('no-scheduler', 'This machine has no systemd and no launchd.', INSTEAD);
      if (name === 'uninstall') {
        const { removed } = await service.removeService('cron', { scheduler, keepEnabled: false }, ground, signal);
        return yield line(`removed: ${removed.join(', ') || 'nothing was there'}`);
      }
      const plan = await service.planService(
        specOf(ground, scheduler.name),
        { scheduler, enable: true },
        ground,
        signal,
      );
      if (!plan.ok) return yield refused(plan.reason, plan.detail);
      const { exit_code, output } = await service.carryOut(plan.value, ground, signal);
      for (const { path } of plan.value.files) yield line(`written: ${path}`);
      const fix = service.schedulerFix(scheduler, output, INSTEAD);
      if (exit_code !== 0) yield failed('timer-not-enabled', output.trim(), fix);
    },
  });
}

const INSTEAD = 'Or run `talaria serve`.';

function specOf({ places: { home, userHome }, program }: Ground, scheduler: string): ServiceSpec {
  const logs = { out: join(home, 'logs', 'cron.out.log'), err: join(home, 'logs', 'cron.err.log') };
  const env: ServiceSpec['env'] = home === join(userHome, '.talaria') ? {} : { TALARIA_HOME: home };
  const when = { schedule: scheduler === 'systemd' ? '*:0/1' : '60' };
  return {
    name: 'cron',
    about: ['Talaria: jobs', 'Talaria: when jobs are due'],
    program,
    args: ['cron', 'tick'],
    ...when,
    env,
    logs,
  };
}

interface ToolInput {
  readonly action: string;
  readonly job?: string | undefined;
  readonly schedule?: string | undefined;
}

export function cronjobTool<Input extends ToolInput>(
  card: ToolCard<Input>,
  open: () => Promise<Desk>,
  isAttended: (session: string) => boolean,
): AnyTool {
  return defineTool<Input>({
    ...card,
    summary: ({ action, job: named = '', schedule: when = '' }) => `cronjob ${action} ${named}${when}`,
    run: async ({ action, ...asked }, { sessionId, history, cwd }, signal) => {
      const desk = await open();
      const isOwners = isAttended(sessionId) && !isTainted(history());
      const done = await askedByAgent(desk, action, { ...asked, paused: !isOwners } as unknown as Order, {
        cwd,
        signal,
      });
      const note = action === 'create' && !isOwners ? `\n${WAITS}` : '';
      const said = done.ok ? done.value[0].join('\n') + note : done.detail;
      return { text: said, isError: !done.ok, origin: action === 'run' ? 'foreign' : 'observed' };
    },
  });
}

const WAITS = 'It waits for the owner: `talaria cron resume`. Do not make it again.';

/** `paused`: the words may be another's. Then, and of what waits already, only the owner disposes. */
async function askedByAgent(desk: Desk, action: string, order: Order, by: By): Promise<Result<Answer>> {
  if (action === 'create') return obey(desk, action, { ...order, created_by: 'agent' }, by);
  const found = order.job === undefined ? undefined : desk.jobs.find(order.job);
  const isHis = found?.ok === true && (found.value.state === 'pending' || order.paused === true);
  const detail = `That is the owner's to do: talaria cron ${action} ${order.job}`;
  return isHis ? refuse('the-owners', detail) : obey(desk, action, order, by);
}

// Lines that reflex/1 takes for a schedule: the longest piece at one end that reads as one; the rest is what is to be done.

const ASKS = /^(?:remind me|schedule|(?=(?:every|each) ))\s*(.+)$/i;

function parted({ words: said, now }: ReflexInput): Record<'schedule' | 'prompt', string> | undefined {
  const all = ASKS.exec(said)?.[1]?.split(/\s+/) ?? [];
  for (let size = all.length - 1; size > 0; size -= 1) {
    for (const at of [0, all.length - size]) {
      const when = readWords(
        all
          .slice(at, at + size)
          .join(' ')
          .replace(/[,:]$/, ''),
        now,
        localZone(),
      );
      const rest = all
        .toSpliced(at, size)
        .join(' ')
        .replace(/^(?:to|that|about)\s+|[,\s]+$/g, '');
      if (when.ok) return { schedule: when.value.display, prompt: rest };
    }
  }
  return undefined;
}

const scheduleRule: ReflexRule = {
  purpose: 'act',
  intent: 'schedule',
  examples: ['remind me every day at 9:30 to water the plants', 'every friday at 18:00 write the report'],
  match(input) {
    const slots = input.tools.has('cronjob') || input.tools.has('tool_call') ? parted(input) : undefined;
    return slots && { score: input.confirmed ? 1 : 0.5, slots };
  },
  restate: ({ slots }) => `schedule ${slots.schedule}: ${slots.prompt}`,
  act({ slots }, { tools }, [result]) {
    const made = { name: 'cronjob', arguments: { action: 'create', ...slots } };
    const quotes = [{ source: 'cronjob', text: result?.text ?? '' }];
    if (result) return { type: 'say', text: result.isError ? 'Not scheduled:' : 'Scheduled:', quotes };
    return { type: 'call', calls: [tools.has('cronjob') ? made : { name: 'tool_call', arguments: made }] };
  },
};

export const scheduleRules: readonly ReflexRule[] = [scheduleRule];

const NO_COUNTERPART = ['script', 'provider', 'base_url', 'model', 'skills', 'skill', 'context_from', 'deliver'];

/** Jobs of hermes-agent come paused: it may still run them there. Without `jobs` nothing is kept. */
export async function importJobs(ground: Ground, jobs: Jobs | undefined, folder: string): Promise<readonly Brought[]> {
  const parsed = parseJsonObject(readIfThere(join(folder, 'jobs.json')) ?? '{"jobs": []}');
  const list = parsed.ok && Array.isArray(parsed.value.jobs) ? parsed.value.jobs.filter(isJsonObject) : undefined;
  if (!list) return [{ name: 'cron/jobs.json', outcome: { left: 'it cannot be read', broken: true } }];
  const brought = list.map(async (theirs): Promise<Brought> => {
    const name = String(theirs.name ?? theirs.id);
    const { expr, run_at, minutes } = isJsonObject(theirs.schedule) ? theirs.schedule : {};
    const when = String(expr ?? run_at ?? `every ${minutes}m`);
    const asked = { name, prompt: String(theirs.prompt), schedule: when, created_by: 'import' } as const;
    const made = await wishOf({ ground }, asked, { cwd: ground.places.userHome });
    if (!made.ok) return { name, outcome: { left: made.detail } };
    if (jobs?.list().some((one) => one.name === name && one.prompt === asked.prompt)) return { name, outcome: 'here' };
    await jobs?.create(made.value, 'paused', ground.clock.now());
    const lost = NO_COUNTERPART.filter((key) => `${theirs[key] ?? ''}` !== '' && theirs[key] !== 'local').join(', ');
    return { name, outcome: lost ? { left: `it came without what has no counterpart: ${lost}` } : 'taken' };
  });
  return Promise.all(brought);
}
