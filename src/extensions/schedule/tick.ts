// Owns what a tick does: what is due is claimed, runs as a turn of its own, and its end is kept; and what a job may ask for. Knows no surface.
// Invariants: a run has no history, nobody to approve and no `cronjob`; whatever fails is the end of its row, and the next one begins.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { errorText, TalariaError } from '#base/errors.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import type { Ground } from '#core/agent/room.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Job, Jobs, Run, Wish } from './jobs.ts';
import { calendar } from './when.ts';

export interface Desk {
  readonly ground: Ground;
  readonly jobs: Jobs;
  /** US dollars a run. */
  readonly maxCost: number | undefined;
}

const MOST_STEPS = 90;

/** Gives the runs that it ended. `at`: as if it were then. */
export async function tick(desk: Desk, kind: string, signal: AbortSignal, at?: number): Promise<readonly number[]> {
  const now = () => at ?? desk.ground.clock.now();
  await desk.jobs.beat(kind, now());
  const ended: number[] = [];
  const work = async () => {
    while (!signal.aborted) {
      const claimed = await desk.jobs.claim(now());
      if (!claimed) return;
      for (const run of claimed.runs) await runJob(desk, { job: claimed.job, run, now }, signal);
      ended.push(...claimed.runs);
    }
  };
  await Promise.all([work(), work()]);
  return ended;
}

interface Begun {
  readonly job: Job;
  readonly run: number;
  readonly now: () => number;
}

export async function runJob({ ground, jobs, maxCost }: Desk, { job, run, now }: Begun, signal: AbortSignal) {
  const { prompt, workdir: cwd, toolsets, model } = job;
  let end: Partial<Run> = {};
  try {
    const mind = await ground.open();
    if (!isFolder(cwd)) throw new TalariaError(`there is no folder ${cwd}`, { code: 'no-such-folder' });
    const skills = await skillTexts(ground, job.skills);
    if (!skills.ok) throw new TalariaError(skills.detail, { code: skills.reason });
    const turn = mind.runTurn(
      {
        ...{ text: prompt, purpose: 'schedule', tier: 'T2', source: 'cron', maxSteps: MOST_STEPS, cwd },
        tools: { ...(toolsets ? { toolsets } : {}), without: ['schedule', 'clarify'] },
        origin: job.created_by === 'agent' ? 'model' : 'owner',
        extra: skills.value.map((text) => ({ type: 'text', text, origin: 'foreign', label: 'context' })),
        ...(model === null ? {} : { model }),
        ...(maxCost === undefined ? {} : { maxCost }),
      },
      signal,
    );
    for await (const event of turn) end = { ...end, ...keptOf(event, mind.redact) };
  } catch (error) {
    end = { ...end, outcome: signal.aborted ? 'interrupted' : 'failed', error: errorText(error) };
  }
  await jobs.finish(run, end, now());
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
  const ends = { aborted: 'interrupted', failed: 'failed', stopped: stopped === 'over-budget' ? 'refused' : 'failed' };
  return { outcome: ends[outcome] as Run['outcome'] & string, cost, result, error: redact(why) };
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

/** Lists come as `a,b` too. */
export type Asked = Partial<Omit<Wish, 'schedule' | 'skills' | 'toolsets'>> & {
  readonly [Key in 'schedule' | 'zone']?: string;
} & { readonly [Key in 'skills' | 'toolsets']?: string | readonly string[] };

const FRESH = { skills: [], toolsets: null, model: null, repeat: null, deliver: 'local', created_by: 'owner' } as const;

/** A job as it is asked for, checked; what is not asked for stays as it was. */
export async function wishOf(
  { ground }: Pick<Desk, 'ground'>,
  { schedule, zone, ...asked }: Asked,
  { cwd, before }: { readonly cwd: string; readonly before?: Wish },
): Promise<Result<Wish>> {
  const said = schedule ?? (zone === undefined ? undefined : before?.schedule.display);
  const { read } = await calendar();
  const when = said === undefined ? undefined : read(said, ground.clock.now(), zone ?? before?.schedule.zone);
  if (when?.ok === false) return when;
  const prompt = asked.prompt ?? before?.prompt ?? '';
  const standing = when?.value ?? before?.schedule;
  if (!standing || !prompt.trim()) return refuse('incomplete', 'A job needs a schedule and a prompt.');
  const lists = Object.entries(asked).flatMap(([key, value]) => {
    const isList = (key === 'skills' || key === 'toolsets') && typeof value === 'string';
    return value === undefined ? [] : [[key, isList ? value.split(/\s*,\s*/) : value]];
  });
  const start = { name: ellipsize(oneLine(prompt), 40), workdir: cwd, ...FRESH, ...before };
  const wish: Wish = { ...start, ...Object.fromEntries(lists), prompt, schedule: standing };
  const named = { ...wish, workdir: resolve(cwd, wish.workdir) };
  return (await faultOf(ground, named)) ?? ok(named);
}

async function faultOf(ground: Ground, wish: Wish): Promise<Refusal | undefined> {
  const { prompt, deliver, workdir, toolsets, model } = wish;
  if (findSecrets(prompt).length > 0) return refuse('secret', 'The prompt holds a key; name a variable instead.');
  if (!isFolder(workdir)) return refuse('no-such-folder', `There is no folder ${workdir}.`);
  if (deliver !== 'local') return refuse('no-such-target', `Nothing can be delivered to ${deliver}; local can.`);
  const skills = wish.skills.length > 0 ? await skillTexts(ground, wish.skills) : ok([]);
  if (!skills.ok || (toolsets === null && model === null)) return skills.ok ? undefined : skills;
  const can = await (await ground.open()).allows({ ...(toolsets ? { toolsets } : {}), ...(model ? { model } : {}) });
  return can.ok ? undefined : can;
}
