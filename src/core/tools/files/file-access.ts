// Owns where file tools may look and write: paths made real (links followed), then judged by the path rules.
// Knows no tool's work. Invariant: the path that is judged is the path that is used: links are followed once a call, and never again.
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { errorCode, known } from '#base/errors.ts';
import { spellUnseen } from '#base/text/unseen.ts';
import type { Risk, ToolContext } from '#core/agent/tool.ts';
import { isTainted } from '#core/model/message.ts';
import { isInScratch, isWithin, makePlace, ownFileAt, type Place, secretAt, steersLater } from '../risk/place.ts';
import { HARMLESS_DEVICE, RAW_DEVICE, SHOWN_IN_HOME, type ShownPlace, VITAL_FILE } from '../walls/places.rules.ts';

export interface FileToolsOptions {
  /** The agent's own home. */
  readonly home?: string;
  /** The user's home; default that of the process. */
  readonly userHome?: string;
  /** Commands have a temporary folder of their own, so the machine's is somebody else's. */
  readonly tempIsPrivate?: () => boolean;
}

/** Absolute form of what a model wrote: `~` is the user's home, relative paths start at the working folder. */
export function fullPath(path: string, cwd: string, options: FileToolsOptions): string {
  const home = options.userHome ?? homedir();
  const text = path.startsWith('file://') ? path.slice('file://'.length) : path;
  if (text === '~' || text.startsWith('~/')) return resolve(home, text.slice(2));
  return resolve(cwd, text);
}

type FollowLinks = (path: string) => string;

const followed = new WeakMap<ToolContext, Map<string, string>>();

/** How links are followed in one call: each path once, so that its judgement, its copy for an undo and its use mean the same file. */
export function linksOf(context: ToolContext): FollowLinks {
  const known = followed.get(context) ?? new Map<string, string>();
  followed.set(context, known);
  return (path) => {
    const real = known.get(path) ?? realPath(path);
    known.set(path, real);
    return real;
  };
}

const MAX_LINKS = 40;

/** With every link followed, also a link to what does not exist yet; of a path that does not exist, the part that does. */
export function realPath(path: string, links = 0): string {
  let folder = path;
  const rest: string[] = [];
  for (;;) {
    try {
      return join(realpathSync(folder), ...rest);
    } catch (error) {
      if (folder === dirname(folder) || errorCode(error) === 'ELOOP' || links > MAX_LINKS) return path;
      const target = linkTarget(folder);
      if (target !== undefined) return realPath(join(resolve(dirname(folder), target), ...rest), links + 1);
      rest.unshift(basename(folder));
      folder = dirname(folder);
    }
  }
}

/** None below a file, or where we may not look. */
function linkTarget(path: string): string | undefined {
  return known(() => (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined));
}

function placeOf(cwd: string, options: FileToolsOptions): Place {
  const home = options.userHome ?? homedir();
  return makePlace({
    cwd: realPath(cwd),
    home: realPath(home),
    dataHome: options.home === undefined ? undefined : realPath(options.home),
    tempIsPrivate: options.tempIsPrivate?.() === true,
    exists: existsSync,
  });
}

interface Judging extends FileToolsOptions {
  /** Default: as the links are now. */
  readonly follow?: FollowLinks;
}

/** Written and real path both count: a link named `.env` is as telling as a link to one. */
function bothPaths(path: string, cwd: string, options: Judging): readonly string[] {
  const full = fullPath(path, cwd, options);
  const real = (options.follow ?? realPath)(full);
  return real === full ? [full] : [real, full];
}

/** In one line: nothing in a path can look like another line of a question. */
export function shownPath(path: string): string {
  const spell = (code: number) => `\\u{${code.toString(16)}}`;
  return spellUnseen(path, spell).replaceAll('\n', spell(10)).replaceAll('\t', spell(9));
}

/** Asked about under `key`, which a path that cannot be shown as it is does not get. */
function askAbout(path: string, reason: string, key: string): Risk {
  const preview = shownPath(path);
  return { level: 'ask', reason, key: preview === path ? key : '', preview };
}

export function readRisk(path: string, cwd: string, options: Judging): Risk {
  const place = placeOf(cwd, options);
  const [real = path, ...written] = bothPaths(path, cwd, options);
  for (const candidate of [real, ...written]) {
    const secret = secretAt(candidate, place) ?? hiddenAt(real, place);
    if (secret?.level === 'never') return { level: 'never', reason: `it reads ${secret.what}` };
    if (secret) return askAbout(candidate, `it reads ${secret.what}`, `read ${candidate}`);
  }
  return { level: 'none' };
}

/** A test for many absolute paths: does this one hold secrets, or is it hidden and not in what was named? Links are followed by the caller. */
export function secretTest(cwd: string, options: FileToolsOptions, named = cwd): (path: string) => boolean {
  const around = placeOf(cwd, options);
  const place = hiddenAt(named, around) === undefined ? around : { ...around, workspace: named };
  return (path) => (secretAt(path, place) ?? hiddenAt(path, place)) !== undefined;
}

/** Saved outputs and skills: what the model is told to read. */
const OPEN_IN_OWN_HOME = ['cache/spill', 'skills'];

/** What walls hide from commands beside secrets: the agent's own home, and of the user's all that begins with a dot and is in no list. */
export function hiddenAt(path: string, { workspace, home, dataHome }: Place): ReturnType<typeof secretAt> {
  const isOwn = dataHome !== undefined && isWithin(path, dataHome);
  const isGiven = isWithin(path, workspace) && !(isOwn && isWithin(dataHome, workspace) && dataHome !== workspace);
  if (isGiven) return undefined;
  if (isOwn)
    return OPEN_IN_OWN_HOME.some((name) => isWithin(path, join(dataHome, name)))
      ? undefined
      : { level: 'ask', what: "what is in the agent's own home" };
  const inHome = isWithin(path, home) ? relative(home, path) : '';
  const isShown = !inHome.startsWith('.') || SHOWN_IN_HOME.some((place) => isShownBy(place, inHome));
  return isShown ? undefined : { level: 'ask', what: 'what commands are not shown of your home' };
}

function isShownBy({ path, without }: ShownPlace, inHome: string): boolean {
  const inside = inHome.startsWith(`${path}/`) ? inHome.slice(path.length + 1) : '';
  return (inside !== '' || inHome === path) && !without?.test(inside.split('/', 1)[0] ?? '');
}

/** What steers later sessions is written in a tainted one only by a yes to this change, whatever was allowed before. */
export function writeRisk(
  path: string,
  { cwd, history, isOwnFile }: Pick<ToolContext, 'cwd' | 'history' | 'isOwnFile'>,
  options: Judging,
): Risk {
  const place = placeOf(cwd, options);
  const paths = bothPaths(path, cwd, options);
  const real = paths[0] ?? path;
  const forbidden = paths.map((candidate) => forbiddenWrite(candidate, place)).find((reason) => reason !== undefined);
  if (forbidden !== undefined) return { level: 'never', reason: forbidden };
  const reason = paths.map((candidate) => doubtfulWrite(candidate, place)).find((text) => text !== undefined);
  if (reason !== undefined) {
    const isTheirs = paths.some((candidate) => steersLater(candidate, place) !== undefined) && isTainted(history());
    return askAbout(real, reason, isTheirs ? '' : `write ${real}`);
  }
  if (isWithin(real, place.workspace)) return { level: 'none' };
  // A temporary folder is everybody's: what somebody else has there is not replaced unasked.
  const isTemporary = isInScratch(real, place);
  if (isTemporary && (!place.exists(real) || isOwnFile?.(real) === true)) return { level: 'none' };
  if (isTemporary) return askAbout(real, 'it changes a file that is not of this session', `write ${real}`);
  return askAbout(real, 'it writes outside the working folder', `write ${dirname(real)}/`);
}

function forbiddenWrite(path: string, place: Place): string | undefined {
  if (RAW_DEVICE.test(path)) return 'it writes onto a disk';
  if (VITAL_FILE.test(path)) return 'it overwrites a file that the system needs';
  if (path.startsWith('/dev/') && !HARMLESS_DEVICE.test(path)) return 'it writes to a device';
  return ownFileAt(path, place);
}

function doubtfulWrite(path: string, place: Place): string | undefined {
  const secret = secretAt(path, place);
  if (secret) return `it writes ${secret.what}`;
  const steers = steersLater(path, place);
  return steers === undefined ? undefined : `it changes ${steers}`;
}
