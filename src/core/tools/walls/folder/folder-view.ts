// Owns what of a session's folder steers later runs: what is bound read-only, and what is watched since it could be made or changed.
// Knows no mount program and no home. Invariants: only what exists is bound, so nothing is left in the folder; nothing outside of the
// folder is ever named, whatever links lead there; a git folder outside is opened only when it names this folder as its own.
import { lstatSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isWithin } from '../../risk/place.ts';
import { entriesOf, realPathOf } from '../mounts.ts';
import { STEERING_IN_HOME } from '../places.rules.ts';
import { isHarmlessLine } from '../plain-repository.ts';
import { isPlainFolder, modulesBelow, type Scan, textIn, textOf } from './folder-scan.ts';
import { downTo } from './running.ts';

export interface FolderView {
  readonly folder: string;
  /** Git folders outside, of a worktree or a submodule: written by git. */
  readonly outside: readonly string[];
}

export function viewFolder(folder: string): FolderView {
  return { folder, outside: gitFoldersOutside(folder) };
}

/** Everything that may steer, where it lies; of git: its folders of each kind. */
export interface Steering {
  readonly view: FolderView;
  /** By name, in the folder itself and further down. */
  readonly top: readonly string[];
  readonly nested: readonly string[];
  /** Of the folder itself and of those outside, each with its modules. */
  readonly ownGits: readonly GitFolder[];
  readonly nestedGits: readonly GitFolder[];
  /** `.git` that is no folder, further down. */
  readonly gitFiles: readonly string[];
}

interface GitFolder {
  readonly path: string;
  /** Where paths of its settings begin; unknown for a module. */
  readonly work?: string;
  /** It has more modules than are looked at. */
  readonly isCut?: boolean;
}

export function steeringIn(view: FolderView, scan: Scan, userHome: string): Steering {
  const { folder } = view;
  const own = scan.folders.get(folder);
  const nested = [...scan.folders].filter(([path]) => path !== folder);
  const nestedGits = nested.flatMap(([path, { git }]) =>
    git === 'folder' ? [{ path: join(path, '.git'), work: path }] : git === 'bare' ? [{ path, work: path }] : [],
  );
  const ownGits = [...(own?.git === 'folder' ? [join(folder, '.git')] : []), ...view.outside];
  return {
    view,
    top: [
      ...(own?.named ?? []),
      ...(own?.git === 'other' ? [join(folder, '.git')] : []),
      ...(folder === userHome ? STEERING_IN_HOME.map((name) => join(folder, name)) : []),
    ],
    nested: nested.flatMap(([, { named }]) => named),
    ownGits: ownGits.flatMap((path) => withModules({ path, work: folder })),
    nestedGits: nestedGits.flatMap(withModules),
    gitFiles: nested.flatMap(([path, { git }]) => (git === 'other' ? [join(path, '.git')] : [])),
  };
}

function withModules(git: GitFolder): readonly GitFolder[] {
  const { folders, isCut } = modulesBelow(git.path);
  return [{ ...git, isCut }, ...folders.map((path) => ({ path }))];
}

/** Below each git folder: what is read by each run of git. */
const IN_GIT = ['config', 'hooks', 'config.worktree', 'info/attributes'];
/** Each bind takes time: of more git folders than these what steers is watched only. */
const BOUND_GITS = 20;

export interface Protected {
  /** Folders above what is fixed: held open, so that they cannot be moved away. */
  readonly held: readonly string[];
  /** Read-only. */
  readonly fixed: readonly string[];
}

/** Only of the folder itself: a folder that is held further down could not be moved, nor anything out of it. */
export function protectedIn({ view, top, ownGits }: Steering): Protected {
  const roots = [view.folder, ...view.outside];
  const gits = ownGits.slice(0, BOUND_GITS);
  const paths = [...top, ...gits.flatMap(({ path }) => IN_GIT.map((name) => join(path, name))), ...hooksOf(gits, view)];
  const fixed = [...new Set(paths.flatMap((path) => bindable(path, roots)))];
  const above = fixed.flatMap((path) => downTo(dirname(path), roots.find((root) => isWithin(path, root)) ?? path));
  return { held: [...new Set(above)].sort(), fixed };
}

/** `core.hooksPath` of repositories, where it lies in the folder. */
function hooksOf(gits: readonly GitFolder[], { folder }: FolderView): readonly string[] {
  return gits.flatMap(({ path, work }) => {
    const named = /^\s*hooksPath\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(textOf(join(path, 'config')))?.[1];
    if (named === undefined || work === undefined) return [];
    const hooks = resolve(work, named);
    return isWithin(hooks, folder) && hooks !== folder ? [hooks] : [];
  });
}

/** A link is not bound, what it leads to is, where that lies in a writable place. */
function bindable(path: string, roots: readonly string[]): readonly string[] {
  const real = realPathOf(path);
  const facts = real === undefined ? undefined : lstatSync(real, { throwIfNoEntry: false });
  if (real === undefined || !(facts?.isFile() || facts?.isDirectory())) return [];
  return roots.some((root) => isWithin(real, root) && real !== root) ? [real] : [];
}

/** What each steering thing is now, by a path whose folder has no link in it; a thing whose mark changed was made anew or changed. */
export type Marks = ReadonlyMap<string, string>;

export function markSteering(steering: Steering): Marks {
  const { view, top, nested, ownGits, nestedGits, gitFiles } = steering;
  const roots = [view.folder, ...view.outside];
  const gits = [...ownGits, ...nestedGits];
  const worktrees = gits.flatMap(({ path }) => foldersIn(join(path, 'worktrees')));
  const watched = new Set([...gits.map(({ path }) => path), ...worktrees]);
  const steers = [
    ...[...top, ...nested, ...hooksOf(gits, view)],
    ...gits.flatMap((git) => steeringOfGit(git, view)),
    ...worktrees.flatMap((path) => steeringOfWorktree(path, view)),
    ...gitFiles.filter((path) => !watched.has(targetOf(path) ?? '')),
  ];
  const marks = new Map<string, string>();
  const folders = new Map<string, string | undefined>();
  for (const path of steers) {
    const folder = dirname(path);
    if (!folders.has(folder)) folders.set(folder, realPathOf(folder));
    const real = folders.get(folder);
    if (real === undefined || !roots.some((root) => isWithin(real, root))) continue;
    const at = join(real, basename(path));
    const mark = markOf(at);
    if (mark !== undefined) marks.set(at, mark);
  }
  return marks;
}

const WORKTREES = 50;

function foldersIn(path: string): readonly string[] {
  return entriesOf(path)
    .slice(0, WORKTREES)
    .map((name) => join(path, name))
    .filter(isPlainFolder);
}

function steeringOfGit({ path, work, isCut }: GitFolder, view: FolderView): readonly string[] {
  const inner = ['config.worktree', 'info/attributes', 'commondir'].map((name) => join(path, name));
  const links = ['info', 'modules', 'worktrees'].map((name) => join(path, name)).filter(isLink);
  const config = join(path, 'config');
  const modules = isCut ? [join(path, 'modules')] : [];
  return [
    ...inner,
    ...links,
    ...modules,
    ...hooksIn(join(path, 'hooks')),
    ...(isHarmless(config, work, view) ? [] : [config]),
  ];
}

/** As git makes a worktree it says nothing but where the repository is and where the worktree. */
function steeringOfWorktree(path: string, { folder }: FolderView): readonly string[] {
  const [common, place] = [join(path, 'commondir'), join(path, 'gitdir')];
  const named = textOf(place).trim();
  const isOwn =
    /\/\.git$/.test(named) && [folder, '/tmp', '/var/tmp'].some((one) => isWithin(resolve(path, named), one));
  return [
    join(path, 'config.worktree'),
    ...(textOf(common).trim() === '../..' ? [] : [common]),
    ...(isOwn ? [] : [place]),
  ];
}

/** The git folder that a `.git` file names. */
function targetOf(file: string): string | undefined {
  const named = lstatSync(file, { throwIfNoEntry: false })?.isFile()
    ? /^gitdir: (.+)$/m.exec(textOf(file))?.[1]
    : undefined;
  return named === undefined ? undefined : realPathOf(resolve(dirname(file), named));
}

/** Samples are not run. A link in the place of the folder counts as a whole. */
function hooksIn(path: string): readonly string[] {
  if (!isPlainFolder(path)) return [path];
  return entriesOf(path)
    .filter((name) => !name.endsWith('.sample'))
    .map((name) => join(path, name));
}

/** A submodule's settings name its own folder. */
function isHarmless(config: string, work: string | undefined, { folder }: FolderView): boolean {
  const text = textIn(config);
  if (isLink(config) || text === undefined) return lstatSync(config, { throwIfNoEntry: false }) === undefined;
  const isOwnFolder = (line: string) => {
    const named = /^\s*worktree\s*=\s*([^"#;\\]+)$/i.exec(line)?.[1]?.trim();
    return work === undefined && named !== undefined && isWithin(resolve(dirname(config), named), folder);
  };
  return text.split('\n').every((line) => isHarmlessLine(line) || isOwnFolder(line));
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

const MARKED = { depth: 3, entries: 300 } as const;

/** Undefined for what is not there. The time of the last change cannot be set back by who changes. */
function markOf(
  path: string,
  left = { entries: MARKED.entries as number },
  depth: number = MARKED.depth,
): string | undefined {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return undefined;
  if (!facts.isDirectory())
    return `${facts.isSymbolicLink() ? 'link' : 'file'} ${facts.ino} ${facts.size} ${facts.mtimeMs} ${facts.ctimeMs}`;
  left.entries -= 1;
  const inner = entriesOf(path).map((name) => {
    left.entries -= 1;
    return depth === 0 || left.entries < 0 ? name : `${name} ${markOf(join(path, name), left, depth - 1)}`;
  });
  return `folder ${facts.ino} ${inner.join('/')}`;
}

/** New or changed since `before`. */
export function changedMarks(before: Marks, now: Marks): readonly string[] {
  return [...now].filter(([path, mark]) => before.get(path) !== mark).map(([path]) => path);
}

/**
 * A worktree's and a submodule's `.git` is a file that names a folder elsewhere. Anybody can write such a file, so it counts only when
 * that folder names this one back.
 */
function gitFoldersOutside(folder: string): readonly string[] {
  const file = join(folder, '.git');
  const git = targetOf(file);
  if (git === undefined || isWithin(git, folder)) return [];
  const back = textOf(join(git, 'gitdir')).trim();
  const isWorktree = back !== '' && realPathOf(resolve(git, back)) === file && basename(dirname(git)) === 'worktrees';
  const main = dirname(dirname(git));
  if (isWorktree) return isPlainFolder(join(main, 'objects')) ? [main] : [];
  const worktree = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(textOf(join(git, 'config')))?.[1];
  return worktree !== undefined && realPathOf(resolve(git, worktree)) === folder ? [git] : [];
}
