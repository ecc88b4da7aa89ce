// Owns taking the timer away (seed 002, uninstall-auto; curator notes 15). Invariant: afterwards none of its files is left, whatever the
// scheduler answered; what the scheduler did not do is said.
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { launchdDomain } from './plan-timer.ts';
import { runSteps, type Scheduler, type SchedulerName, type Step, type StepsDone } from './scheduler.ts';
import { type TimerPlaces, timerPlaces } from './timer-places.ts';
import { LAUNCHD_LABEL, SYSTEMD_TIMER } from './units/timer-spec.ts';

export interface UninstallOptions {
  readonly ground: CuratorGround;
  /** Absent: the files go, and nobody is told. */
  readonly scheduler?: Scheduler | undefined;
  /** The timer is not turned off before its files go. */
  readonly keepEnabled: boolean;
}

export interface UninstalledTimer {
  readonly result: JsonObject;
  readonly failed?: { readonly message: string; readonly fix: string };
}

export async function uninstallTimer(options: UninstallOptions, signal: AbortSignal): Promise<UninstalledTimer> {
  const places = timerPlaces(options.ground);
  const name = options.scheduler?.name ?? (existsSync(places.plist) ? 'launchd' : 'systemd');
  const paths = filesOf(name, places);
  const removed = paths.filter(stands);
  const told = toldScheduler(options, removed.length > 0 || stands(places.wanted));
  const off = told && (await runSteps(turnOff(told), options.ground, signal));
  for (const path of removed) remove(path);
  if (!options.keepEnabled) remove(places.wanted);
  const done = off && joined(off, await runSteps(forget(told), options.ground, signal));
  const missing = paths.filter((path) => !removed.includes(path));
  const answer = done ? { [name === 'systemd' ? 'systemctl' : 'launchctl']: { ...done } } : {};
  return {
    result: { scheduler: name, removed: [...removed], missing, ...answer },
    ...(told && done?.exit_code ? { failed: failure(told, done) } : {}),
  };
}

/** Nobody is asked about a timer that is not there. */
function toldScheduler({ scheduler, keepEnabled }: UninstallOptions, isThere: boolean): Scheduler | undefined {
  return isThere && !keepEnabled ? scheduler : undefined;
}

function filesOf(name: SchedulerName, { service, timer, plist }: TimerPlaces): readonly string[] {
  return name === 'systemd' ? [timer, service] : [plist];
}

function turnOff({ name, program }: Scheduler): readonly Step[] {
  if (name === 'systemd') return [{ argv: [program, '--user', 'disable', '--now', SYSTEMD_TIMER] }];
  return [{ argv: [program, 'bootout', `${launchdDomain()}/${LAUNCHD_LABEL}`] }];
}

/** systemd reads its folder again, so that the timer is gone there too. */
function forget(told: Scheduler | undefined): readonly Step[] {
  return told?.name === 'systemd' ? [{ argv: [told.program, '--user', 'daemon-reload'] }] : [];
}

function joined(first: StepsDone, second: StepsDone): StepsDone {
  return { exit_code: first.exit_code || second.exit_code, output: `${first.output}${second.output}`.slice(-2_000) };
}

/** Also a link that leads nowhere. */
function stands(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function remove(path: string): void {
  if (!stands(path)) return;
  try {
    rmSync(path);
    syncFolder(dirname(path));
  } catch (error) {
    throw new TalariaError(`cannot remove ${path}: ${errorText(error)}`, {
      code: errorCode(error) === 'EACCES' || errorCode(error) === 'EPERM' ? 'no-permission' : 'remove-failed',
      cause: error,
      fix: 'Check who owns its folder and its permissions.',
    });
  }
}

const LEFT: Readonly<Record<SchedulerName, string>> = {
  systemd: `It ends with your session at the latest; \`systemctl --user stop ${SYSTEMD_TIMER}\` ends it there at once.`,
  launchd: 'It ends when you log out.',
};

function failure(scheduler: Scheduler, { exit_code, output }: StepsDone): NonNullable<UninstalledTimer['failed']> {
  const said = output.trim().split('\n').at(-1) || `exit code ${exit_code}`;
  return {
    message: `The files are removed, but ${scheduler.name} did not turn the timer off: ${said}`,
    fix: LEFT[scheduler.name],
  };
}
