// Owns what one session has of its own behind walls (private home, temporary folders) and the mounts that make its view of the machine.
// Knows no network and starts nothing. Invariants: what is opened covers nothing that lies deeper, so what is hidden in it stays hidden; the
// agent's own home and the folders of other sessions are covered last, over everything.
import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import { isWithin } from '../risk/place.ts';
import { type FolderView, type Protected, viewFolder } from './folder/folder-view.ts';
import { downTo } from './folder/running.ts';
import {
  besideHome,
  doorsOfSystem,
  type HomeOptions,
  hiddenPlaces,
  hideOthers,
  secretsShown,
  standForHome,
} from './home-view.ts';
import { listMounts, type Mounts, realFacts } from './mounts.ts';
import { type Closed, createNewFiles, type NewFiles, openable } from './opened.ts';
import { depthOf } from './scan.ts';
import { MAY_CARRY_TOKEN, SECRET_NAMES } from './secret-places.rules.ts';
import type { Opening } from './walls.ts';

export interface MachineFacts extends HomeOptions {
  /** Where the private folders of all sessions lie. */
  readonly root: string;
  /** Further folders that may be written, and places that may be read, by the configuration: absolute and link-free. */
  readonly writable: readonly string[];
  readonly readable: readonly string[];
}

export interface SessionView {
  readonly git: FolderView;
  /** HOME of its commands. */
  readonly home: string;
  /** The folder of ours that stands for it; absent where the real one is the session's folder. */
  readonly privateHome?: string;
  /** All but the session's folder: the same for each of its commands. */
  readonly ground: Mounts;
  /** Files named like keys, and sockets, that the ground shows. */
  readonly secrets: readonly string[];
  /** What a folder that is opened around it does not show. */
  readonly hidden: readonly string[];
  readonly newFiles: NewFiles;
}

/** Makes the private folders below `own`. Once a session, before its first command. */
export function openSessionView(machine: MachineFacts, folder: string, own: string): SessionView {
  const { userHome } = machine;
  const folderFor = (name: string) => {
    const path = join(own, name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  const ground = listMounts();
  const temps = ['/tmp', '/var/tmp'].filter((at) => existsSync(at) && !isWithin(at, folder));
  for (const at of temps) ground.stand({ at, source: folderFor(at.slice(1).replace('/', '-')) });
  if (folder !== '/') hideOthers(ground, machine);
  const git = viewFolder(folder);
  const view = { git, ground, hidden: hiddenPlaces(machine, folder), newFiles: createNewFiles() };
  const doors = doorsOfSystem(machine, folder).filter(ground.isSeen);
  if (isWithin(userHome, folder)) return { ...view, home: userHome, secrets: doors };
  const hasHome = userHome !== '/' && realFacts(userHome)?.isDirectory() === true;
  const home = hasHome ? userHome : '/tmp/home';
  const area = { at: home, source: hasHome ? folderFor('home') : folderFor('tmp/home') };
  if (hasHome) standForHome(ground, area, { ...machine, folder });
  const secrets = [
    ...doors,
    ...secretsShown({ userHome, settings: [...machine.writable, ...machine.readable] }, folder),
  ];
  return { ...view, home, privateHome: area.source, secrets };
}

export interface CommandView {
  readonly args: readonly string[];
  /** What is bound read-only in the folder. */
  readonly fixed: readonly string[];
  /** What of the openings a yes can open at all, and holds still. */
  readonly openings: readonly Opening[];
  /** All that it may write, and what it cannot move in it. */
  readonly writable: readonly string[];
  readonly points: ReadonlySet<string>;
  /** Once, when the command has ended. */
  readonly tidy: () => void;
}

export interface ViewOptions {
  readonly openings: readonly Opening[];
  readonly protects: Protected;
  /** May it be bound by its name: nothing that runs leads that name elsewhere. What does not hold still gets no mount. */
  readonly holdsStill: (path: string) => boolean;
  /** The same of what need not be there yet. */
  readonly isHeld: (path: string) => boolean;
}

/** The mounts of one command: the session's ground, its folder, what was opened, and what is covered over all of it. */
export function commandView(machine: MachineFacts, view: SessionView, options: ViewOptions): CommandView {
  const { folder } = view.git;
  const { protects, holdsStill } = options;
  const openings = openingsKept(machine, view, options);
  const paths = (kind: 'read' | 'write') => openings.flatMap((one) => (one.kind === kind ? [one.path] : []));
  const [toRead, toWrite] = [paths('read'), paths('write')];
  const outside = toWrite.filter((path) => !isWithin(path, folder) || view.hidden.some((one) => isWithin(path, one)));
  const tidy = view.newFiles.make(outside);
  const fixed = protects.fixed.filter((path) => !toWrite.some((one) => isWithin(one, path)));
  const roots = writableRoots(machine, view, holdsStill);
  const held = [...heldBetween(machine, view, roots), ...protects.held].filter((path) => !toWrite.includes(path));
  const kept = [machine.dataHome, machine.root, ...besideHome(machine.dataHome)];
  const places = placesOf({ machine, view, roots, fixed, held, toRead, toWrite: outside, kept });
  const mounts = view.ground.fork();
  for (const [path, how] of places) if (existsSync(path) && (how === 'hide' || holdsStill(path))) mounts[how](path);
  if (openings.some(({ kind }) => kind === 'network')) showResolver(mounts);
  for (const path of socketsSeen(folder, mounts, [...toRead, ...toWrite])) mounts.hide(path);
  for (const path of kept) if (existsSync(path)) mounts.empty(path);
  const all = [folder === '/' ? '--bind' : '--ro-bind', '/', '/'];
  return {
    args: [...all, ...FRESH, ...mounts.args],
    fixed: fixed.filter(holdsStill),
    openings,
    writable: [...roots, ...outside, ...mounts.areas.map(({ source }) => source)],
    points: new Set([...mounts.points, ...mounts.held]),
    tidy,
  };
}

/** What a yes may not open. */
export function closedPlaces(machine: MachineFacts, { ground, hidden, secrets }: SessionView): Closed {
  const isHidden = (path: string) => [...hidden, ...secrets].some((one) => isWithin(path, one));
  return { ...machine, isSeen: (path) => ground.isSeen(path) && !isHidden(path) };
}

function isSame(one: Opening, other: Opening | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A folder in one that is written anyway gets no mount that a command could lead elsewhere. Throws TalariaError `folder-in-use`. */
function writableRoots(
  { writable }: MachineFacts,
  { git: { folder, outside } }: SessionView,
  holdsStill: ViewOptions['holdsStill'],
): readonly string[] {
  const wanted = [...new Set([folder, ...outside, ...writable])];
  const outer = wanted.filter((path) => !wanted.some((one) => one !== path && isWithin(path, one)));
  const roots = outer.filter(holdsStill);
  if (roots.some((root) => isWithin(folder, root))) return roots;
  throw new TalariaError(`${folder} can be moved by a command that still runs in a folder above it`, {
    code: 'folder-in-use',
    fix: 'End that command first, or wait until it has ended.',
  });
}

/** On the way from what is written to what must stay where it is: the session's folder, git's outside, the agent's own home. */
function heldBetween(machine: MachineFacts, { git }: SessionView, roots: readonly string[]): readonly string[] {
  const own = [machine.dataHome, machine.root].flatMap((path) => roots.flatMap((root) => downTo(dirname(path), root)));
  return [...own, ...[git.folder, ...git.outside].flatMap((path) => roots.flatMap((root) => downTo(path, root)))];
}

/** What was opened stays closed where something that runs could lead its name, or the private folders above it, elsewhere. */
function openingsKept(
  machine: MachineFacts,
  view: SessionView,
  { openings, holdsStill, isHeld }: ViewOptions,
): readonly Opening[] {
  const closed = closedPlaces(machine, view);
  return openings.filter((one) => {
    if (!isSame(one, openable(one, closed))) return false;
    if (!('path' in one)) return true;
    // What is not there yet is made in its folder.
    const nearest = existsSync(one.path) ? one.path : dirname(one.path);
    return holdsStill(nearest) && view.ground.above(nearest).every(isHeld);
  });
}

interface Wanted {
  readonly machine: MachineFacts;
  readonly view: SessionView;
  readonly roots: readonly string[];
  readonly fixed: readonly string[];
  readonly held: readonly string[];
  readonly toRead: readonly string[];
  readonly toWrite: readonly string[];
  /** Covered at the end. */
  readonly kept: readonly string[];
}

type How = 'show' | 'open' | 'hide';

/** How each place is mounted, folders before what is in them. Of one place the last word counts. */
function placesOf({
  machine,
  view,
  roots,
  fixed,
  held,
  toRead,
  toWrite,
  kept,
}: Wanted): readonly (readonly [string, How])[] {
  const { git, hidden, secrets } = view;
  const configured = [git.folder, ...git.outside, ...machine.writable, ...machine.readable];
  const isIn = (path: string, folders: readonly string[]) => folders.some((folder) => isBelow(path, folder));
  const secret = [
    ...hidden.filter((path) => isIn(path, [...configured, ...toRead, ...toWrite])),
    // In a folder of the settings no socket, nor a folder that stands for many keys: it may have been opened for them.
    ...secrets.filter((path) => !isIn(path, isKey(path) ? [git.folder, ...git.outside] : configured)),
  ];
  const places = new Map<string, How>();
  const set = (how: How, paths: readonly string[]) => {
    for (const path of paths) places.set(path, how);
  };
  set('show', machine.readable);
  set('open', [...roots, ...held]);
  set('show', fixed);
  set(
    'hide',
    secret.filter((path) => !configured.includes(path)),
  );
  set('show', toRead);
  set('open', toWrite);
  set(
    'open',
    [...secret, ...kept].flatMap((path) => above(path, places)),
  );
  places.delete('/');
  return [...places].sort(([one], [other]) => depthOf(one) - depthOf(other));
}

function isKey(path: string): boolean {
  return SECRET_NAMES.test(basename(path)) || MAY_CARRY_TOKEN.test(path);
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder === '/' ? folder : `${folder}/`);
}

/** The folders between `path` and what is opened around it: mounts of themselves, so that no command moves them and what they hide. */
function above(path: string, places: ReadonlyMap<string, How>): readonly string[] {
  const between: string[] = [];
  for (let at = dirname(path); ; at = dirname(at)) {
    const how = places.get(at);
    if (how !== undefined) return how === 'open' ? between : [];
    if (at === '/') return [];
    between.push(at);
  }
}

/** Root may turn the kernel's switches in /proc without any capability: it is read-only as a whole, which ends nested namespaces, too. */
const FRESH = ['--dev', '/dev', '--proc', '/proc', '--remount-ro', '/proc', '--tmpfs', '/run'];

/** With the machine's own network its names are resolved by the machine's own file, which often lies in /run. */
function showResolver(mounts: Mounts): void {
  const real = realFacts('/etc/resolv.conf') ? realpathSync.native('/etc/resolv.conf') : '';
  if (real.startsWith('/run/')) mounts.show(real);
}

/** Sockets of other programs that a path leads to: a socket can be spoken to through a read-only wall. */
function socketsSeen(folder: string, { isSeen }: Mounts, opened: readonly string[]): readonly string[] {
  const free = ['/run', '/var/run', '/dev', folder];
  const table = '/proc/net/unix';
  const bound = (existsSync(table) ? readFileSync(table, 'utf8') : '')
    .split('\n')
    .flatMap((line) => / (\/.*)$/.exec(line)?.[1] ?? []);
  return [...new Set(bound)].filter(
    (path) =>
      !free.some((one) => isWithin(path, one)) &&
      !opened.includes(path) &&
      realFacts(path)?.isSocket() === true &&
      isSeen(realpathSync.native(path)),
  );
}
