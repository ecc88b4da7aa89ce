// Owns what the owner asks of a timer, the command that it then runs, and what installing it comes to: files, the scheduler's commands and plain
// words, before anything is done (seed 002, bootstrap; curator notes 15).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  findProgram,
  type PlanRefusal,
  planService,
  type Scheduler,
  type ServicePlan,
  servicePlaces,
} from '#base/process/service.ts';
import { type ServiceSpec, serviceNames } from '#base/process/service-units.ts';
import type { Result } from '#base/result.ts';
import type { Ground } from '#core/agent/room.ts';

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

/** Name of the service. */
export const TIMER = 'curator-auto';

/** Of the files of the timer those that are there, by their names in a manifest (curator notes 11.2). */
export function installedTimer(ground: Pick<Ground, 'places' | 'variables'>): Readonly<Record<string, string>> {
  const { service, timer, plist } = servicePlaces(TIMER, ground);
  const named = { service_path: service, timer_path: timer, plist_path: plist };
  return Object.fromEntries(Object.entries(named).filter(([, path]) => existsSync(path)));
}

/** For machines with neither scheduler. */
export const IN_PROCESS =
  'Or let Talaria do it while it runs: `talaria config set curator.schedule daily` (and `curator.write true` to write).';

/** Throws as `planService`. */
export function planTimer(
  request: TimerRequest,
  ground: Ground,
  options: { readonly scheduler: Scheduler; readonly enable: boolean },
  signal: AbortSignal,
): Promise<Result<ServicePlan, PlanRefusal>> {
  return planService(timerSpec(request, ground), options, ground, signal);
}

/** What a writing run checks with. A run that writes nothing checks nothing. */
export function verificationOf({ writing, verify, skillsDir }: TimerRequest, ground: Ground) {
  const command = verify.command === undefined ? ownVerifier(startedAs(ground)) : verify.command;
  if (!writing || command === null) return { command: null, cwd: null };
  return { command, cwd: verify.cwd ?? skillsDir };
}

function timerSpec(request: TimerRequest, ground: Ground): ServiceSpec {
  const { home, userHome } = ground.places;
  const { skillsDir, writing, order, policy } = request;
  const { command, cwd } = verificationOf(request, ground);
  const when = (on: boolean, ...words: readonly string[]) => (on ? words : []);
  return {
    name: TIMER,
    about: ['Talaria curator: one unattended run', 'Talaria curator: when the unattended run is due'],
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
  const { service, timer, label } = serviceNames(TIMER);
  const turnOn =
    name === 'systemd'
      ? `systemctl --user enable --now ${timer}`
      : `launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/${label}.plist`;
  const record = name === 'systemd' ? `journalctl --user -u ${service}` : 'curator-auto.out.log in logs/ of the home';
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
