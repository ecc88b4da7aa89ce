// Owns the two steps of a bootstrap: back-fill, then the timer (seed 002, bootstrap; curator notes 15). Knows no flag. Invariants: what is
// wrong with the timer's schedule is found before anything is read; a machine without a scheduler still gets its evidence.
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { BackfillOptions } from '../backfill/backfill-sessions.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { type InstalledTimer, type InstallOptions, installTimer } from './install-timer.ts';
import { type PlanRefusal, planTimer } from './plan-timer.ts';
import { findScheduler, IN_PROCESS } from './scheduler.ts';
import type { TimerRequest } from './timer-request.ts';
import { TURN_OFF } from './timer-statement.ts';

export interface BootstrapRequest {
  readonly timer: TimerRequest;
  readonly backfill: BackfillOptions;
  readonly enable: boolean;
  readonly dryRun: boolean;
}

export interface Bootstrapped {
  readonly result: JsonObject;
  /** What was read, for a person. */
  readonly lines: readonly string[];
  /** The folder of session files, when it is not there. */
  readonly missing?: string;
  /** Absent: this machine has no scheduler, `fix` says what to do instead. */
  readonly timer?: InstalledTimer;
  readonly fix?: string;
  /** Nothing was done at all. */
  readonly refused?: { readonly reason: PlanRefusal; readonly detail: string };
}

const SCHEMA_VERSION = '0.10';

export async function bootstrap(
  request: BootstrapRequest,
  ground: CuratorGround,
  signal: AbortSignal,
): Promise<Bootstrapped> {
  const { enable, dryRun } = request;
  const scheduler = findScheduler(ground);
  const options = scheduler && { ground, scheduler, enable, dryRun };
  const planned = options && (await planTimer(request.timer, options, signal));
  if (planned && !planned.ok) return { result: {}, lines: [], refused: planned };
  const filled = dryRun ? NOT_FILLED : await fill(request.backfill, ground, signal);
  const timer = options && (await installed(request.timer, options, signal));
  return {
    result: resultOf(request, filled.report, timer),
    lines: filled.lines,
    ...(filled.missing === undefined ? {} : { missing: filled.missing }),
    ...(timer ? { timer } : { fix: IN_PROCESS }),
  };
}

/** For a person: what was read, then the three next steps. */
export function bootstrapText({ lines, result }: Bootstrapped): readonly string[] {
  const steps = Array.isArray(result.next_steps) ? result.next_steps : [];
  return [...lines, ...steps.map((step) => `next: ${String(step)}`)];
}

interface Filled {
  readonly report: JsonObject;
  readonly lines: readonly string[];
  readonly missing?: string;
}

const NOT_FILLED: Filled = {
  report: { dry_run: true },
  lines: ['Stored sessions would be read into the evidence first.'],
};

async function fill(options: BackfillOptions, ground: CuratorGround, signal: AbortSignal): Promise<Filled> {
  const [mind, { backfillSessions }, { reportLines }] = await Promise.all([
    ground.open(),
    import('../backfill/backfill-sessions.ts'),
    import('../backfill/backfill-report.ts'),
  ]);
  const { places, clock } = ground;
  const report = await backfillSessions({ mind, places, clock, redact: mind.redact }, options, signal);
  const shown = { report: report as unknown as JsonObject, lines: reportLines(report) };
  return report.missing ? { ...shown, missing: report.sessions_dir } : shown;
}

/** The plan was fine a moment ago. */
async function installed(timer: TimerRequest, options: InstallOptions, signal: AbortSignal): Promise<InstalledTimer> {
  const done = await installTimer(timer, options, signal);
  if (!done.ok) throw new Error(done.detail);
  return done.value;
}

function resultOf({ timer: asked }: BootstrapRequest, filled: JsonObject, timer?: InstalledTimer): JsonObject {
  return {
    schema_version: SCHEMA_VERSION,
    mode: 'bootstrap',
    backfill: filled,
    auto_timer: timer?.result ?? { installed: false, enabled: false, reason: 'no-scheduler', scheduler: null },
    semantic_requested: asked.order.semantic,
    rerank_requested: asked.order.rerank,
    next_steps: nextSteps(asked) as JsonValue,
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
