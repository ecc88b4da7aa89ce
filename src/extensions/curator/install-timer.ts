// Owns installing the timer of the machine's scheduler, and taking it away (seed 002, install-auto, uninstall-auto; curator notes 15).
import type { JsonObject } from '#base/json.ts';
import {
  carryOut,
  findScheduler,
  type PlanRefusal,
  removeService,
  type Scheduler,
  type ServicePlan,
  type StepsDone,
  schedulerFix,
  servicePlaces,
} from '#base/process/service.ts';
import { serviceNames } from '#base/process/service-units.ts';
import type { Result } from '#base/result.ts';
import { type Failure, failed } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { type BackfillOptions, backfillSessions, reportLines } from './backfill/backfill-sessions.ts';
import {
  IN_PROCESS,
  planTimer,
  TIMER,
  type TimerRequest,
  TURN_OFF,
  timerStatement,
  verificationOf,
} from './timer-plan.ts';

export interface InstalledTimer {
  /** The original's fields, and ours: what it says in plain words. */
  readonly result: JsonObject;
  /** The same for a person; after a dry run with the files and commands. */
  readonly text: string;
  /** The files are there, the scheduler did not do what it was asked to. */
  readonly failed?: Failure;
}

/** A dry run writes and runs nothing. Throws TalariaError for a folder that cannot be written: nothing has changed then. */
export async function installTimer(
  request: TimerRequest,
  ground: Ground,
  options: { readonly scheduler: Scheduler; readonly enable: boolean; readonly dryRun: boolean },
  signal: AbortSignal,
): Promise<Result<InstalledTimer, PlanRefusal>> {
  const { scheduler, enable, dryRun } = options;
  const planned = await planTimer(request, ground, options, signal);
  if (!planned.ok) return planned;
  const { files, steps } = planned.value;
  const done = dryRun ? undefined : await carryOut(planned.value, ground, signal);
  const isOn = enable && (done === undefined || done.exit_code === 0);
  const statement = timerStatement(request, scheduler, isOn);
  const result = {
    ...resultOf(request, planned.value, ground),
    installed: !dryRun,
    ...(dryRun
      ? { dry_run: true, files: files.map((file) => ({ ...file })), would_run: steps.map(({ argv }) => argv) }
      : {}),
    ...answerOf(scheduler.name, done),
    enabled: isOn && !dryRun,
    statement,
  };
  const value = { result, text: dryRun ? dryRunText(planned.value, statement) : writtenText(planned.value, statement) };
  if (!enable || !done?.exit_code) return { ok: true, value };
  const message = `The timer is written, but ${scheduler.name} did not turn it on: ${lastWords(done)}`;
  const fault = failed('timer-not-enabled', message, schedulerFix(scheduler, done.output, IN_PROCESS));
  return { ok: true, value: { ...value, failed: fault } };
}

function resultOf(request: TimerRequest, { scheduler, spec }: ServicePlan, ground: Ground): JsonObject {
  const { service, timer, plist } = servicePlaces(TIMER, ground);
  const isSystemd = scheduler.name === 'systemd';
  const verify = verificationOf(request, ground);
  return {
    scheduler: scheduler.name,
    service_path: isSystemd ? service : null,
    timer_path: isSystemd ? timer : null,
    plist_path: isSystemd ? null : plist,
    schedule: request.schedule,
    semantic_candidates: request.order.semantic,
    rerank_candidates: request.order.rerank,
    protect_core_skills: request.policy.protectCore,
    auto_apply_policy: request.writing ? 'local-agent-created-skills-only' : 'dry-run-only',
    auto_apply_allowlist: request.policy.allow,
    auto_apply_blocklist: request.policy.block,
    verify_command: verify.command,
    verify_cwd: verify.cwd,
    command: [...spec.program, ...spec.args],
    unattended_writing: request.writing,
    turn_off: TURN_OFF,
  };
}

function answerOf(scheduler: Scheduler['name'], done: StepsDone | undefined): JsonObject {
  return done === undefined ? {} : { [scheduler === 'systemd' ? 'systemctl' : 'launchctl']: done };
}

function lastWords({ exit_code, output }: StepsDone): string {
  return output.trim().split('\n').at(-1) || `exit code ${exit_code}`;
}

function writtenText({ files }: ServicePlan, statement: readonly string[]): string {
  return [...files.map(({ path }) => `written: ${path}`), ...statement].join('\n');
}

function dryRunText({ files, steps }: ServicePlan, statement: readonly string[]): string {
  const shown = files.flatMap(({ path, text }) => ['', `# ${path}`, text.trimEnd()]);
  const run = steps.map(({ argv }) => `would run: ${argv.join(' ')}`);
  const said = ['Nothing was written. With these files it would be:', ...statement];
  return [...said, ...shown, ...(run.length > 0 ? ['', ...run] : [])].join('\n');
}

/** `keepEnabled`: the timer is not turned off before its files go. */
export async function uninstallTimer(
  ground: Ground,
  scheduler: Scheduler | undefined,
  keepEnabled: boolean,
  signal: AbortSignal,
): Promise<{ readonly result: JsonObject; readonly failed?: Failure }> {
  const gone = await removeService(TIMER, { scheduler, keepEnabled }, ground, signal);
  const { scheduler: name, removed, missing, done } = gone;
  const result = { scheduler: name, removed, missing, ...answerOf(name, done) };
  if (!done?.exit_code) return { result };
  const message = `The files are removed, but ${name} did not turn the timer off: ${lastWords(done)}`;
  return { result, failed: failed('timer-not-disabled', message, LEFT[name]) };
}

const LEFT: Readonly<Record<Scheduler['name'], string>> = {
  systemd: `It ends with your session at the latest; \`systemctl --user stop ${serviceNames(TIMER).timer}\` ends it there at once.`,
  launchd: 'It ends when you log out.',
};

/**
 * `text`: what was read, the timer, the next steps, for a person. `missing`: the folder of session files that was named and is not there. Without
 * `timer` this machine has no scheduler; `refused`: nothing was done at all.
 */
export async function bootstrap(
  asked: TimerRequest,
  backfill: BackfillOptions,
  ground: Ground,
  { enable, dryRun, signal }: { readonly enable: boolean; readonly dryRun: boolean; readonly signal: AbortSignal },
) {
  const scheduler = findScheduler(ground);
  const options = scheduler && { scheduler, enable, dryRun };
  const planned = options && (await planTimer(asked, ground, options, signal));
  if (planned?.ok === false) return { result: {}, text: '', refused: planned };
  const { places, clock } = ground;
  const report = dryRun
    ? undefined
    : await backfillSessions({ mind: await ground.open(), places, clock }, backfill, signal);
  const done = options && (await installTimer(asked, ground, options, signal));
  if (done?.ok === false) throw new Error(done.detail); // The plan was fine a moment ago.
  const timer = done?.value;
  const steps = nextSteps(asked);
  const lines = report ? reportLines(report) : ['Stored sessions would be read into the evidence first.'];
  return {
    result: {
      schema_version: '0.10',
      mode: 'bootstrap',
      backfill: report ?? { dry_run: true },
      auto_timer: timer?.result ?? { installed: false, enabled: false, reason: 'no-scheduler', scheduler: null },
      semantic_requested: asked.order.semantic,
      rerank_requested: asked.order.rerank,
      next_steps: steps,
    },
    text: [...lines, ...(timer ? [timer.text] : []), '', ...steps.map((step) => `next: ${step}`)].join('\n'),
    missing: backfill.sessionsDir !== undefined && report?.missing ? report.sessions_dir : undefined,
    timer,
  };
}

function nextSteps({ writing }: TimerRequest): readonly string[] {
  return [
    'talaria curator report --days 7 shows the evidence.',
    'talaria curator auto-run shows what a run would write.',
    writing
      ? `${TURN_OFF} turns unattended writing off.`
      : 'talaria curator bootstrap --write lets runs write unattended.',
  ];
}
