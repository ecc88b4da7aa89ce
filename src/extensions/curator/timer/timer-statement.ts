// Owns the plain words about a timer: what it will do by itself, when, to which skills, and how to turn it off (seed 002, bootstrap).
// Pure. Invariant: a timer that writes is never described without saying so.
import type { SchedulerName } from './scheduler.ts';
import type { TimerRequest } from './timer-request.ts';
import { LAUNCHD_LABEL, SYSTEMD_SERVICE, SYSTEMD_TIMER } from './units/timer-spec.ts';

export const TURN_OFF = 'talaria curator uninstall-auto';

export function timerStatement(request: TimerRequest, scheduler: SchedulerName, enabled: boolean): readonly string[] {
  const { schedule, skillsDir } = request;
  return [
    enabled
      ? `The timer is on: it runs ${inWords(schedule)}.`
      : `The timer is written but not on; ${turnOn(scheduler)}.`,
    ...(request.writing
      ? whatIsWritten(request)
      : [`Nothing is written: each run only plans for the skills in ${skillsDir}.`]),
    `What runs did: ${record(scheduler)}. To turn it off: ${TURN_OFF}`,
  ];
}

function whatIsWritten({ skillsDir, policy }: TimerRequest): readonly string[] {
  const only = policy.allow.length > 0 ? ` whose names fit ${policy.allow.join(', ')}` : '';
  const never = policy.block.length > 0 ? `, never ${policy.block.join(', ')}` : '';
  const core = policy.protectCore ? ' Skills with names of core skills are left alone.' : '';
  return [
    `Skills will be written unattended: those in ${skillsDir} that the agent itself made and nobody pinned${only}${never}.${core}`,
    'Only the marked block of evidence notes changes; each write is checked, kept in a backup, and undone by `talaria curator rollback`.',
  ];
}

function inWords(schedule: string): string {
  const known: Readonly<Record<string, string>> = {
    hourly: 'once an hour',
    daily: 'once a day',
    weekly: 'once a week',
  };
  return known[schedule] ?? (/^\d+$/.test(schedule) ? `every ${schedule} seconds` : `at ${schedule}`);
}

function turnOn(scheduler: SchedulerName): string {
  return scheduler === 'systemd'
    ? `to turn it on: systemctl --user enable --now ${SYSTEMD_TIMER}`
    : `to turn it on: launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/${LAUNCHD_LABEL}.plist`;
}

function record(scheduler: SchedulerName): string {
  return scheduler === 'systemd'
    ? `journalctl --user -u ${SYSTEMD_SERVICE}`
    : 'curator-auto.out.log in logs/ of the home';
}
