// Owns how the schedule is spoken to: `talaria cron`, the tool `cronjob`, the lines that reflex/1 takes for a schedule, and jobs of hermes-agent.
// Invariant: what a model asks for where nobody looks on, or after it read foreign words, waits as `pending` for the owner's `cron resume`.
import { join } from 'node:path';
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { readIfThere } from '#base/platform.ts';
import { holderState, holderWords } from '#base/process/holder.ts';
import type { Scheduler } from '#base/process/service.ts';
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
import { localTime, localZone, read, times } from './when.ts';

const TICKS = 'Start `talaria serve`, or let this machine tick: `talaria cron install`.';
const iso = (at: number | null) => (at === null ? null : isoTime(at));

function runValue(run: Run): JsonObject {
  return { ...run, due_at: iso(run.due_at), started_at: iso(run.started_at), ended_at: iso(run.ended_at) };
}

function jobValue({ jobs }: Desk, { ran: _, ...job }: Job): JsonObject {
  const [last] = jobs.runs({ job: job.id, limit: 1 });
  return {
    ...job,
    next_run_at: iso(job.next_run_at),
    created_at: iso(job.created_at),
    enabled: job.state === 'active',
    last_run: last ? runValue(last) : null,
  };
}

/** The last says what to do where nothing ticks. */
function tickLines({ jobs, now }: Desk): readonly string[] {
  const rows = jobs.tickers().filter(({ at }) => Math.abs(now() - at) < 180_000);
  const alive = rows.filter(({ kind, holder }) => kind === 'tick' || holderState(holder) === 'alive');
  if (alive.length === 0) return [`Nothing ticks, so no job runs by itself. ${TICKS}`];
  return alive.map(({ kind, holder, at }) => `${kind} ticks: ${holderWords(holder)}, last at ${isoTime(at)}`);
}

/** What is said, and the same as data. */
type Answer = readonly [lines: readonly string[], value: JsonValue];

/** With its next three times. */
function lineOf({ id, name, schedule, state, next_run_at: next }: Job): string {
  const due = next === null || state !== 'active' ? [] : [next, ...times(schedule, next).take(2)];
  const at = due.map((one) => localTime(one, schedule.zone)).join(', ');
  const wait = state === 'pending' ? `, until you say \`talaria cron resume ${id}\`` : '';
  return `${name} (${id}): ${schedule.display} (${schedule.zone}), ${state}${at && `, next ${at}`}${wait}`;
}

function ofJob(desk: Desk, job: Job): Answer {
  const ticks = job.state === 'active' ? tickLines(desk) : [];
  return [[lineOf(job), `  ${ellipsize(oneLine(job.prompt), 160)}`, ...ticks], jobValue(desk, job)];
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
  return [all.length > 0 ? all.map(lineOf) : ['There is no job.'], all.map((job) => jobValue(desk, job))];
}

function status(desk: Desk): Answer {
  const { jobs, now } = desk;
  const due = jobs.list("WHERE state = 'active' AND next_run_at <= ?", now());
  const pending = jobs.list("WHERE state = 'pending'");
  const last = jobs.list().flatMap(({ id }) => jobs.runs({ job: id, limit: 1 }));
  const [lines, failed] = ofRuns(last.filter(({ outcome }) => /^(?:failed|interrupted|refused)$/.test(outcome ?? '')));
  const said = [
    ...tickLines(desk),
    `due now: ${due.length}`,
    ...pending.map((job) => `asked by the agent: ${lineOf(job)}`),
    ...lines.map((text) => `failed: ${text}`),
  ];
  const values = (list: readonly Job[]) => list.map((job) => jobValue(desk, job));
  const ticks = jobs.tickers().map((row) => ({ ...row, at: isoTime(row.at) }));
  return [said, { ticks, due: values(due), pending: values(pending), failed }];
}

type Order = Asked & { readonly job?: string; readonly paused?: boolean; readonly now?: number };
type By = Pick<CommandContext, 'cwd' | 'signal'>;
type Done = Result<Answer> | Promise<Result<Answer>>;
type Obey = (desk: Desk, order: Order, by: By) => Done;

function onJob(obey: (desk: Desk, job: Job, asked: Asked, by: By) => Done): Obey {
  return (desk, { job = '', paused: _, ...asked }, by) => {
    const found = desk.jobs.find(job);
    return found.ok ? obey(desk, found.value, asked, by) : found;
  };
}

const create: Obey = async (desk, { paused, job: _, ...asked }, by) => {
  const made = await wishOf(desk.ground, asked, by);
  if (!made.ok) return made;
  const waits = asked.created_by === 'agent' ? 'pending' : 'paused';
  return ok(ofJob(desk, await desk.jobs.create(made.value, paused ? waits : 'active', desk.now())));
};

async function change(desk: Desk, job: Job, to: Parameters<Jobs['change']>[1]): Promise<Result<Answer>> {
  return ok(ofJob(desk, await desk.jobs.change(job, to, desk.now())));
}

const edit = onJob(async (desk, before, asked, { cwd }) => {
  const made = await wishOf(desk.ground, asked, { cwd, before });
  return made.ok ? change(desk, before, { wish: made.value }) : made;
});

const remove = onJob(async ({ jobs, now }, job) => {
  await jobs.remove(job, now());
  return ok([[`${job.name} is gone.`], null]);
});

const run = onJob(async (desk, job, _, { signal }) => {
  const begun = await desk.jobs.start(job, desk.now());
  if (!begun.ok) return begun;
  await runJob(desk, job, begun.value, signal);
  const runs = desk.jobs.runs({ id: begun.value });
  return runs[0]?.outcome === 'done' ? ok(ofRuns(runs)) : refuse('run-failed', ofRuns(runs)[0].join());
});

const runs: Obey = (desk, order, by) => {
  if (order.job === undefined) return ok(ofRuns(desk.jobs.runs()));
  return onJob(({ jobs }, { id }) => ok(ofRuns(jobs.runs({ job: id }))))(desk, order, by);
};

const tickNow: Obey = async (desk, { now: at }, { signal }) => {
  const now = at === undefined ? desk.now : () => at;
  const ids = await tick({ ...desk, now }, 'tick', signal);
  return ok(ofRuns(ids.flatMap((id) => desk.jobs.runs({ id }))));
};

const text = (about: string) => z.string().describe(about);
const maybe = (about: string) => text(about).optional();
const time = (about: string) =>
  z.coerce
    .date({ error: 'It must be a time, e.g. 2027-01-31T09:00Z.' })
    .transform((date) => date.getTime())
    .optional()
    .describe(about);
/** As `--toolsets` is typed everywhere. */
const names = (about: string) =>
  text(about)
    .transform((list) => list.split(/[\s,]+/).filter(Boolean))
    .optional();
const job = text('Id or name of the job');
const schedule = text('30m, every 2h, "0 9 * * 1-5", "every day at 09:30", "tomorrow at 5pm", …');
const prompt = text('The whole task');
const zone = maybe("Time zone, e.g. Europe/Berlin; default: the machine's");
const wish = {
  zone,
  name: maybe('What it is called; default: how the prompt begins'),
  skills: names('Skills that it reads first: a,b'),
  toolsets: names('All that it may use: a,b'),
  model: maybe('provider/model that answers it'),
  workdir: maybe('Folder that it works in; default: this one'),
  deliver: maybe('Where its answer goes: local'),
  repeat: z.coerce.number().int().positive().optional().describe('So many runs, and no more'),
};
const make = { schedule, prompt, ...wish, paused: z.boolean().default(false).describe('Not before `cron resume`') };
const remake = { job, ...wish, schedule: schedule.optional(), prompt: prompt.optional() };

type Fields = Readonly<Record<string, z.ZodType>>;
const ORDERS: readonly (readonly [action: string, summary: string, fields: Fields, obey: Obey])[] = [
  ['create', 'Have something done later, or again and again', make, create],
  ['list', 'Every job, and when it is due', {}, (desk) => ok(ofAll(desk))],
  ['show', 'One job, with its next three times', { job }, onJob((desk, one) => ok(ofJob(desk, one)))],
  ['edit', 'Change a job', remake, edit],
  ['pause', 'Keep a job from running', { job }, onJob((desk, one) => change(desk, one, { state: 'paused' }))],
  [
    'resume',
    'Let a job run that was paused, or waits for your yes',
    { job },
    onJob((desk, one) => change(desk, one, { state: 'active' })),
  ],
  ['remove', 'Take a job away; what its runs came to stays', { job }, remove],
  ['run', 'Run a job now, and wait for its end', { job }, run],
  ['runs', 'What came of each due time, the newest first', { job: job.optional() }, runs],
  ['tick', 'Run what is due, and end', { now: time('As if it were this time (ISO)') }, tickNow],
  ['status', 'What ticks, what is due, what failed, what waits for your yes', {}, (desk) => ok(status(desk))],
];
const READING = new Set(['list', 'show', 'runs', 'status']);
const TYPED = new Set(['unreadable', 'too-often', 'zone-unknown', 'incomplete']);

function* answered(done: Result<Answer>): Generator<CommandOutput> {
  if (done.ok) {
    for (const text of done.value[0]) yield line(text);
    return yield { type: 'data', value: done.value[1] };
  }
  const { reason, detail } = done;
  if (reason === 'run-failed') return yield failed(reason, detail);
  const fix = /^(?:no-such-job|ambiguous)$/.test(reason) ? '`talaria cron list` has all jobs.' : '';
  yield TYPED.has(reason) ? wrongUse(reason, detail) : refused(reason, detail, fix);
}

export function cronCommands(ground: Ground): readonly AnyCommand[] {
  const orders = ORDERS.map(([action, summary, fields, obey]) =>
    defineCommand<Order>({
      name: `cron ${action}`,
      summary,
      surfaces: ['cli'],
      positional: 'job' in fields ? ['job'] : ['schedule', 'prompt'].filter((name) => name in fields),
      ...(READING.has(action) && { readOnly: true }),
      input: z.object(fields) as unknown as z.ZodType<Order>,
      async *run(order, by) {
        yield* answered(await obey(await (await ground.door('schedule'))(), order, by));
      },
    }),
  );
  return [
    ...orders,
    nextCommand(ground),
    serviceCommand(ground, 'install', 'Let systemd or launchd tick every minute'),
    serviceCommand(ground, 'uninstall', 'Take that timer away'),
  ];
}

/** Needs no home. */
function nextCommand({ clock }: Ground): AnyCommand {
  const count = z.coerce.number().int().min(1).max(1_000).default(5).describe('How many');
  return defineCommand({
    name: 'cron next',
    summary: 'The next times of a schedule',
    surfaces: ['cli'],
    readOnly: true,
    positional: ['schedule'],
    input: z.object({ schedule, zone, count, from: time('Time to begin at (ISO)') }),
    async *run({ schedule: said, from: start = clock.now(), zone: place = localZone(), count: most }) {
      const found = read(said, start, place);
      if (!found.ok) return yield* answered(found);
      const due = times(found.value, start).take(most);
      const all = [...due].map((one) => ({ at: isoTime(one), local: localTime(one, place) }));
      yield* answered(ok([[`${found.value.display} (${place})`, ...all.map((one) => `${one.local}  ${one.at}`)], all]));
    },
  });
}

const INSTEAD = 'Or run `talaria serve`.';

function serviceCommand(ground: Ground, name: 'install' | 'uninstall', summary: string): AnyCommand {
  return defineCommand({
    name: `cron ${name}`,
    summary,
    surfaces: ['cli'],
    input: z.object({}),
    async *run(_: object, { signal }) {
      const { findScheduler } = await import('#base/process/service.ts');
      const scheduler = findScheduler(ground);
      if (!scheduler) return yield refused('no-scheduler', 'This machine has no systemd and no launchd.', INSTEAD);
      yield* name === 'install' ? install(ground, scheduler, signal) : uninstall(ground, scheduler, signal);
    },
  });
}

async function* install(ground: Ground, scheduler: Scheduler, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const { carryOut, planService, schedulerFix } = await import('#base/process/service.ts');
  const { home } = ground.places;
  const spec = {
    name: 'cron',
    about: ['Talaria: jobs', 'Talaria: when jobs are due'] as const,
    program: ground.program,
    args: ['cron', 'tick'],
    schedule: scheduler.name === 'systemd' ? '*:0/1' : '60',
    env: { TALARIA_HOME: home },
    logs: { out: join(home, 'logs', 'cron.out.log'), err: join(home, 'logs', 'cron.err.log') },
  };
  const plan = await planService(spec, { scheduler, enable: true }, ground, signal);
  if (!plan.ok) return yield refused(plan.reason, plan.detail);
  const { exit_code, output } = await carryOut(plan.value, ground, signal);
  for (const { path } of plan.value.files) yield line(`written: ${path}`);
  if (exit_code !== 0)
    yield failed('timer-not-enabled', `${scheduler.name}: ${output.trim()}`, schedulerFix(scheduler, output, INSTEAD));
}

async function* uninstall(ground: Ground, scheduler: Scheduler, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const { removeService } = await import('#base/process/service.ts');
  const { removed, done } = await removeService('cron', { scheduler, keepEnabled: false }, ground, signal);
  yield line(`removed: ${removed.join(', ') || 'nothing was there'}`);
  if (done?.exit_code)
    yield failed('timer-not-disabled', `${scheduler.name}: ${done.output.trim()}`, 'It ends when you log out.');
}

export function cronjobTool<Input extends { readonly action: string }>(
  card: ToolCard<Input>,
  open: () => Promise<Desk>,
  isAttended: (session: string) => boolean,
): AnyTool {
  return defineTool<Input>({
    ...card,
    summary: ({ action, ...asked }: Input & Order) => `cronjob ${action} ${asked.job ?? asked.schedule ?? ''}`,
    run: async ({ action, ...asked }, { sessionId, history, cwd }, signal) => {
      const desk = await open();
      const isOwners = isAttended(sessionId) && !isTainted(history());
      const order = { ...(asked as Order), paused: !isOwners };
      const here = order.deliver === 'origin' ? await originOf(desk, sessionId) : {};
      const done = await askedByAgent(desk, action, { ...order, ...here }, { cwd, signal });
      // An answer, or what is nobody's word yet.
      const isForeign = action === 'run' || desk.jobs.list("WHERE state = 'pending'").length > 0;
      const said = done.ok ? done.value[0].join('\n') : done.detail;
      return { text: said, isError: !done.ok, origin: isForeign ? 'foreign' : 'observed' };
    },
  });
}

/** The chat that a session talks in; none: at home. */
async function originOf({ ground }: Desk, sessionId: string): Promise<Pick<Order, 'deliver'>> {
  const session = await (await ground.door('sessions')).get(sessionId);
  return { deliver: session?.chatId === undefined ? 'local' : `${session.source}:${session.chatId}` };
}

/** `paused`: the words may be another's. Then, and of what waits already, only the owner disposes. */
async function askedByAgent(desk: Desk, action: string, order: Order, by: By): Promise<Result<Answer>> {
  const obey = ORDERS.find(([name]) => name === action)?.[3];
  if (obey === undefined || action === 'create') return create(desk, { ...order, created_by: 'agent' }, by);
  const found = desk.jobs.find(order.job ?? '');
  const isHis = found.ok && (found.value.state === 'pending' || order.paused);
  const detail = `That is the owner's to do: talaria cron ${action} ${order.job}`;
  return isHis ? refuse('the-owners', detail) : obey(desk, order, by);
}

// Lines that reflex/1 takes for a schedule: the longest piece at one end that reads as one; the rest is what is to be done.

const ASKS = /^(?:remind me|schedule|(?=(?:every|each) ))\s*(.+)$/i;

function parted({ words: said, now }: ReflexInput): Record<'schedule' | 'prompt', string> | undefined {
  const all = ASKS.exec(said)?.[1]?.split(/\s+/) ?? [];
  for (let size = all.length - 1; size > 0; size -= 1) {
    for (const at of [0, all.length - size]) {
      const piece = all.slice(at, at + size).join(' ');
      const when = read(piece.replace(/[,:]$/, ''), now);
      const rest = all.toSpliced(at, size).join(' ');
      const asked = rest.replace(/^(?:to|that|about)\s+|[,\s]+$/g, '');
      if (when.ok) return { schedule: when.value.display, prompt: asked };
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
    const made = await wishOf(ground, asked, { cwd: ground.places.userHome });
    if (!made.ok) return { name, outcome: { left: made.detail } };
    if (jobs?.list().some((one) => one.name === name && one.prompt === asked.prompt)) return { name, outcome: 'here' };
    await jobs?.create(made.value, 'paused', ground.clock.now());
    const lost = NO_COUNTERPART.filter((key) => `${theirs[key] ?? ''}` !== '' && theirs[key] !== 'local').join(', ');
    return { name, outcome: lost ? { left: `it came without what has no counterpart: ${lost}` } : 'taken' };
  });
  return Promise.all(brought);
}
