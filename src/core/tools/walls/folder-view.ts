// Owns what of a session's folder steers later runs: what is bound read-only, and what is watched since it could be made or changed.
// Knows no mount program and no home. Invariants: only what exists is bound, so nothing is left in the folder; nothing outside of the
// folder is ever named, whatever links lead there; a git folder outside is opened only when it names this folder as its own.
import { readlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { known } from '#base/errors.ts';
import { downTo, isWithin } from '../risk/place.ts';
import type { Scan } from './folder-scan.ts';
import { gitOf, isHarmlessLine, isPlainFolder, modulesBelow, namesBack, textIn, textOf } from './git-folders.ts';
import { entriesOf, lookAt, realFacts, realPathOf } from './mounts.ts';
import { STEERING_IN_HOME } from './places.rules.ts';

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
  readonly userHome: string;
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

/** `before`: the git folders of the last look. */
export function steeringIn(view: FolderView, scan: Scan, userHome: string, before?: ReadonlySet<string>): Steering {
  const { folder } = view;
  const own = scan.folders.get(folder);
  const nested = [...scan.folders].filter(([path]) => path !== folder);
  const gitsIn = ([path, { git, isBare }]: (typeof nested)[number]): readonly GitFolder[] => [
    ...(git === 'folder' ? [{ path: join(path, '.git'), work: path }] : []),
    ...(isBare ? [{ path, work: path }] : []),
  ];
  const ownGits = [...(own ? gitsIn([folder, own]) : []), ...view.outside.map((path) => ({ path, work: folder }))];
  const whole = (git: GitFolder) => [git, ...commonOf(git, view)].flatMap((one) => withModules(one, before));
  return {
    view,
    userHome,
    top: [
      ...(own?.named ?? []),
      ...(own?.git === 'other' ? [join(folder, '.git')] : []),
      ...(folder === userHome ? STEERING_IN_HOME.map((name) => join(folder, name)) : []),
    ],
    nested: nested.flatMap(([, { named }]) => named),
    ownGits: ownGits.flatMap(whole),
    nestedGits: nested.flatMap(gitsIn).flatMap(whole),
    gitFiles: nested.flatMap(([path, { git }]) => (git === 'other' ? [join(path, '.git')] : [])),
  };
}

/** Where a git folder says that its settings and hooks lie. */
function commonOf({ path, work }: GitFolder, { folder }: FolderView): readonly GitFolder[] {
  const named = textOf(join(path, 'commondir')).trim();
  const common = named === '' ? undefined : realPathOf(resolve(path, named));
  return common !== undefined && isWithin(common, folder) ? [{ path: common, ...(work ? { work } : {}) }] : [];
}

function withModules(git: GitFolder, before: ReadonlySet<string> | undefined): readonly GitFolder[] {
  const { folders, isCut } = modulesBelow(git.path, before);
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
export function protectedIn({ view, userHome, top, ownGits }: Steering): Protected {
  const roots = [view.folder, ...view.outside];
  const gits = ownGits.slice(0, BOUND_GITS);
  const named = namedByGit(gits, view, userHome);
  const hooks = [...gits.map(({ path }) => join(path, 'hooks')), ...named.hooks];
  const inGit = gits.flatMap(({ path }) => IN_GIT.map((name) => join(path, name)));
  const paths = [...top, ...inGit, ...named.hooks, ...named.files, ...hooks.flatMap(hooksIn).filter(isLink)];
  const fixed = [...new Set(paths.flatMap((path) => bindable(path, roots)))];
  const above = fixed.flatMap((path) => downTo(dirname(path), roots.find((root) => isWithin(path, root)) ?? path));
  return { held: [...new Set(above)].sort(), fixed };
}

const MOST_INCLUDED = 20;

/** The folders of hooks and the further settings that repositories and the owner name, where they lie in the folder. */
function namedByGit(gits: readonly GitFolder[], { folder }: FolderView, userHome: string) {
  const isInside = (path: string) => isWithin(path, folder) && path !== folder;
  const homes = ['.gitconfig', '.config/git/config'].map((name) => ({ path: join(userHome, name), work: folder }));
  const own = gits.flatMap(({ path, work }) => [
    { path: join(path, 'config'), work },
    { path: join(path, 'config.worktree'), work },
  ]);
  const read = [...homes, ...own].map(({ path, work }) => ({ path, work, all: withIncluded(path, userHome) }));
  const files = read.flatMap(({ path, all }) => [...all.keys()].filter((file) => file !== path));
  const hooks = read.flatMap(({ work, all }) => {
    const named = [...all.values()].flat().filter(([key]) => key === 'hookspath');
    return work === undefined ? [] : named.map(([, value]) => resolve(work, value));
  });
  return { hooks: [...new Set(hooks)].filter(isInside), files: [...new Set(files)].filter(isInside) };
}

type Settings = readonly (readonly [key: string, value: string])[];

/** A file of settings and those that it includes, also where they are not there yet. */
function withIncluded(path: string, userHome: string): ReadonlyMap<string, Settings> {
  const found = new Map<string, Settings>();
  const queue = [path];
  for (const file of queue) {
    if (found.has(file) || found.size > MOST_INCLUDED || isPlainFolder(file)) continue;
    const settings = settingsIn(textOf(file), userHome);
    found.set(file, settings);
    queue.push(...settings.filter(([key]) => key === 'path').map(([, value]) => resolve(dirname(file), value)));
  }
  return found;
}

/** Rather more than git reads: a line may begin with its section, or go on in the next one. */
function settingsIn(text: string, userHome: string): Settings {
  const lines = text.replace(/\\\r?\n/g, '').split('\n');
  return lines.flatMap((line) => {
    const [, key, value] = /^\s*(?:\[(?:"(?:\\.|[^"\\])*"|[^\]"])*\]\s*)*(hookspath|path)\s*=(.*)$/i.exec(line) ?? [];
    return key === undefined || value === undefined
      ? []
      : [[key.toLowerCase(), plainValue(value).replace(/^~(?=\/)/, userHome)] as const];
  });
}

function plainValue(value: string): string {
  const quoted = /"((?:\\.|[^"\\])*)"|\\(.)|[#;].*$/g;
  return value.replace(quoted, (_, inner?: string, one?: string) => inner?.replace(/\\(.)/g, '$1') ?? one ?? '').trim();
}

/** A link is not bound, what it leads to is, where that lies in a writable place. */
function bindable(path: string, roots: readonly string[]): readonly string[] {
  const real = realPathOf(path);
  const facts = real === undefined ? undefined : realFacts(real);
  if (real === undefined || !(facts?.isFile() || facts?.isDirectory())) return [];
  return roots.some((root) => isWithin(real, root) && real !== root) ? [real] : [];
}

/** What each steering thing is now, by a path whose folder has no link in it; a thing whose mark changed was made anew or changed. */
export interface Marked {
  readonly marks: ReadonlyMap<string, string>;
  /** What steers only since a link leads there: the link is what is new, where this was not known before. */
  readonly targets: ReadonlySet<string>;
  /** More than was looked through. */
  readonly isCut: boolean;
}

/** Of what is read-only, and of what links lead to, a shallow look tells enough. */
const SHALLOW = { depth: 3, entries: 300 };
const WHOLE: typeof SHALLOW = { depth: 12, entries: 3_000 };

export function markSteering(steering: Steering): Marked {
  const { view, userHome, top, nested, ownGits, nestedGits, gitFiles } = steering;
  const gits = [...ownGits, ...nestedGits];
  const worktrees = gits.flatMap(({ path }) => foldersIn(join(path, 'worktrees')));
  const watched = new Set([...gits.map(({ path }) => path), ...worktrees]);
  const named = namedByGit(gits, view, userHome);
  const steers = [
    ...[...nested, ...named.hooks, ...named.files],
    ...gits.flatMap((git) => steeringOfGit(git, view)),
    ...worktrees.flatMap((path) => steeringOfWorktree(path, view)),
    ...gitFiles.filter((path) => !watched.has(gitOf(path) ?? '')),
  ];
  const roots = [view.folder, ...view.outside];
  const marking: Marking = { marks: new Map(), links: [], real: new Map(), roots, entries: 0, isCut: false };
  for (const path of top) markAt(marking, path, SHALLOW);
  marking.isCut = gits.some(({ isCut }) => isCut === true);
  for (const path of steers) markAt(marking, path, WHOLE);
  const { isCut } = marking;
  const targets = new Set<string>();
  for (const link of marking.links) {
    const to = targetOfLink(link);
    if (to === undefined || link.startsWith(`${to}/`) || marking.marks.has(to)) continue;
    const at = markAt(marking, to, SHALLOW, 'none');
    if (at !== undefined) targets.add(at);
  }
  return { marks: marking.marks, targets, isCut };
}

/** Of what may not be there yet, the place. */
function targetOfLink(link: string): string | undefined {
  const named = known(() => readlinkSync(link));
  if (named === undefined) return undefined;
  return realPathOf(link) ?? resolve(dirname(link), named);
}

interface Marking {
  readonly marks: Map<string, string>;
  /** Links that were met, to be followed by one step more. */
  readonly links: string[];
  /** How many more of what is marked now are looked at. */
  entries: number;
  isCut: boolean;
  /** Of folders. */
  readonly real: Map<string, string | undefined>;
  readonly roots: readonly string[];
}

/** Where it is in the folder, told with the links of its own path followed. */
function markAt(marking: Marking, path: string, most: typeof SHALLOW, missing?: string): string | undefined {
  const { marks, real: folders, roots } = marking;
  const folder = dirname(path);
  if (!folders.has(folder)) folders.set(folder, realPathOf(folder) ?? (lookAt(path) === 'closed' ? folder : undefined));
  const real = folders.get(folder);
  if (real === undefined || !roots.some((root) => isWithin(real, root))) return undefined;
  const at = join(real, basename(path));
  marking.entries = most.entries;
  const mark = markOf(at, most.depth, marking) ?? missing;
  if (mark !== undefined) marks.set(at, mark);
  return at;
}

const WORKTREES = 50;

function foldersIn(path: string): readonly string[] {
  return entriesOf(path)
    .slice(0, WORKTREES)
    .map((name) => join(path, name))
    .filter(isPlainFolder);
}

function steeringOfGit({ path, work }: GitFolder, view: FolderView): readonly string[] {
  const inner = ['config.worktree', 'info/attributes', 'commondir'].map((name) => join(path, name));
  const links = ['info', 'modules', 'worktrees'].map((name) => join(path, name)).filter(isLink);
  const config = join(path, 'config');
  return [
    ...inner,
    ...links,
    ...runsOfRebase(path),
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
    ...runsOfRebase(path),
    ...(textOf(common).trim() === '../..' ? [] : [common]),
    ...(isOwn ? [] : [place]),
  ];
}

/** A rebase that waits to go on: only lines of this kind run anything. */
function runsOfRebase(git: string): readonly string[] {
  const todo = join(git, 'rebase-merge/git-rebase-todo');
  return /^\s*(?:exec|x)(?:\s|$)/m.test(textOf(todo)) ? [todo] : [];
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
  if (isLink(config) || text === undefined) return lookAt(config) === undefined;
  const isOwnFolder = (line: string) => {
    const named = /^\s*worktree\s*=\s*([^"#;\\]+)$/i.exec(line)?.[1]?.trim();
    return work === undefined && named !== undefined && isWithin(resolve(dirname(config), named), folder);
  };
  return text.split('\n').every((line) => isHarmlessLine(line) || isOwnFolder(line));
}

function isLink(path: string): boolean {
  const facts = lookAt(path);
  return facts !== 'closed' && facts?.isSymbolicLink() === true;
}

/** Undefined for what is not there. The time of the last change cannot be set back by who changes. */
function markOf(path: string, depth: number, met: Marking): string | undefined {
  const facts = lookAt(path);
  if (facts === 'closed') return 'closed';
  // Listed, and not found by that name: its bytes are no text.
  if (facts === undefined) return basename(path).includes('\ufffd') ? 'unnamed' : undefined;
  met.entries -= 1;
  const isLinked = facts.isSymbolicLink();
  if (isLinked) met.links.push(path);
  if (!facts.isDirectory())
    return `${isLinked ? 'link' : 'file'} ${facts.ino} ${facts.size} ${facts.mtimeMs} ${facts.ctimeMs}`;
  const names = entriesOf(path);
  const marks = names.map((name) =>
    depth > 0 && met.entries > 0 ? `${name} ${markOf(join(path, name), depth - 1, met)}` : name,
  );
  met.isCut ||= names.length > 0 && (depth === 0 || met.entries <= 0);
  return `folder ${facts.ino} ${marks.join('/')}`;
}

/** A worktree's and a submodule's `.git` is a file that names a folder elsewhere. */
function gitFoldersOutside(folder: string): readonly string[] {
  const git = gitOf(join(folder, '.git'));
  if (git === undefined || isWithin(git, folder)) return [];
  const how = namesBack(git, folder);
  if (how !== 'worktree') return how === 'module' ? [git] : [];
  const main = dirname(dirname(git));
  return isPlainFolder(join(main, 'objects')) ? [main] : [];
}
