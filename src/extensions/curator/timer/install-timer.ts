// Owns installing the timer of the machine's scheduler (seed 002, install-auto; curator notes 15). Invariant: a refusal has written nothing;
// the files are on disk, all of them, before the scheduler is told; the result says whether skills will be written unattended.

import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { privateFolder } from '#base/platform.ts';
import type { Result } from '#base/result.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { type PlannedFile, type PlanRefusal, planTimer, type TimerPlan } from './plan-timer.ts';
import { runSteps, type Scheduler, type StepsDone, schedulerFix } from './scheduler.ts';
import { timerPlaces } from './timer-places.ts';
import { type TimerRequest, timerSpec, verificationOf } from './timer-request.ts';
import { TURN_OFF, timerStatement } from './timer-statement.ts';

export interface InstallOptions {
  readonly ground: CuratorGround;
  readonly scheduler: Scheduler;
  readonly enable: boolean;
  /** Nothing is written and nothing is run. */
  readonly dryRun: boolean;
}

export interface InstalledTimer {
  /** The original's fields, and ours: what it says in plain words. */
  readonly result: JsonObject;
  readonly plan: TimerPlan;
  readonly statement: readonly string[];
  /** The scheduler did not do what it was asked to; the files are there. */
  readonly failed?: { readonly message: string; readonly fix: string };
}

/** Throws TalariaError for a folder that cannot be written: nothing has changed then. */
export async function installTimer(
  request: TimerRequest,
  options: InstallOptions,
  signal: AbortSignal,
): Promise<Result<InstalledTimer, PlanRefusal>> {
  const planned = await planTimer(request, options, signal);
  if (!planned.ok) return planned;
  const plan = planned.value;
  const done = options.dryRun ? undefined : await carryOut(plan, { request, ...options }, signal);
  const isOn = options.enable && (done === undefined || done.exit_code === 0);
  const statement = timerStatement(request, options.scheduler.name, isOn);
  const result = { ...resultOf(request, plan, options), ...(done ? answered(options.scheduler, done) : {}) };
  const failed = options.enable && done ? failure(options.scheduler, done) : undefined;
  const value = { result: { ...result, enabled: isOn && !options.dryRun, statement: [...statement] }, plan, statement };
  return { ok: true, value: failed ? { ...value, failed } : value };
}

async function carryOut(
  plan: TimerPlan,
  { request, ground, scheduler }: InstallOptions & { readonly request: TimerRequest },
  signal: AbortSignal,
): Promise<StepsDone> {
  // launchd makes no folder for the output.
  if (scheduler.name === 'launchd') privateFolder(dirname(timerSpec(request, ground).logs.out));
  writeTimerFiles(plan.files);
  return runSteps(plan.steps, ground, signal);
}

function resultOf(request: TimerRequest, plan: TimerPlan, { ground, dryRun }: InstallOptions): JsonObject {
  const { service, timer, plist } = timerPlaces(ground);
  const isSystemd = plan.scheduler.name === 'systemd';
  const verify = verificationOf(request, ground);
  return {
    installed: !dryRun,
    scheduler: plan.scheduler.name,
    service_path: isSystemd ? service : null,
    timer_path: isSystemd ? timer : null,
    plist_path: isSystemd ? null : plist,
    schedule: request.schedule,
    semantic_candidates: request.order.semantic,
    rerank_candidates: request.order.rerank,
    protect_core_skills: request.policy.protectCore,
    auto_apply_policy: request.writing ? 'local-agent-created-skills-only' : 'dry-run-only',
    auto_apply_allowlist: [...request.policy.allow],
    auto_apply_blocklist: [...request.policy.block],
    verify_command: verify.command,
    verify_cwd: verify.cwd,
    command: [...plan.command],
    unattended_writing: request.writing,
    turn_off: TURN_OFF,
    ...(dryRun ? { dry_run: true, ...previewOf(plan) } : {}),
  };
}

function previewOf({ files, steps }: TimerPlan): JsonObject {
  return {
    files: files.map(({ path, text }) => ({ path, text })),
    would_run: steps.map(({ argv }) => [...argv]),
  };
}

function answered({ name }: Scheduler, { exit_code, output }: StepsDone): JsonObject {
  return { [name === 'systemd' ? 'systemctl' : 'launchctl']: { exit_code, output } };
}

function failure(scheduler: Scheduler, { exit_code, output }: StepsDone): InstalledTimer['failed'] {
  if (exit_code === 0) return undefined;
  const said = output.trim().split('\n').at(-1) || `exit code ${exit_code}`;
  return {
    message: `The timer is written, but ${scheduler.name} did not turn it on: ${said}`,
    fix: schedulerFix(scheduler, output),
  };
}

/** Units are read by the scheduler, which may be another user's process. */
const MODE = 0o644;

/** Throws TalariaError as `atomicWrite`, always with a fix. */
export function writeTimerFiles(files: readonly PlannedFile[]): void {
  const changes = files.map(({ path, text }) => ({ path, text, before: bytesOf(path) }));
  const written: typeof changes = [];
  for (const change of changes) {
    try {
      atomicWrite(change.path, change.text, { mode: MODE });
    } catch (error) {
      for (const { path, before } of written) putBack(path, before);
      throw withFix(change.path, error);
    }
    written.push(change);
  }
}

function putBack(path: string, before: Buffer | undefined): void {
  if (before === undefined) rmSync(path, { force: true });
  else atomicWrite(path, before, { mode: MODE });
}

function bytesOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw withFix(
      path,
      new TalariaError(`cannot read ${path}: ${errorText(error)}`, { code: 'write-failed', cause: error }),
    );
  }
}

function withFix(path: string, error: unknown): unknown {
  if (!(error instanceof TalariaError) || error.fix !== undefined) return error;
  const fix = `Look at ${dirname(path)}: it must be a folder of your own, with nothing else under this name. No file was changed.`;
  return new TalariaError(error.message, { code: error.code, cause: error.cause, fix });
}
