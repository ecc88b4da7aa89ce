// Owns what a tick does: what is due is claimed, runs as a turn of its own, and its end is kept; and what a job may ask for. Knows no surface.
// Invariants: a run has no history, nobody to approve and no `cronjob`; whatever fails is the end of its row, and the next one begins.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { deadline } from '#base/abort.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import type { Ground, TurnRequest } from '#core/agent/room.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Job, Jobs, Run, Wish } from './jobs.ts';
import { read } from './when.ts';

export interface Desk {
  readonly ground: Ground;
  readonly jobs: Jobs;
  /** Of a run: US dollars, minutes. */
  readonly limits: { readonly max_cost?: number | undefined; readonly max_minutes: number };
  readonly now: () => number;
}

const MOST_STEPS = 90;

/** Gives the runs that it ended. */
export async function tick(desk: Desk, kind: string, signal: AbortSignal): Promise<readonly number[]> {
  const { jobs, now } = desk;
  await jobs.beat(kind, now());
  const ended: number[] = [];
  const work = async () => {
    while (!signal.aborted) {
      const claimed = await jobs.claim(now());
      if (!claimed) return;
      for (const run of claimed.runs) await runJob(desk, claimed.job, run, signal);
      ended.push(...claimed.runs);
    }
  };
  await Promise.all([work(), work()]);
  return ended;
}

export async function runJob(desk: Desk, job: Job, run: number, signal: AbortSignal): Promise<void> {
  const { ground, jobs, limits, now } = desk;
  const message = `it took more than ${limits.max_minutes} minutes (schedule.max_minutes)`;
  const late = new TalariaError(message, { code: 'run-too-long' });
  const limit = deadline(ground.clock, signal, limits.max_minutes * 60_000, () => late);
  let end: Partial<Run> = {};
  try {
    const mind = await ground.open();
    const turn = mind.runTurn(await turnOf(desk, job), limit.signal);
    for await (const event of turn) end = { ...end, ...keptOf(event, mind.redact) };
  } catch (error) {
    end = { ...end, outcome: signal.aborted ? 'interrupted' : 'failed', error: errorText(error) };
  }
  limit.clear();
  if (limit.signal.reason === late) end = { ...end, outcome: 'failed', error: message };
  await jobs.finish(run, end, now());
}

async function turnOf({ ground, limits }: Desk, { prompt, workdir, ...job }: Job): Promise<TurnRequest> {
  if (!isFolder(workdir)) throw new TalariaError(`there is no folder ${workdir}`, { code: 'no-such-folder' });
  const skills = await skillTexts(ground, job.skills);
  if (!skills.ok) throw new TalariaError(skills.detail, { code: skills.reason });
  return {
    text: prompt,
    purpose: 'schedule',
    tier: 'T2',
    source: 'cron',
    maxSteps: MOST_STEPS,
    cwd: workdir,
    tools: { ...(job.toolsets && { toolsets: job.toolsets }), without: ['schedule', 'clarify'] },
    origin: job.created_by === 'agent' ? 'model' : 'owner',
    extra: skills.value.map((text) => ({ type: 'text', text, origin: 'foreign', label: 'context' })),
    ...(job.model && { model: job.model }),
    ...(limits.max_cost && { maxCost: limits.max_cost }),
  };
}

function keptOf(event: TurnEvent, redact: (text: string) => string): Partial<Run> {
  if (event.type === 'turn-start') return { session_id: event.sessionId };
  if (event.type !== 'turn-end') return {};
  const { outcome, stopped, error, cost, tier } = event;
  if (tier === 'T0') return { outcome: 'failed', error: 'no language model is set up: `talaria setup`' };
  const result = redact(event.text);
  const isTold = result.trim() !== '' && !/^\s*\[SILENT\]/.test(result);
  if (outcome === 'done' || outcome === 'length')
    return { outcome: 'done', cost, result, delivery: isTold ? 'queued' : 'none' };
  const why = error ? `${error.code}: ${error.message}` : `it was stopped: ${stopped ?? outcome}`;
  const stops = stopped === 'over-budget' ? 'refused' : 'failed';
  return { outcome: outcome === 'aborted' ? 'interrupted' : stops, cost, result, error: redact(why) };
}

async function skillTexts(ground: Ground, names: readonly string[]): Promise<Result<string[], 'no-such-skill'>> {
  const library = await ground.door('skills');
  await library.ready();
  const missing = names.find((name) => !library.get(name));
  if (missing !== undefined) return refuse('no-such-skill', `There is no skill ${missing}.`);
  return ok(names.map((name) => `[PROCEDURAL MEMORY] ${name}\n${library.get(name)?.text}`));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

export type Asked = Partial<Omit<Wish, 'schedule'>> & { readonly schedule?: string; readonly zone?: string };

/** A job as it is asked for, checked; what is not asked for stays as it was. */
export async function wishOf(
  ground: Ground,
  { schedule: words, zone, ...asked }: Asked,
  { cwd, before }: { readonly cwd: string; readonly before?: Wish },
): Promise<Result<Wish>> {
  const said = words ?? (zone && before?.schedule.display);
  const when = said === undefined ? undefined : read(said, ground.clock.now(), zone ?? before?.schedule.zone);
  if (when?.ok === false) return when;
  const schedule = when?.value ?? before?.schedule;
  const prompt = asked.prompt ?? before?.prompt ?? '';
  if (!schedule || !prompt.trim()) return refuse('incomplete', 'A job needs a schedule and a prompt.');
  const wish: Wish = {
    name: ellipsize(oneLine(prompt), 40),
    deliver: 'local',
    skills: [],
    toolsets: null,
    model: null,
    repeat: null,
    created_by: 'owner',
    ...before,
    ...asked,
    prompt,
    schedule,
    workdir: resolve(cwd, asked.workdir ?? before?.workdir ?? '.'),
  };
  return (await faultOf(ground, wish)) ?? ok(wish);
}

const TARGETS = 'local, telegram:CHAT and webhook:NAME';

/** Whether somebody is there to be met shows when it is sent. */
async function isTarget(ground: Ground, deliver: string): Promise<boolean> {
  return (
    deliver === 'local' ||
    (/^(?:telegram:(?:-?\d+|@\w+)|webhook:\S+)$/.test(deliver) && (await ground.settings()).has('gateway'))
  );
}

async function faultOf(ground: Ground, wish: Wish): Promise<Refusal | undefined> {
  const { prompt, deliver, workdir, toolsets, model } = wish;
  if (findSecrets(prompt).length > 0) return refuse('secret', 'The prompt holds a key; name a variable instead.');
  if (!isFolder(workdir)) return refuse('no-such-folder', `There is no folder ${workdir}.`);
  if (!(await isTarget(ground, deliver)))
    return refuse('no-such-target', `Nothing can be delivered to ${deliver}; ${TARGETS} can, with the gateway set up.`);
  const skills = wish.skills.length > 0 ? await skillTexts(ground, wish.skills) : ok([]);
  if (!skills.ok || (toolsets === null && model === null)) return skills.ok ? undefined : skills;
  const can = await (await ground.open()).allows({ ...(toolsets && { toolsets }), ...(model && { model }) });
  return can.ok ? undefined : can;
}
