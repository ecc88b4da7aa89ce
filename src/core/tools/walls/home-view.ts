// Owns what an enclosed command sees of homes and of the system's secrets: a private folder stands for the user's home, with the harmless part of
// the real one shown read-only in it, and what is shown is searched for keys, sockets and pipes. Knows no session's folder rules and no network.
// Invariants: what no table names and begins with a dot is not shown; other people's homes are empty; the search is bounded, level by level.
import {
  type Dirent,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { known } from '#base/errors.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { findSecrets } from '#base/secrets.ts';
import { isWithin, makePlace, secretAt } from '../risk/place.ts';
import { entriesOf, kindsOf, type Mounts, mayRead, type PrivateArea, realFacts } from './mounts.ts';
import {
  MAY_CARRY_TOKEN,
  OTHER_SYSTEMS,
  PLAIN_LINES,
  type PlainLines,
  SECRET_IN_HOME,
  SECRET_IN_SYSTEM,
  SECRET_NAMES,
  SHOWN_IN_HOME,
  type ShownPlace,
  SYSTEM_KEYS,
} from './places.rules.ts';

export interface HomeOptions {
  readonly userHome: string;
  /** Never shown, nor anything in it. */
  readonly dataHome: string;
  /** PATH of the process. */
  readonly path: string;
}

/** Puts `area` in the place of the home, and what may be seen of the home into it. */
export function standForHome(
  mounts: Mounts,
  area: PrivateArea,
  { dataHome, folder }: HomeOptions & { folder: string },
): void {
  mounts.stand(area);
  const shown = [...plainEntries(area), ...SHOWN_IN_HOME.flatMap((place) => toolEntries(place, area.at))];
  for (const one of PLAIN_LINES) copyPlain(area, one);
  for (const path of shown) if (!isWithin(path, folder) && mayBeShown(path, area.at, dataHome)) mounts.show(path);
  for (const path of secretsOfHome(area.at)) mounts.hide(path);
}

/** Of a hidden settings file only lines that name where packages come from: another registry is no secret, its token is. */
function copyPlain({ at, source }: PrivateArea, { path, line }: PlainLines): void {
  const text = known(() => readRegular(join(at, path), 100_000, 'link-free').toString()) ?? '';
  const lines = text.split(/\r?\n/).filter((one) => {
    const [matched, value] = line.exec(one) ?? [];
    if (matched === undefined || holdsSecret(one)) return false;
    const url = value === undefined ? undefined : URL.parse(value);
    return url === undefined || (url !== null && /^https?:$/.test(url.protocol) && !/[@?#]/.test(value ?? ''));
  });
  if (!lines.some((one) => one.includes('://'))) return;
  mkdirSync(dirname(join(source, path)), { recursive: true, mode: 0o700 });
  const head = `# of ~/${path}; its other lines are hidden from commands`;
  writeFileSync(join(source, path), `${[head, ...lines].join('\n')}\n`, { flag: 'wx', mode: 0o600 });
}

/** What is no dot entry; of one in the table only what it says. Links are made anew: what they lead to has its own rules. */
function plainEntries(area: PrivateArea): readonly string[] {
  const special = new Set(['snap', ...SHOWN_IN_HOME.map(({ path }) => path)]);
  const names = entriesOf(area.at).filter((name) => !name.startsWith('.') && !special.has(name));
  return names.flatMap((name) => {
    const path = join(area.at, name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts?.isSymbolicLink()) symlinkSync(readlinkSync(path), join(area.source, name));
    return facts?.isDirectory() || facts?.isFile() ? [path] : [];
  });
}

function toolEntries({ path, without }: ShownPlace, home: string): readonly string[] {
  const full = join(home, path);
  if (without === undefined) return [full];
  return entriesOf(full)
    .filter((name) => !without.test(name))
    .map((name) => join(full, name));
}

/** A settings file may carry a token; a link may lead to the agent's own home. */
function mayBeShown(path: string, userHome: string, dataHome: string): boolean {
  const facts = realFacts(path);
  if (facts === undefined || !(facts.isDirectory() || facts.isFile()) || !mayRead(path)) return false;
  const real = realpathSync.native(path);
  if (isWithin(real, dataHome) || isSecret(real, userHome)) return false;
  const isSettings = facts.isFile() && /\/\.[^/]+$|\/\.config\//.test(path);
  return !isSettings || (facts.size < 100_000 && !holdsSecret(readFileSync(path, 'utf8')));
}

function holdsSecret(text: string): boolean {
  return /\bextraheader\b|\btoken\b|:\/\/[^/\s:@]+:[^/\s@]+@/i.test(text) || findSecrets(text).length > 0;
}

function isSecret(path: string, userHome: string): boolean {
  return secretAt(path, makePlace({ cwd: '/', home: userHome })) !== undefined;
}

const HOMES = ['/home', '/root', '/Users'];

/** Other people's homes and the system's keys. */
export function hideOthers(mounts: Mounts, { userHome, path }: HomeOptions): void {
  for (const home of HOMES.filter((one) => userHome !== one && mayRead(one))) {
    mounts.hide(home);
    const shown = home === '/home' ? ['/home/linuxbrew'] : toolsOnPath(home, path);
    for (const one of shown) if (one !== userHome && realFacts(one)) mounts.show(one);
  }
  for (const one of new Set(secretsOfSystem().flatMap(filled))) mounts.hide(one);
}

function secretsOfSystem(): readonly string[] {
  const keys = entriesOf(SYSTEM_KEYS.folder).filter((name) => SYSTEM_KEYS.name.test(name));
  return [...SECRET_IN_SYSTEM, ...OTHER_SYSTEMS, ...keys.map((name) => join(SYSTEM_KEYS.folder, name))];
}

/** Tool folders of another home that PATH names: programs found there must start. */
function toolsOnPath(home: string, path: string): readonly string[] {
  const named = path.split(':').filter((folder) => isWithin(folder, home));
  const places = SHOWN_IN_HOME.filter(({ path: shown }) => named.some((folder) => isWithin(folder, join(home, shown))));
  return places.flatMap((place) => toolEntries(place, home));
}

function secretsOfHome(userHome: string): readonly string[] {
  return SECRET_IN_HOME.map((name) => join(userHome, name));
}

/** What stays hidden in whatever is opened around it, where it really is; of a home also what is not there yet. */
export function hiddenPlaces({ userHome }: HomeOptions, folder: string): readonly string[] {
  const home = secretsOfHome(userHome).map((path) => (realFacts(path) ? realpathSync.native(path) : path));
  if (folder === '/') return home;
  return [...home, ...secretsOfSystem().flatMap(filled), ...HOMES.filter((one) => !isWithin(userHome, one))];
}

/** What a restore leaves beside the agent's own home: older homes, half a new one, and what it is at. */
export function besideHome(dataHome: string): readonly string[] {
  const [name, folder] = [basename(dataHome), dirname(dataHome)];
  const kin = [`${name}.before-`, `.${name}-restoring`];
  return entriesOf(folder)
    .filter((one) => kin.some((start) => one.startsWith(start)))
    .map((one) => join(folder, one));
}

const NEVER_SCANNED = new Set('node_modules .venv venv target dist build __pycache__ vendor Library snap'.split(' '));

/**
 * In what is shown of the home and in folders of the settings: files named like keys, sockets and pipes. Level by level until the folders
 * that may be looked into are used up: what lies deeper is shown.
 */
export function secretsShown(
  { userHome, settings }: { readonly userHome: string; readonly settings: readonly string[] },
  folder: string,
): readonly string[] {
  const ofHome = userHome === '/' ? [] : entriesOf(userHome).filter((name) => !name.startsWith('.'));
  const shown = ofHome.map((name) => join(userHome, name));
  const others = settings.filter((path) => path !== userHome && !shown.some((one) => isWithin(path, one)));
  const tops = [...shown, ...new Set(others)];
  const keys = tops.filter((path) => isSecret(path, userHome));
  const packages = join(userHome, 'go/pkg');
  const isFound = (name: string, path: string) =>
    SECRET_NAMES.test(name) || (MAY_CARRY_TOKEN.test(path) && !isOwnGit(path, folder) && carriesToken(path));
  const isSkipped = (name: string, path: string) =>
    NEVER_SCANNED.has(name) ||
    path === folder ||
    path === packages ||
    (/\/\.git\/[^/]+$/.test(path) && name !== 'config');
  const folders = tops.filter((path) => isFolder(path) && !keys.includes(path) && !isSkipped(basename(path), path));
  return [...keys, ...scanFolders({ tops: folders, levels: 6, folders: 2_000, isFound, isSkipped })];
}

/** Of a repository that the session is in. */
function isOwnGit(path: string, folder: string): boolean {
  return path.endsWith('/.git/config') && isWithin(folder, dirname(dirname(path)));
}

function carriesToken(path: string): boolean {
  const facts = realFacts(path);
  if (facts?.isFile() !== true || facts.size > 100_000 || !mayRead(path)) return false;
  const text = readFileSync(path, 'utf8');
  return /_auth|_password|_secret|:\/\/[^/\s@]+@/i.test(text) || holdsSecret(text);
}

/** Where servers of the machine put their sockets beside /run. */
const OF_SERVERS = ['/opt', '/srv', '/var/lib', '/var/spool'];

export function doorsOfSystem({ userHome, dataHome }: HomeOptions, folder: string): readonly string[] {
  const never = new Set([userHome, dataHome, folder, ...OTHER_SYSTEMS]);
  const isSkipped = (_: string, path: string) => never.has(path);
  return scanFolders({ tops: OF_SERVERS, levels: 3, folders: 400, isFound: () => false, isSkipped });
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Where a path of the system really is; every mount costs time, so an empty folder gets none. */
function filled(path: string): readonly string[] {
  const facts = realFacts(path);
  if (facts === undefined || (facts.isDirectory() && entriesOf(path).length === 0)) return [];
  return [realpathSync.native(path)];
}

interface Scan {
  /** Folders to begin with. */
  readonly tops: readonly string[];
  readonly levels: number;
  readonly folders: number;
  /** Is it what is looked for? */
  readonly isFound: (name: string, path: string) => boolean;
  /** Neither looked into nor found. */
  readonly isSkipped: (name: string, path: string) => boolean;
}

const MOST_ENTRIES = 40_000;
/** Below one top. Every mount costs each command a fifth of a millisecond. */
const MOST_FOUND = 40;

interface Room {
  readonly top: string;
  readonly path: string;
}

/** What was found, or, where that is much below one top, the folders that hold it. */
function scanFolders(scan: Scan): readonly string[] {
  const left = { folders: scan.folders, entries: MOST_ENTRIES };
  const found = new Map<string, string[]>(scan.tops.map((top) => [top, []]));
  let level: readonly Room[] = scan.tops.map((top) => ({ top, path: top }));
  for (let depth = 0; depth < scan.levels; depth += 1)
    level = level.flatMap((room) => {
      if (left.folders <= 0 || left.entries <= 0) return [];
      const entries = kindsOf(room.path);
      left.folders -= 1;
      left.entries -= entries.length;
      return entries.flatMap((entry) => look(entry, room, scan, found.get(room.top)));
    });
  return [...found].flatMap(([top, paths]) => fewer(paths, top));
}

/** Notes what is looked for, and gives a folder that has to be looked into. */
function look(entry: Dirent, { top, path }: Room, scan: Scan, found: string[] | undefined): readonly Room[] {
  const full = `${path}/${entry.name}`;
  if (scan.isSkipped(entry.name, full)) return [];
  const isWanted = isDoor(entry) || scan.isFound(entry.name, full);
  if (isWanted) found?.push(full);
  return !isWanted && entry.isDirectory() ? [{ top, path: full }] : [];
}

/** Another program listens there, and a read-only wall keeps nobody from speaking to it. */
function isDoor(entry: Dirent): boolean {
  return entry.isSocket() || entry.isFIFO();
}

/** The folders above, level by level, until they are few. */
function fewer(paths: readonly string[], top: string): readonly string[] {
  let cut = [...new Set(paths)];
  while (cut.length > MOST_FOUND) {
    const deepest = Math.max(...cut.map(depthOf));
    if (deepest <= depthOf(top)) break;
    cut = [...new Set(cut.map((path) => (depthOf(path) === deepest ? dirname(path) : path)))];
  }
  return cut.filter((path) => !cut.some((other) => path.startsWith(`${other}/`)));
}

export function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length;
}
