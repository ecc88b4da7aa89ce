// Owns what the machine's scheduler runs for the owner: which scheduler there is, its files of a service, putting them there and taking them away,
// and what a person can do when it fails. Knows no command of ours. Invariants: files are old or new, all of them; the scheduler gets no key of the
// environment, and never more than its time.
import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { throwIfAborted } from '../abort.ts';
import { atomicWrite, syncFolder } from '../atomic-write.ts';
import type { Clock } from '../clock.ts';
import { errorCode, errorText, TalariaError } from '../errors.ts';
import { findOnPath } from '../paths/typed-path.ts';
import { privateFolder } from '../platform.ts';
import { runProcess } from '../process.ts';
import { ok, type Result, refuse } from '../result.ts';
import { findSecrets } from '../secrets.ts';
import {
  isNamedSchedule,
  launchdPlist,
  launchdTrigger,
  type ServiceSpec,
  serviceNames,
  systemdCalendar,
  systemdUnits,
} from './service-units.ts';

/** The person and the machine. */
export interface ServiceHost {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly places: { readonly userHome: string };
}

export interface Scheduler {
  readonly name: 'systemd' | 'launchd';
  /** `systemctl` or `launchctl`, absolute. */
  readonly program: string;
}

export function findScheduler({ variables }: Pick<ServiceHost, 'variables'>): Scheduler | undefined {
  const [systemctl, launchctl] = [findProgram('systemctl', variables), findProgram('launchctl', variables)];
  if (systemctl !== undefined) return { name: 'systemd', program: systemctl };
  return launchctl === undefined ? undefined : { name: 'launchd', program: launchctl };
}

/** Absolute path, or undefined. */
export function findProgram(name: string, { PATH }: ServiceHost['variables']): string | undefined {
  return isAbsolute(name) ? name : findOnPath(name, PATH);
}

type PlacesHost = Pick<ServiceHost, 'places' | 'variables'>;

/** Absolute paths. `wanted`: what `systemctl enable` makes. */
export function servicePlaces(name: string, { places, variables }: PlacesHost) {
  const named = variables.XDG_CONFIG_HOME ?? '';
  const units = join(isAbsolute(named) ? named : join(places.userHome, '.config'), 'systemd', 'user');
  const { service, timer, label } = serviceNames(name);
  return {
    service: join(units, service),
    timer: join(units, timer),
    wanted: [join(units, 'timers.target.wants', timer), join(units, 'default.target.wants', service)],
    plist: join(places.userHome, 'Library', 'LaunchAgents', `${label}.plist`),
  };
}

function launchdDomain(): string {
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
async function runSteps(
  steps: readonly Step[],
  host: Pick<ServiceHost, 'variables' | 'clock'>,
  signal: AbortSignal,
): Promise<StepsDone> {
  let done: StepsDone = { exit_code: 0, output: '' };
  for (const { argv, optional } of steps) {
    const step = await runStep(argv, host, signal);
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
  { variables, clock }: Pick<ServiceHost, 'variables' | 'clock'>,
  signal: AbortSignal,
): Promise<StepsDone> {
  const env = Object.fromEntries(PASSED.map((name) => [name, variables[name]]));
  const result = await runProcess({ argv, cwd: tmpdir(), env, clock, limits: { timeoutMs: STEP_MS } }, signal);
  if (result.ended === 'aborted') throwIfAborted(signal);
  if (result.ended === 'not-started' || result.ended === 'lost') return { exit_code: 125, output: result.error ?? '' };
  return { exit_code: result.ended === 'timeout' ? 124 : (result.exitCode ?? 1), output: result.output.text };
}

/** What to do after `output`; `instead`: what else would do. */
export function schedulerFix({ name }: Scheduler, output: string, instead: string): string {
  if (name === 'launchd') return `Run this in a session of the person who is logged in at the screen. ${instead}`;
  if (!/bus|XDG_RUNTIME_DIR|No medium|not been booted/i.test(output))
    return `See \`systemctl --user status\`. ${instead}`;
  const { username, uid } = userInfo();
  return `There is no session of ${username} that systemd knows: log in as ${username} (not by su or sudo), or run \`loginctl enable-linger ${username}\` and set XDG_RUNTIME_DIR=/run/user/${uid}. ${instead}`;
}

export interface ServicePlan {
  readonly scheduler: Scheduler;
  /** In the order of writing; absolute. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly steps: readonly Step[];
  readonly spec: ServiceSpec;
}

export type PlanRefusal = 'schedule-invalid' | 'secret';

/** Nothing is done yet. `enable`: it is turned on too. Throws TalariaError `timer-text` for a word that no unit can hold. */
export async function planService(
  spec: ServiceSpec,
  { scheduler, enable }: { readonly scheduler: Scheduler; readonly enable: boolean },
  host: ServiceHost,
  signal: AbortSignal,
): Promise<Result<ServicePlan, PlanRefusal>> {
  // A file that everybody may read is no place for a key.
  if ([...spec.program, ...spec.args].some((word) => findSecrets(word).length > 0))
    return refuse('secret', 'A word of the command looks like a key; a unit is no place for it.');
  const plan = scheduler.name === 'launchd' ? launchdPlan : systemdPlan;
  const planned = await plan(spec, scheduler, host, signal);
  if (!planned.ok) return planned;
  const { files, first, on } = planned.value;
  return ok({
    scheduler,
    files,
    steps: [...(enable || scheduler.name === 'systemd' ? first : []), ...(enable ? on : [])],
    spec,
  });
}

type PlannedFiles = Result<
  Pick<ServicePlan, 'files'> & { readonly first: readonly Step[]; readonly on: readonly Step[] },
  'schedule-invalid'
>;

async function launchdPlan(spec: ServiceSpec, { program }: Scheduler, host: ServiceHost): Promise<PlannedFiles> {
  const trigger = launchdTrigger(spec.schedule);
  if (!trigger.ok) return trigger;
  const { plist } = servicePlaces(spec.name, host);
  const domain = launchdDomain();
  // An agent that is loaded keeps its old text.
  const first = [{ argv: [program, 'bootout', `${domain}/${serviceNames(spec.name).label}`], optional: true }];
  const on = [{ argv: [program, 'bootstrap', domain, plist] }];
  return ok({ files: [{ path: plist, text: launchdPlist(spec, trigger.value) }], first, on });
}

async function systemdPlan(
  spec: ServiceSpec,
  { program }: Scheduler,
  host: ServiceHost,
  signal: AbortSignal,
): Promise<PlannedFiles> {
  const calendar = spec.schedule === undefined ? ok(undefined) : systemdCalendar(spec.schedule);
  if (!calendar.ok) return calendar;
  const doubt = calendar.value === undefined ? undefined : await calendarFault(calendar.value, host, signal);
  if (doubt !== undefined) return refuse('schedule-invalid', doubt);
  const { service, timer } = systemdUnits(spec, calendar.value);
  const places = servicePlaces(spec.name, host);
  const files = [{ path: places.service, text: service }];
  if (timer !== undefined) files.push({ path: places.timer, text: timer });
  const names = serviceNames(spec.name);
  const systemctl = (...words: readonly string[]): Step => ({ argv: [program, '--user', ...words] });
  const on = [systemctl('enable', '--now', timer === undefined ? names.service : names.timer)];
  return ok({ files, first: [systemctl('daemon-reload')], on });
}

/** What systemd has against an expression; undefined where it is fine or systemd-analyze is not there. */
async function calendarFault(calendar: string, host: ServiceHost, signal: AbortSignal): Promise<string | undefined> {
  const analyze = findProgram('systemd-analyze', host.variables);
  if (isNamedSchedule(calendar) || analyze === undefined) return undefined;
  const { exit_code, output } = await runSteps([{ argv: [analyze, 'calendar', '--', calendar] }], host, signal);
  if (exit_code === 0) return undefined;
  return `systemd does not understand ${JSON.stringify(calendar)}: ${output.trim().split('\n').at(-1) ?? ''}`;
}

/** Throws TalariaError for a folder that cannot be written: nothing has changed then. */
export function carryOut({ scheduler, files, steps, spec }: ServicePlan, host: ServiceHost, signal: AbortSignal) {
  // launchd makes no folder for the output.
  if (scheduler.name === 'launchd') privateFolder(dirname(spec.logs.out));
  writeServiceFiles(files);
  return runSteps(steps, host, signal);
}

/** Units are read by the scheduler, which may be another user's process. */
const MODE = 0o644;

/** Throws TalariaError as `atomicWrite`, always with a fix. */
export function writeServiceFiles(files: ServicePlan['files']): void {
  const changes = files.map(({ path, text }) => ({ path, text, before: bytesOf(path) }));
  const written: typeof changes = [];
  for (const change of changes) {
    try {
      atomicWrite(change.path, change.text, { mode: MODE });
    } catch (error) {
      for (const { path, before } of written) {
        if (before === undefined) rmSync(path, { force: true });
        else atomicWrite(path, before, { mode: MODE });
      }
      throw withFix(change.path, error);
    }
    written.push(change);
  }
}

function bytesOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const unread = `cannot read ${path}: ${errorText(error)}`;
    throw withFix(path, new TalariaError(unread, { code: 'write-failed', cause: error }));
  }
}

function withFix(path: string, error: unknown): unknown {
  if (!(error instanceof TalariaError) || error.fix !== undefined) return error;
  const fix = `Look at ${dirname(path)}: it must be a folder of your own, with nothing else under this name. No file was changed.`;
  return new TalariaError(error.message, { code: error.code, cause: error.cause, fix });
}

/** Without a scheduler the files go, and nobody is told. `keepEnabled`: it is not turned off before its files go. */
export async function removeService(
  name: string,
  { scheduler, keepEnabled }: { readonly scheduler: Scheduler | undefined; readonly keepEnabled: boolean },
  host: ServiceHost,
  signal: AbortSignal,
): Promise<{
  readonly scheduler: Scheduler['name'];
  readonly removed: readonly string[];
  readonly missing: readonly string[];
  /** Absent: nobody was told. */
  readonly done?: StepsDone;
}> {
  const places = servicePlaces(name, host);
  const kind = scheduler?.name ?? (existsSync(places.plist) ? 'launchd' : 'systemd');
  const all = kind === 'systemd' ? [places.timer, places.service] : [places.plist];
  const removed = all.filter(stands);
  // Nobody is asked about what is not there.
  const isThere = removed.length > 0 || places.wanted.some(stands);
  const told = isThere && !keepEnabled ? scheduler : undefined;
  const gone = keepEnabled ? removed : [...removed, ...places.wanted];
  const isTimer = removed.includes(places.timer);
  const done = told ? await turnedOff(offSteps(name, told, isTimer), gone, host, signal) : undefined;
  if (!told) for (const path of gone) remove(path);
  const missing = all.filter((path) => !removed.includes(path));
  return { scheduler: kind, removed, missing, ...(done ? { done } : {}) };
}

async function turnedOff(
  [before = [], behind = []]: readonly (readonly Step[])[],
  files: readonly string[],
  host: ServiceHost,
  signal: AbortSignal,
): Promise<StepsDone> {
  const off = await runSteps(before, host, signal);
  for (const path of files) remove(path);
  const after = await runSteps(behind, host, signal);
  const output = `${off.output}${after.output}`.slice(-OUTPUT_CHARS);
  return { exit_code: off.exit_code || after.exit_code, output };
}

/** Before the files go, and behind: systemd reads its folder again, so that the timer is gone there too. */
function offSteps(service: string, { name, program }: Scheduler, isTimer: boolean): readonly (readonly Step[])[] {
  const names = serviceNames(service);
  if (name === 'launchd') return [[{ argv: [program, 'bootout', `${launchdDomain()}/${names.label}`] }], []];
  const systemctl = (...words: readonly string[]) => ({ argv: [program, '--user', ...words] });
  return [[systemctl('disable', '--now', isTimer ? names.timer : names.service)], [systemctl('daemon-reload')]];
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
