// Owns what installing a timer comes to: the files with their text and the scheduler's commands, before anything is done. Knows the
// machine only by asking systemd whether it understands a schedule. Invariant: what cannot work is refused here, with nothing written.
import { userInfo } from 'node:os';
import { ok, type Result, refuse } from '#base/result.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { runSteps, type Scheduler, type Step } from './scheduler.ts';
import { findProgram, timerPlaces } from './timer-places.ts';
import { holdsSecret, type TimerRequest, timerSpec } from './timer-request.ts';
import { launchdPlist } from './units/launchd-plist.ts';
import { systemdUnits } from './units/systemd-units.ts';
import { isNamedSchedule, launchdTrigger, systemdCalendar } from './units/timer-schedule.ts';
import { LAUNCHD_LABEL, SYSTEMD_TIMER, type TimerSpec } from './units/timer-spec.ts';

export interface PlannedFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

export interface TimerPlan {
  readonly scheduler: Scheduler;
  /** In the order of writing. */
  readonly files: readonly PlannedFile[];
  readonly steps: readonly Step[];
  readonly command: readonly string[];
}

export type PlanRefusal = 'schedule-invalid' | 'secret';

type Planned = Result<TimerPlan, PlanRefusal>;

/** Throws TalariaError `timer-text` for a word that no unit can hold. */
export async function planTimer(
  request: TimerRequest,
  asked: { readonly ground: CuratorGround; readonly scheduler: Scheduler; readonly enable: boolean },
  signal: AbortSignal,
): Promise<Planned> {
  const spec = timerSpec(request, asked.ground);
  if (holdsSecret(spec)) return refuse('secret', 'A word of the command looks like a key; a unit is no place for it.');
  return asked.scheduler.name === 'systemd' ? planSystemd(spec, asked, signal) : planLaunchd(spec, asked);
}

type Asked = Parameters<typeof planTimer>[1];

async function planSystemd(spec: TimerSpec, asked: Asked, signal: AbortSignal): Promise<Planned> {
  const { ground, scheduler, enable } = asked;
  const calendar = systemdCalendar(spec.schedule);
  if (!calendar.ok) return calendar;
  const doubt = await calendarFault(calendar.value, ground, signal);
  if (doubt !== undefined) return refuse('schedule-invalid', doubt);
  const places = timerPlaces(ground);
  const units = systemdUnits(spec, calendar.value);
  const systemctl = (...words: readonly string[]): Step => ({ argv: [scheduler.program, '--user', ...words] });
  return ok({
    scheduler,
    files: [
      { path: places.service, text: units.service },
      { path: places.timer, text: units.timer },
    ],
    steps: [systemctl('daemon-reload'), ...(enable ? [systemctl('enable', '--now', SYSTEMD_TIMER)] : [])],
    command: [...spec.program, ...spec.args],
  });
}

/** What systemd has against an expression; undefined where it is fine or systemd-analyze is not there. */
async function calendarFault(
  calendar: string,
  ground: CuratorGround,
  signal: AbortSignal,
): Promise<string | undefined> {
  const analyze = findProgram('systemd-analyze', ground.variables);
  if (isNamedSchedule(calendar) || analyze === undefined) return undefined;
  const { exit_code, output } = await runSteps([{ argv: [analyze, 'calendar', '--', calendar] }], ground, signal);
  if (exit_code === 0) return undefined;
  return `systemd does not understand ${JSON.stringify(calendar)}: ${output.trim().split('\n').at(-1) ?? ''}`;
}

function planLaunchd(spec: TimerSpec, { ground, scheduler, enable }: Asked): Planned {
  const trigger = launchdTrigger(spec.schedule);
  if (!trigger.ok) return trigger;
  const { plist } = timerPlaces(ground);
  const domain = launchdDomain();
  return ok({
    scheduler,
    files: [{ path: plist, text: launchdPlist(spec, trigger.value) }],
    // An agent that is loaded keeps its old text.
    steps: enable
      ? [
          { argv: [scheduler.program, 'bootout', `${domain}/${LAUNCHD_LABEL}`], optional: true },
          { argv: [scheduler.program, 'bootstrap', domain, plist] },
        ]
      : [],
    command: [...spec.program, ...spec.args],
  });
}

export function launchdDomain(): string {
  return `gui/${userInfo().uid}`;
}
