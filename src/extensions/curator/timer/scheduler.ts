// Owns the machine's scheduler: which one there is, where its files of a timer lie, running its commands, and what a person can do when one
// fails (curator notes 15). Knows no unit's text. Invariant: the scheduler gets no key of the environment, and never more than its time.
import { existsSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { findOnPath } from '#base/paths/typed-path.ts';
import { runProcess } from '#base/process.ts';
import type { Ground } from '#core/agent/room.ts';
import { LAUNCHD_LABEL, SYSTEMD_SERVICE, SYSTEMD_TIMER } from './timer-units.ts';

export interface Scheduler {
  readonly name: 'systemd' | 'launchd';
  /** `systemctl` or `launchctl`, absolute. */
  readonly program: string;
}

export function findScheduler({ variables }: Pick<Ground, 'variables'>): Scheduler | undefined {
  const [systemctl, launchctl] = [findProgram('systemctl', variables), findProgram('launchctl', variables)];
  if (systemctl !== undefined) return { name: 'systemd', program: systemctl };
  return launchctl === undefined ? undefined : { name: 'launchd', program: launchctl };
}

/** Absolute path, or undefined. */
export function findProgram(name: string, { PATH }: Ground['variables']): string | undefined {
  return isAbsolute(name) ? name : findOnPath(name, PATH);
}

type PlacesGround = Pick<Ground, 'places' | 'variables'>;

/** Absolute paths. `wanted`: what `systemctl enable` makes. */
export function timerPlaces({ places, variables }: PlacesGround) {
  const named = variables.XDG_CONFIG_HOME ?? '';
  const units = join(isAbsolute(named) ? named : join(places.userHome, '.config'), 'systemd', 'user');
  return {
    service: join(units, SYSTEMD_SERVICE),
    timer: join(units, SYSTEMD_TIMER),
    wanted: join(units, 'timers.target.wants', SYSTEMD_TIMER),
    plist: join(places.userHome, 'Library', 'LaunchAgents', `${LAUNCHD_LABEL}.plist`),
  };
}

/** Of the files of a timer those that are there, by their names in a manifest (curator notes 11.2). */
export function installedTimer(ground: PlacesGround): Readonly<Record<string, string>> {
  const { service, timer, plist } = timerPlaces(ground);
  const named = { service_path: service, timer_path: timer, plist_path: plist };
  return Object.fromEntries(Object.entries(named).filter(([, path]) => existsSync(path)));
}

export function launchdDomain(): string {
  return `gui/${userInfo().uid}`;
}

const OUTPUT_CHARS = 2_000;
const STEP_MS = 30_000;
/** What systemctl and launchctl need to find the person's own session. */
const PASSED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG'],
  ...['XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'DBUS_SESSION_BUS_ADDRESS'],
];

export interface Step {
  readonly argv: readonly string[];
  /** A failure of it is as good as success. */
  readonly optional?: boolean;
}

/** Of the last step that ran; `output` is the end of what all of them printed. A type, so that it counts as JSON. */
export type StepsDone = { readonly exit_code: number; readonly output: string };

/** Runs until one fails. 124: out of time; 125: could not be started. Throws the reason of an abort. */
export async function runSteps(
  steps: readonly Step[],
  ground: Pick<Ground, 'variables' | 'clock'>,
  signal: AbortSignal,
): Promise<StepsDone> {
  let done: StepsDone = { exit_code: 0, output: '' };
  for (const { argv, optional } of steps) {
    const step = await runStep(argv, ground, signal);
    done = {
      exit_code: optional ? 0 : step.exit_code,
      output: [...`${done.output}${step.output}`].slice(-OUTPUT_CHARS).join(''),
    };
    if (done.exit_code !== 0) break;
  }
  return done;
}

async function runStep(
  argv: readonly string[],
  { variables, clock }: Pick<Ground, 'variables' | 'clock'>,
  signal: AbortSignal,
): Promise<StepsDone> {
  const env = Object.fromEntries(PASSED.map((name) => [name, variables[name]]));
  const result = await runProcess({ argv, cwd: tmpdir(), env, clock, limits: { timeoutMs: STEP_MS } }, signal);
  if (result.ended === 'aborted') throwIfAborted(signal);
  if (result.ended === 'not-started' || result.ended === 'lost') return { exit_code: 125, output: result.error ?? '' };
  return { exit_code: result.ended === 'timeout' ? 124 : (result.exitCode ?? 1), output: result.output.text };
}

/** One sentence: what to do after `output`. */
export function schedulerFix({ name }: Scheduler, output: string): string {
  if (name === 'launchd') return `Run this in a session of the person who is logged in at the screen. ${IN_PROCESS}`;
  if (!/bus|XDG_RUNTIME_DIR|No medium|not been booted/i.test(output))
    return `See \`systemctl --user status\`. ${IN_PROCESS}`;
  const { username, uid } = userInfo();
  return `There is no session of ${username} that systemd knows: log in as ${username} (not by su or sudo), or run \`loginctl enable-linger ${username}\` and set XDG_RUNTIME_DIR=/run/user/${uid}. ${IN_PROCESS}`;
}

/** For machines with neither. */
export const IN_PROCESS =
  'Or let Talaria do it while it runs: `talaria config set curator.schedule daily` (and `curator.write true` to write).';
