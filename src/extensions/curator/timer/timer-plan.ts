// Owns what the owner asks of a timer, the command that it then runs, and what installing it comes to: files, the scheduler's commands and plain
// words, before anything is done (seed 002, bootstrap; curator notes 15).
import { join } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import type { Ground } from '#core/agent/room.ts';
import { findProgram, launchdDomain, runSteps, type Scheduler, type Step, timerPlaces } from './scheduler.ts';
import {
  isNamedSchedule,
  LAUNCHD_LABEL,
  launchdPlist,
  launchdTrigger,
  SYSTEMD_SERVICE,
  SYSTEMD_TIMER,
  systemdCalendar,
  systemdUnits,
  type TimerSpec,
} from './timer-units.ts';

export interface TimerRequest {
  readonly schedule: string;
  /** Absolute. */
  readonly skillsDir: string;
  /** Skills are written while nobody looks on; otherwise each run only plans. */
  readonly writing: boolean;
  readonly order: { readonly semantic: boolean; readonly rerank: boolean };
  readonly policy: {
    readonly protectCore: boolean;
    readonly allow: readonly string[];
    readonly block: readonly string[];
  };
  /** `command` undefined: our own check; null: none. `cwd`: default the skills folder. */
  readonly verify: { readonly command?: string | null | undefined; readonly cwd?: string | undefined };
}

export interface TimerPlan {
  readonly scheduler: Scheduler;
  /** In the order of writing; absolute. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly steps: readonly Step[];
  readonly spec: TimerSpec;
}

export type PlanRefusal = 'schedule-invalid' | 'secret';

/** `enable`: it is turned on too. Throws TalariaError `timer-text` for a word that no unit can hold. */
export async function planTimer(
  request: TimerRequest,
  ground: Ground,
  { scheduler, enable }: { readonly scheduler: Scheduler; readonly enable: boolean },
  signal: AbortSignal,
): Promise<Result<TimerPlan, PlanRefusal>> {
  const spec = timerSpec(request, ground);
  // A file that everybody may read is no place for a key.
  if ([...spec.program, ...spec.args].some((word) => findSecrets(word).length > 0))
    return refuse('secret', 'A word of the command looks like a key; a unit is no place for it.');
  const places = timerPlaces(ground);
  if (scheduler.name === 'launchd') {
    const trigger = launchdTrigger(spec.schedule);
    if (!trigger.ok) return trigger;
    const domain = launchdDomain();
    // An agent that is loaded keeps its old text.
    const steps = [
      { argv: [scheduler.program, 'bootout', `${domain}/${LAUNCHD_LABEL}`], optional: true },
      { argv: [scheduler.program, 'bootstrap', domain, places.plist] },
    ];
    const files = [{ path: places.plist, text: launchdPlist(spec, trigger.value) }];
    return ok({ scheduler, files, steps: enable ? steps : [], spec });
  }
  const calendar = systemdCalendar(spec.schedule);
  if (!calendar.ok) return calendar;
  const doubt = await calendarFault(calendar.value, ground, signal);
  if (doubt !== undefined) return refuse('schedule-invalid', doubt);
  const units = systemdUnits(spec, calendar.value);
  const systemctl = (...words: readonly string[]): Step => ({ argv: [scheduler.program, '--user', ...words] });
  const files = [
    { path: places.service, text: units.service },
    { path: places.timer, text: units.timer },
  ];
  const steps = [systemctl('daemon-reload'), ...(enable ? [systemctl('enable', '--now', SYSTEMD_TIMER)] : [])];
  return ok({ scheduler, files, steps, spec });
}

/** What systemd has against an expression; undefined where it is fine or systemd-analyze is not there. */
async function calendarFault(calendar: string, ground: Ground, signal: AbortSignal): Promise<string | undefined> {
  const analyze = findProgram('systemd-analyze', ground.variables);
  if (isNamedSchedule(calendar) || analyze === undefined) return undefined;
  const { exit_code, output } = await runSteps([{ argv: [analyze, 'calendar', '--', calendar] }], ground, signal);
  if (exit_code === 0) return undefined;
  return `systemd does not understand ${JSON.stringify(calendar)}: ${output.trim().split('\n').at(-1) ?? ''}`;
}

/** What a writing run checks with. A run that writes nothing checks nothing. */
export function verificationOf({ writing, verify, skillsDir }: TimerRequest, ground: Ground) {
  const command = verify.command === undefined ? ownVerifier(startedAs(ground)) : verify.command;
  if (!writing || command === null) return { command: null, cwd: null };
  return { command, cwd: verify.cwd ?? skillsDir };
}

function timerSpec(request: TimerRequest, ground: Ground): TimerSpec {
  const { home, userHome } = ground.places;
  const { skillsDir, writing, order, policy } = request;
  const { command, cwd } = verificationOf(request, ground);
  const when = (on: boolean, ...words: readonly string[]) => (on ? words : []);
  return {
    program: startedAs(ground),
    args: [
      ...['curator', 'auto-run', '--skills-dir', skillsDir, '--format', 'json'],
      ...when(order.semantic, '--semantic-candidates'),
      ...when(order.rerank, '--rerank-candidates'),
      ...when(writing, '--apply-low-risk', '--approve-auto-apply'),
      policy.protectCore ? '--protect-core-skills' : '--no-protect-core-skills',
      ...policy.allow.flatMap((pattern) => ['--allow-auto-apply-skill', pattern]),
      ...policy.block.flatMap((pattern) => ['--block-auto-apply-skill', pattern]),
      ...when(command !== null, '--verify-command', command ?? ''),
      ...when(cwd !== null, '--verify-cwd', cwd ?? ''),
    ],
    schedule: request.schedule,
    env: home === join(userHome, '.talaria') ? {} : { TALARIA_HOME: home },
    logs: { out: join(home, 'logs', 'curator-auto.out.log'), err: join(home, 'logs', 'curator-auto.err.log') },
  };
}

/** The scheduler has another PATH than the person. */
function startedAs({ program: [name = 'talaria', ...first], variables }: Ground): readonly string[] {
  return [findProgram(name, variables) ?? name, ...first];
}

/** `program`: what starts Talaria. One line for `/bin/sh -c`. */
export function ownVerifier(program: readonly string[]): string {
  const shellWord = (word: string) =>
    /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
  return [...program, 'curator', 'skill-validate'].map(shellWord).join(' ');
}

export const TURN_OFF = 'talaria curator uninstall-auto';

const WORDS: Readonly<Record<string, string>> = { hourly: 'once an hour', daily: 'once a day', weekly: 'once a week' };

/** What it will do by itself, when, to which skills, and how to turn it off. */
export function timerStatement(request: TimerRequest, { name }: Scheduler, enabled: boolean): readonly string[] {
  const { schedule, skillsDir, policy } = request;
  const turnOn =
    name === 'systemd'
      ? `systemctl --user enable --now ${SYSTEMD_TIMER}`
      : `launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/${LAUNCHD_LABEL}.plist`;
  const record =
    name === 'systemd' ? `journalctl --user -u ${SYSTEMD_SERVICE}` : 'curator-auto.out.log in logs/ of the home';
  const often = WORDS[schedule] ?? (/^\d+$/.test(schedule) ? `every ${schedule} seconds` : `at ${schedule}`);
  const only = policy.allow.length > 0 ? ` whose names fit ${policy.allow.join(', ')}` : '';
  const never = policy.block.length > 0 ? `, never ${policy.block.join(', ')}` : '';
  const core = policy.protectCore ? ' Skills with names of core skills are left alone.' : '';
  const written = [
    `Skills will be written unattended: those in ${skillsDir} that the agent itself made and nobody pinned${only}${never}.${core}`,
    'Only the marked block of evidence notes changes; each write is checked, kept in a backup, and undone by `talaria curator rollback`.',
  ];
  const planned = `Nothing is written: each run only plans for the skills in ${skillsDir}.`;
  return [
    enabled ? `The timer is on: it runs ${often}.` : `The timer is written but not on; to turn it on: ${turnOn}.`,
    ...(request.writing ? written : [planned]),
    `What runs did: ${record}. To turn it off: ${TURN_OFF}`,
  ];
}
