// Owns what one session has of its own behind walls (private home, temporary folders), the mounts that make its view of the machine, and which
// walls a yes may open. Knows no network and starts nothing. Invariants: what is opened is exactly the place that was asked about, and covers nothing
// that lies deeper, so what is hidden in it stays hidden; the agent's own home and the folders of other sessions are covered last, over everything.
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { known, TalariaError } from '#base/errors.ts';
import { downTo, isWithin } from '../risk/place.ts';
import { type FolderView, type Protected, viewFolder } from './folder-view.ts';
import {
  besideHome,
  depthOf,
  doorsOfSystem,
  type HomeOptions,
  hiddenPlaces,
  hideOthers,
  secretsShown,
  standForHome,
} from './home-view.ts';
import { Mounts, mayWrite, realFacts, realPathOf } from './mounts.ts';
import { MAY_CARRY_TOKEN, SECRET_NAMES } from './places.rules.ts';
import { type Opening, settingLine } from './walls.ts';

export interface MachineFacts extends HomeOptions {
  /** Where the private folders of all sessions lie. */
  readonly root: string;
  /** Further folders that may be written, and places that may be read, by the configuration: absolute and link-free. */
  readonly writable: readonly string[];
  readonly readable: readonly string[];
}

export interface SessionView {
  readonly git: FolderView;
  /** Git folders outside that are read: a golem's worktree lies in the agent's own home, and its repository is the owner's. */
  readonly gitRead: readonly string[];
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
  readonly makeFiles: ReturnType<typeof createNewFiles>;
}

/** Makes the private folders below `own`. Once a session, before its first command. */
export function openSessionView(machine: MachineFacts, folder: string, own: string): SessionView {
  const { userHome } = machine;
  const folderFor = (name: string) => {
    const path = join(own, name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  const ground = new Mounts();
  const temps = ['/tmp', '/var/tmp'].filter((at) => existsSync(at) && !isWithin(at, folder));
  for (const at of temps) ground.stand({ at, source: folderFor(at.slice(1).replace('/', '-')) });
  if (folder !== '/') hideOthers(ground, machine);
  const seen = viewFolder(folder);
  const isGolem = isWithin(folder, machine.dataHome);
  const git = isGolem ? { folder, outside: [] } : seen;
  const gitRead = isGolem ? seen.outside : [];
  const view = { git, gitRead, ground, hidden: hiddenPlaces(machine, folder), makeFiles: createNewFiles() };
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
  const tidy = view.makeFiles(outside);
  const fixed = protects.fixed.filter((path) => !toWrite.some((one) => isWithin(one, path)));
  const roots = writableRoots(machine, view, holdsStill);
  const held = [...heldBetween(machine, view, roots), ...protects.held].filter((path) => !toWrite.includes(path));
  const kept = [machine.dataHome, machine.root, ...besideHome(machine.dataHome)];
  const toOpen = [...roots, ...held];
  const places = placesOf(machine, view, { toOpen, fixed, toRead, toWrite: outside, kept });
  const mounts = new Mounts(view.ground);
  const seal = mounts.coverAround(folder, kept);
  for (const [path, how] of places) if (existsSync(path) && (how === 'hide' || holdsStill(path))) mounts[how](path);
  const resolver = openings.some(({ kind }) => kind === 'network') ? realPathOf('/etc/resolv.conf') : undefined;
  // With the machine's own network its names are resolved by the machine's own file, which often lies in /run.
  if (resolver?.startsWith('/run/')) mounts.show(resolver);
  for (const path of socketsSeen(folder, mounts, [...toRead, ...toWrite])) mounts.hide(path);
  seal();
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
    if (JSON.stringify(one) !== JSON.stringify(openable(one, closed))) return false;
    if (!('path' in one)) return true;
    // What is not there yet is made in its folder.
    const nearest = existsSync(one.path) ? one.path : dirname(one.path);
    return holdsStill(nearest) && view.ground.above(nearest).every(isHeld);
  });
}

type How = 'show' | 'open' | 'hide';

/** How each place is mounted, folders before what is in them. Of one place the last word counts. */
function placesOf(
  machine: MachineFacts,
  { git, gitRead, hidden, secrets }: SessionView,
  own: Readonly<Record<'toOpen' | 'fixed' | 'toRead' | 'toWrite' | 'kept', readonly string[]>>,
): readonly (readonly [string, How])[] {
  const { toOpen, fixed, toRead, toWrite, kept } = own;
  const configured = [git.folder, ...git.outside, ...gitRead, ...machine.writable, ...machine.readable];
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
  set('show', [...machine.readable, ...gitRead]);
  set('open', toOpen);
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

type Closed = Omit<MachineFacts, 'path' | 'readable'> & { readonly isSeen: (path: string) => boolean };

/** Nor what is in them. The second are no wall as a whole, but a view of their own. */
const KERNEL = ['/proc', '/sys'];
const DEVICES = /^\/dev(?:$|\/(?!shm\/.))/;
const WHOLE = ['/tmp', '/var/tmp', '/run'];

/** The opening as it really is; undefined: no yes opens this. */
export function openable(opening: Opening, { userHome, dataHome, root, isSeen }: Closed): Opening | undefined {
  if (!('path' in opening)) return opening;
  const { kind } = opening;
  const path = realPlace(opening);
  if (path === undefined) return undefined;
  const never = [...KERNEL, dataHome, root, ...besideHome(dataHome)];
  if (DEVICES.test(path) || never.some((one) => isWithin(path, one))) return undefined;
  if ([...never, ...WHOLE, userHome].some((one) => isWithin(one, path))) return undefined;
  // A link in the home to what is seen anyway: only the link is missing.
  return kind === 'read' && path !== opening.path && isSeen(path) ? opening : { kind, path };
}

/** Of a file that is not there yet, its folder must be, and be ours to write. */
function realPlace({ kind, path }: { readonly kind: string; readonly path: string }): string | undefined {
  if (realFacts(path)) return realpathSync.native(path);
  const folder = realFacts(dirname(path))?.isDirectory() ? realpathSync.native(dirname(path)) : undefined;
  if (kind === 'read' || folder === undefined || !mayWrite(folder)) return undefined;
  // git's locks are made anew or not at all.
  if (/\/\.git(?:\/|$)/.test(folder)) return undefined;
  return known(() => lstatSync(path, { throwIfNoEntry: false })) ? undefined : join(folder, basename(path));
}

/** What the owner can do where no yes opens what was met, or a narrower setting does. */
export function hintAt(opening: Opening, closed: Closed, folder: string): string | undefined {
  if (opening.kind === 'host' && listensHere(opening.host))
    return `a server of this machine listens at ${opening.host}, outside of the walls; the owner can open it alone: ${settingLine('hosts', opening.host)}`;
  if (opening.kind !== 'write' || openable(opening, closed)) return undefined;
  const { path } = opening;
  if (closed.writable.some((one) => isWithin(path, one))) return undefined;
  const git = /^.*?\/\.git(?=\/|$)/.exec(path)?.[0];
  if (git !== undefined && isWithin(path, folder))
    return `no yes opens ${path}, which steers git: the owner makes it by hand`;
  if (git !== undefined && realFacts(git)?.isDirectory())
    return `git's folder ${git} lies outside of this session: start in ${dirname(git)}, or the owner opens it: ${settingLine('paths', git)}`;
  return isWithin(closed.userHome, path)
    ? `no yes opens all of ${path}: the owner makes the folder that is meant, and adds it to sandbox.paths`
    : undefined;
}

/** Is there a server of this machine where a port that the configuration names leads to: at 127.0.0.1? */
export function listensHere(host: string): boolean {
  const port = Number(host.split(':')[1]).toString(16).toUpperCase().padStart(4, '0');
  const listens = new RegExp(`: (?:0{8}|0100007F|0{32}|0{16}FFFF00000100007F):${port} \\S+ 0A `);
  return ['tcp', 'tcp6'].some((table) => listens.test(known(() => readFileSync(`/proc/net/${table}`, 'utf8')) ?? ''));
}

/** Makes what is missing of paths; the end takes away what nobody wrote. */
function createNewFiles(): (paths: readonly string[]) => () => void {
  const made = new Map<string, { readonly mtimeNs: bigint; users: number }>();
  const factsOf = (path: string) => lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const use = (path: string) => {
    const before = made.get(path);
    if (before) before.users += 1;
    else if (factsOf(path) === undefined) {
      known(() => writeFileSync(path, '', { flag: 'wx' }));
      const facts = factsOf(path);
      if (facts) made.set(path, { mtimeNs: facts.mtimeNs, users: 1 });
    }
  };
  const leave = (path: string) => {
    const one = made.get(path);
    if (one === undefined) return;
    one.users -= 1;
    if (one.users > 0) return;
    made.delete(path);
    const facts = factsOf(path);
    if (facts?.isFile() && facts.size === 0n && facts.mtimeNs === one.mtimeNs) rmSync(path, { force: true });
  };
  return (paths) => {
    for (const path of paths) use(path);
    return () => {
      for (const path of paths) leave(path);
    };
  };
}
