// Owns the schedule inside Talaria and its settings, for machines with neither systemd nor launchd (seed 002, timers; curator notes 8.1, 15).
import { join } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime, parseTime } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { createEventLog } from '#base/fabric.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { readIfThere } from '#base/platform.ts';
import type { Ground, Job, Mind } from '#core/agent/room.ts';

/** An empty one would open a list of the only skills to all of them. */
const patterns = z.array(z.string().refine((text) => text.trim() !== '', 'a pattern must not be empty')).default([]);

export const scheduleSchema = z.object({
  schedule: z
    .enum(['off', 'hourly', 'daily', 'weekly'])
    .default('off')
    .describe(
      'How often Talaria looks through the evidence by itself while it runs; for machines with no timer of their own.',
    ),
  write: z
    .boolean()
    .default(false)
    .describe('Let these runs write skills while nobody looks on; otherwise they only plan.'),
  days: z.int().min(1).max(3650).default(7).describe('Days of evidence that a run looks at.'),
  max_skills: z.int().min(1).max(25).default(3).describe('Skills that one run may write.'),
  min_evidence: z.int().min(1).max(1000).default(2).describe('Events that a skill needs to be considered.'),
  variants: z.int().min(1).max(4).default(1).describe('Forms of a note that compete.'),
  semantic_candidates: z.boolean().default(false).describe('Order skills by meaning; see `curator setup-semantic`.'),
  rerank_candidates: z.boolean().default(false).describe('Order them by a second model too.'),
  protect_core_skills: z.boolean().default(true).describe('Leave skills with names of core skills alone.'),
  allow_auto_apply_skill: patterns.describe('Patterns of the only skills that may be written; none: all that pass.'),
  block_auto_apply_skill: patterns.describe('Patterns of skills that are never written.'),
  verify_command: z
    .string()
    .min(1)
    .optional()
    .describe('Shell command that must agree after each write; default: our own check of the skill.'),
  pre_verify_command: z.string().min(1).optional().describe('Cheap shell command before it.'),
  require_restore_drill: z
    .boolean()
    .default(false)
    .describe('Write only after a passed restore drill of the last write.'),
});

export type ScheduleConfig = z.infer<typeof scheduleSchema>;

/** Flags as on the command line of `curator auto-run`. `verifyCommand` is the one that stands in when none is named. */
export function autoRunFlags(config: ScheduleConfig, verifyCommand: string): JsonObject {
  const { schedule: _, write, verify_command, pre_verify_command, ...plain } = config;
  return {
    ...plain,
    apply_low_risk: write,
    approve_auto_apply: write,
    verify_command: verify_command ?? verifyCommand,
    ...(pre_verify_command === undefined ? {} : { pre_verify_command }),
  };
}

/** How often it is looked whether a run is due, ms. */
const WAKE_MS = 60_000;
/** What failed, or found another writer at work, is tried again after this, ms. */
export const RETRY_MS = 600_000;
const HOUR_MS = 3_600_000;
export const PERIOD_MS = { hourly: HOUR_MS, daily: 24 * HOUR_MS, weekly: 7 * 24 * HOUR_MS } as const;

/** One run; gives what it did. Throws what went wrong. */
type ScheduledRun = (mind: Mind, signal: AbortSignal) => Promise<JsonObject & { readonly failed: boolean }>;

/** Undefined when nothing is to run by itself. */
export function scheduleJob(
  ground: Ground,
  config: ScheduleConfig,
  run: ScheduledRun = scheduledRun(ground, config),
): Job | undefined {
  if (config.schedule === 'off') return undefined;
  const { clock, places, open } = ground;
  const periodMs = PERIOD_MS[config.schedule];
  const path = lastRunFile(places.home);
  const log = (outcome: JsonObject) =>
    createEventLog(join(places.home, 'logs', 'curator.log'), clock).write('scheduled-run', outcome);
  /** Monotonic ms: what cannot even be written down must not be tried at every wake. */
  let notBefore = 0;
  const runWhenDue = async (signal: AbortSignal): Promise<void> => {
    const last = readLastRun(path);
    const now = clock.now();
    const due = runDue(last, now, periodMs);
    if (due === 'waiting') return;
    const mind = await open();
    if (mind.state.readOnly) return;
    if (due === 'clock-back') {
      writeLastRun(path, { at: now, failed: last?.failed ?? false }, { note: 'the clock was moved back' });
      return;
    }
    writeLastRun(path, { at: now, failed: true }, {});
    const done = await run(mind, signal);
    log(done);
    writeLastRun(path, { at: now, failed: done.failed }, done);
  };
  const look = async (signal: AbortSignal): Promise<void> => {
    if (clock.monotonic() < notBefore) return;
    try {
      await runWhenDue(signal);
    } catch (error) {
      notBefore = clock.monotonic() + RETRY_MS;
      if (!signal.aborted) log({ failed: true, error: errorText(error) });
      throw error;
    }
  };
  return { name: 'schedule', everyMs: WAKE_MS, run: look };
}

/** One auto-run with the flags of the section `curator`, and what is told of it. */
function scheduledRun(ground: Ground, config: ScheduleConfig): ScheduledRun {
  return async (mind, signal) => {
    const [{ runAutoRun }, { autoRunExit }, { createRank }, { ownVerifier }] = await Promise.all([
      import('./run/auto-run.ts'),
      import('./run/run-outcome.ts'),
      import('./rank-skills.ts'),
      import('./timer-plan.ts'),
    ]);
    const flags = autoRunFlags(config, ownVerifier(ground.program));
    const done = await runAutoRun({ ground, mind, rank: createRank(ground, mind) }, flags, signal);
    if (!done.ok) return { failed: true, reason: done.reason, detail: done.detail };
    const { mode, summary, candidates } = done.value;
    const skills = candidates.map(({ skill_name, status, reason, apply_result }) => ({
      ...{ skill_name, status, reason: apply_result?.reason ?? reason },
    }));
    return { failed: autoRunExit(done.value) === 1, mode, summary, skills };
  };
}

/** The last attempt; `failed` until it has ended well. */
export interface LastRun {
  /** Epoch ms. */
  readonly at: number;
  readonly failed: boolean;
}

/** `clock-back`: the last run lies in the future, so its time says nothing; count from now. */
export function runDue(last: LastRun | undefined, now: number, periodMs: number): 'due' | 'waiting' | 'clock-back' {
  if (last === undefined) return 'due';
  if (last.at > now) return 'clock-back';
  return now - last.at >= (last.failed ? Math.min(RETRY_MS, periodMs) : periodMs) ? 'due' : 'waiting';
}

export function lastRunFile(home: string): string {
  return join(home, 'curator', 'last-run.json');
}

/** Throws TalariaError `last-run-unreadable` when there is a file that may not be read. */
export function readLastRun(path: string): LastRun | undefined {
  const parsed = parseJsonObject(lastRunText(path));
  const { at, state } = parsed.ok ? parsed.value : {};
  const time = typeof at === 'string' ? parseTime(at) : undefined;
  return time === undefined ? undefined : { at: time, failed: state !== 'done' };
}

/** `outcome`: what the run did, or why it did not. Throws as `atomicWrite`. */
function writeLastRun(path: string, { at, failed }: LastRun, outcome: JsonObject): void {
  const record = { at: isoTime(at), state: failed ? 'open' : 'done', ...outcome };
  atomicWrite(path, `${JSON.stringify(record, null, 2)}\n`);
}

function lastRunText(path: string): string {
  try {
    return readIfThere(path) ?? '';
  } catch (error) {
    throw new TalariaError(`cannot read ${path}: ${errorText(error)}`, {
      code: 'last-run-unreadable',
      cause: error,
      fix: 'Remove the file; the next run writes it anew.',
    });
  }
}
