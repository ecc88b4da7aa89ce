// Owns the walls of one process: its sessions, the way from a command to the enclosed one, which paths hold still while commands run, and what
// is told when one has ended. Knows no tool and asks nobody but through the enclosure. Invariants: a request that comes out of `enclose` runs behind
// walls, or the owner said that the machine is the wall; nobody can move a mount point of his own view, so a path of such ones holds still.
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { isProcessAlive } from '#base/process/holder.ts';
import type { ProcessRequest } from '#base/process.ts';
import { downTo, isWithin } from '../risk/place.ts';
import { FolderWatch, type Planted } from './folder-watch.ts';
import { filterFile, groupOfRoot, guardDisk, type ProcessGroup } from './limits.ts';
import { guessOpenings } from './met.rules.ts';
import { entriesOf, isGranted, isReachable, mayRead, realFacts, realPathOf } from './mounts.ts';
import type { Entry, SharedNetwork } from './network.ts';
import { MEANT_IN_HOME, QUIET_IN_HOME } from './places.rules.ts';
import { type ProgramPlaces, probeWalls, seatbeltProfile, type WallTools } from './probe.ts';
import type { Dial, Lookup } from './proxy.ts';
import {
  type CommandView,
  closedPlaces,
  commandView,
  hintAt,
  listensHere,
  type MachineFacts,
  openable,
  openSessionView,
  type SessionView,
} from './session-view.ts';
import type { Enclosed, Enclosure, Met, Opening, WallState, Walls } from './walls.ts';

export interface WallOptions {
  readonly mode: 'auto' | 'machine';
  /** Of the process: only PATH is read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
  /** The agent's own home. */
  readonly dataHome: string;
  /** Folders that commands may write; with `:ro` at its end a hidden place that they may read. */
  readonly paths: readonly string[];
  /** Reachable without a question: `name`, `name:port`, `*.name`. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
  /** Which programs may build the walls. */
  readonly programs?: Pick<ProgramPlaces, 'written' | 'system'>;
  /** Where private homes lie. Default: /var/tmp, which is a disk more often than /tmp. */
  readonly tempRoot?: string;
  /** Names to addresses, for the proxy. Default: the system's. */
  readonly lookup?: Lookup;
  /** Where the proxy connects to. Default: the address that it checked. */
  readonly dial?: Dial;
  /** How many processes all commands together may have. */
  readonly processes?: number;
}

interface Session {
  readonly view: SessionView;
  readonly own: string;
  readonly watch: FolderWatch;
  readonly told: Set<string>;
}

export function createWalls(options: WallOptions): Walls {
  return new BuiltWalls(options);
}

class BuiltWalls implements Walls {
  readonly #options: WallOptions;
  readonly #sessions = new Map<string, Session>();
  /** The folder of a session as it was typed, and as it was at its first command. */
  readonly #folders = new Map<string, string>();
  /** One for each folder, whoever runs commands in it. */
  readonly #watches = new Map<string, FolderWatch>();
  readonly #running = new RunningCommands();
  #tools: WallTools | undefined;
  #facts: MachineFacts | undefined;
  #network: SharedNetwork | undefined;
  #group: ProcessGroup | undefined;

  constructor(options: WallOptions) {
    this.#options = options;
  }

  state(): WallState {
    if (this.#options.mode === 'machine')
      return { kind: 'machine', detail: 'sandbox.mode: machine, so commands run as they are' };
    this.#tools ??= probeWalls({ path: this.#options.env.PATH, ...this.#options.programs });
    const { state } = this.#tools;
    if (state.kind !== 'walls') return state;
    const [alone, endless] = [this.#network?.missing(), this.#group?.missing];
    const lacks = [
      ...(alone === undefined ? [] : [`no host can be opened by itself (${alone})`]),
      ...(endless === undefined ? [] : [`processes are not counted (${endless})`]),
    ];
    return { ...state, detail: [state.detail, ...lacks].join('; ') };
  }

  async enclose(request: ProcessRequest, enclosure: Enclosure): Promise<Enclosed> {
    const { kind, detail, fix } = this.state();
    if (kind === 'machine') return { request, settle: async () => NOTHING_MET };
    if (kind === 'none' || !this.#tools)
      throw new TalariaError(`no command can be enclosed here: ${detail}`, {
        code: 'no-walls',
        ...(fix ? { fix } : {}),
      });
    return this.#encloseWith(this.#tools, request, enclosure);
  }

  async #encloseWith(tools: WallTools, request: ProcessRequest, enclosure: Enclosure): Promise<Enclosed> {
    const folder = this.#realFolder(enclosure);
    const machine = this.#machine();
    const cwd = this.#folderOf(request.cwd, folder, machine, enclosure.openings);
    const session = this.#session(enclosure.sessionId, folder, machine);
    const entry = await this.#enter(tools, machine, enclosure);
    // From the look at the folder to the note that it runs nothing may come between: another command could.
    const view = this.#viewFor(session, machine, enclosure, entry);
    const isShared = this.#running.isShared(folder);
    this.#running.add(view);
    const leave = session.watch.enter(view.fixed, writesOf(enclosure));
    if (session.told.size === 0) for (const name of namesIn(session.view.privateHome ?? '')) session.told.add(name);
    const token = randomHex(8);
    const endGuard = guardDisk([folder, machine.root], `${MARK}\0${token}`, this.#options.clock);
    const isMac = tools.bwrap === '';
    const wall = isMac
      ? seatbelt(session, machine, view, entry)
      : this.#bubblewrap(tools, entry, [...view.args, '--setenv', MARK, token, '--chdir', cwd, '--']);
    const own = isMac ? ownPlaces(session) : { ...OWN_PLACES, HOME: session.view.home };
    const network = typeof entry === 'object' ? entry : undefined;
    const joins = this.#group?.joins === undefined ? {} : { joins: this.#group.joins };
    let isSettled = false;
    return {
      isShared,
      request: {
        ...request,
        ...joins,
        ...(isMac ? {} : { holdsAnother: true }),
        ...(tools.filter ? { files: [filterFile(machine.root, tools.filter)] } : {}),
        argv: [...wall, ...request.argv],
        cwd,
        env: { ...request.env, ...own, ...network?.env },
      },
      settle: async (ended) => {
        if (isSettled) return NOTHING_MET;
        isSettled = true;
        this.#running.remove(view);
        view.tidy();
        const full = endGuard();
        network?.admission.release();
        const met = metBy({ session, machine, enclosure, fixed: view.fixed, cwd }, ended, leave());
        const notes = [
          full,
          ended.failed ? ownerNote(session, folder) : undefined,
          ...(network?.admission.refused() ?? []),
          ...met.notes,
        ];
        return { ...met, notes: notes.filter((note) => note !== undefined) };
      },
    };
  }

  async endSession(sessionId: string): Promise<void> {
    const own = [...this.#sessions].filter(([key]) => key.startsWith(`${sessionId}\n`));
    for (const [key] of own) this.#sessions.delete(key);
    for (const key of this.#folders.keys()) if (key.startsWith(`${sessionId}\n`)) this.#folders.delete(key);
    const used = new Set([...this.#sessions.values()].map(({ watch }) => watch));
    for (const [folder, watch] of this.#watches) if (watch.isQuiet && !used.has(watch)) this.#watches.delete(folder);
    await Promise.all(own.map(([, session]) => removeTree(session.own)));
  }

  async close(): Promise<void> {
    await this.#network?.close();
    this.#group?.close();
    this.#network = undefined;
    this.#group = undefined;
    this.#sessions.clear();
    this.#folders.clear();
    this.#watches.clear();
    const root = this.#facts?.root;
    this.#facts = undefined;
    if (root !== undefined) await removeTree(root);
  }

  #bubblewrap(tools: WallTools, entry: Entry | 'open' | undefined, view: readonly string[]): readonly string[] {
    const most = Math.min(tools.processes, this.#options.processes ?? tools.processes);
    this.#group ??= groupOfRoot(most);
    return [...wallArguments(tools, entry), ...view, ...insideArguments(tools, most)];
  }

  /** `open`: the machine's own network; undefined: none at all. */
  async #enter(
    tools: WallTools,
    { root }: MachineFacts,
    { openings, askHost }: Enclosure,
  ): Promise<Entry | 'open' | undefined> {
    if (openings.some(({ kind }) => kind === 'network')) return 'open';
    const { hosts, lookup, dial } = this.#options;
    // A start that runs no command does not load a proxy.
    const { shareNetwork } = await import('./network.ts');
    this.#network ??= shareNetwork(tools, root, { hosts, lookup, dial });
    const opened = openings.flatMap((one) => (one.kind === 'host' ? [one.host] : []));
    return this.#network.enter({ opened, askHost });
  }

  #machine(): MachineFacts {
    if (this.#facts) return this.#facts;
    const { userHome, dataHome, env, paths, tempRoot } = this.#options;
    const typed = paths.map((path) => ({ path: path.replace(/:ro$/, ''), isRead: path.endsWith(':ro') }));
    const home = realFacts(userHome) ? realpathSync.native(userHome) : userHome;
    // What a hand wrote into the file: neither the machine nor, for writing, the home as a whole.
    const isWhole = (path: string, isRead: boolean) => (isRead ? path === '/' : isWithin(home, path));
    const real = (isRead: boolean) =>
      typed
        .filter((one) => one.isRead === isRead)
        .map(({ path }) => typedPath(path, { cwd: '/', userHome }))
        .flatMap((path) => (realFacts(path) ? [realpathSync.native(path)] : []))
        .filter((path) => !isWhole(path, isRead));
    this.#facts = {
      userHome: home,
      dataHome: realFacts(dataHome) ? realpathSync.native(dataHome) : dataHome,
      path: env.PATH ?? '',
      root: makeRoot(tempRoot, this.#options.clock.now()),
      writable: real(false),
      readable: real(true),
    };
    return this.#facts;
  }

  /** Resolved once: what another command put in its place is not what the owner opened. */
  #realFolder({ sessionId, folder }: Enclosure): string {
    const key = `${sessionId}\n${folder}`;
    const real = realPathOf(folder);
    const known = this.#folders.get(key) ?? real;
    if (real === undefined || known !== real)
      throw new TalariaError(
        `the session's folder ${folder} ${real ? `leads to ${real} now` : 'is not there any more'}`,
        {
          code: 'folder-moved',
          fix: 'Put the folder back, or start a session in the folder that you mean.',
        },
      );
    if (!isReachable(real) || !isGranted(real, 'enter'))
      throw new TalariaError(`commands behind walls have no rights of root and cannot enter ${real}`, {
        code: 'folder-of-another',
        fix: 'Start talaria as the user whose folder it is.',
      });
    this.#folders.set(key, real);
    return real;
  }

  #viewFor(
    { view, watch }: Session,
    machine: MachineFacts,
    enclosure: Enclosure,
    entry: Entry | 'open' | undefined,
  ): CommandView {
    try {
      return commandView(machine, view, {
        openings: enclosure.openings,
        protects: watch.protects(),
        holdsStill: (path) => this.#running.holdsStill(path),
        isHeld: (path) => this.#running.isHeld(path),
      });
    } catch (error) {
      if (typeof entry === 'object') entry.admission.release();
      throw error;
    }
  }

  #folderOf(typed: string, folder: string, machine: MachineFacts, openings: readonly Opening[]): string {
    const cwd = realFacts(typed) ? realpathSync.native(typed) : typed;
    const opened = openings.flatMap((opening) => ('path' in opening ? [opening.path] : []));
    if ([folder, ...machine.writable, ...opened].some((one) => isWithin(cwd, one))) return cwd;
    throw new TalariaError(`${typed} lies outside of the session's folder ${folder}, where commands run`, {
      code: 'outside-folder',
      fix: `Name a folder in ${folder}, or let the owner add this one to sandbox.paths.`,
    });
  }

  #session(id: string, folder: string, machine: MachineFacts): Session {
    const key = `${id}\n${folder}`;
    const known = this.#sessions.get(key);
    if (known) return known;
    const own = join(machine.root, `${id.replace(/[^\w-]/g, '_').slice(0, 60)}-${randomHex(4)}`);
    const view = openSessionView(machine, folder, own);
    const { clock } = this.#options;
    const watch = this.#watches.get(folder) ?? new FolderWatch(view.git, machine.userHome, () => clock.now());
    this.#watches.set(folder, watch);
    const session = { view, own, watch, told: new Set<string>() };
    this.#sessions.set(key, session);
    return session;
  }
}

function writesOf({ openings }: Enclosure): readonly string[] {
  return openings.flatMap((one) => (one.kind === 'write' ? [one.path] : []));
}

function metBy(ran: Ran, ended: Ended, { planted, notes, fate }: Planted): Met {
  const { session, machine, cwd, enclosure } = ran;
  const guessed = guessOpenings({ ...ended, cwd, userHome: machine.userHome });
  const closed = closedPlaces(machine, session.view);
  const hints = guessed.flatMap((one) => hintAt(one, closed, session.view.git.folder) ?? []);
  return {
    planted,
    ...(planted.length > 0 ? { fate } : {}),
    openings: openingsOf(ran, guessed),
    notes: [...notes, ...new Set(hints), ...homeNotes(session, enclosure.openings)],
  };
}

interface Ran {
  readonly session: Session;
  readonly machine: MachineFacts;
  readonly enclosure: Enclosure;
  readonly fixed: readonly string[];
  readonly cwd: string;
}

type Ended = Parameters<Enclosed['settle']>[0];

const NOTHING_MET: Met = { openings: [], planted: [], notes: [] };
const MARK = 'TALARIA_ENCLOSED';

const OWN_PLACES = { TMPDIR: '/tmp', TMP: '/tmp', TEMP: '/tmp', XDG_RUNTIME_DIR: undefined };

/** Without a view of its own a command gets other folders by name. */
function ownPlaces({ own }: Session): Readonly<Record<string, string>> {
  const temp = join(own, 'tmp');
  return { HOME: join(own, 'home'), TMPDIR: temp, TMP: temp, TEMP: temp };
}

function seatbelt(
  { view, own }: Session,
  machine: MachineFacts,
  { openings, fixed }: CommandView,
  entry: Entry | 'open' | undefined,
): readonly string[] {
  const opened = (wanted: 'read' | 'write') => openings.flatMap((one) => (one.kind === wanted ? [one.path] : []));
  const profile = seatbeltProfile({
    ...machine,
    own,
    fixed,
    secrets: view.secrets,
    writable: [view.git.folder, ...view.git.outside, ...machine.writable, ...opened('write')],
    readable: [...machine.readable, ...opened('read')],
    network: entry === 'open' ? 'open' : (entry?.port ?? 0),
  });
  return ['/usr/bin/sandbox-exec', '-p', profile];
}

/** Every wall but the mounts. A user namespace of its own drops the bounding set as well. */
function wallArguments({ bwrap, filter }: WallTools, entry: Entry | 'open' | undefined): readonly string[] {
  return [
    ...(typeof entry === 'object' ? [...entry.argv, bwrap] : [bwrap]),
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL', '--die-with-parent'],
    ...(entry === undefined ? ['--unshare-net'] : []),
    ...(filter ? ['--seccomp', '3'] : []),
  ];
}

/** Before the command's own arguments: how many processes a plain user may have. */
function insideArguments({ prlimit }: WallTools, processes: number): readonly string[] {
  return prlimit === undefined || process.getuid?.() === 0 ? [] : [prlimit, `--nproc=${processes}`];
}

/** Only what a wall keeps and could give: a path that is there, or could be made, and is not seen or not writable. */
function openingsOf({ session, machine, enclosure, fixed }: Ran, guessed: readonly Opening[]): readonly Opening[] {
  const { folder } = session.view.git;
  const closed = closedPlaces(machine, session.view);
  const real = guessed.flatMap((one) => {
    if (one.kind === 'host') return listensHere(one.host) ? [{ kind: 'network' } as const] : [];
    return openable(one, closed) ?? [];
  });
  return real.filter((opening) => {
    if (enclosure.openings.some((one) => JSON.stringify(one) === JSON.stringify(opening))) return false;
    if (!('path' in opening)) return true;
    if (opening.kind === 'write')
      return !isWithin(opening.path, folder) || fixed.some((one) => isWithin(opening.path, one));
    return !isWithin(opening.path, folder) && mayRead(opening.path) && !session.view.ground.isSeen(opening.path);
  });
}

/** Names in the private home that may be meant to last: in folders of caches only programs and settings. */
function namesIn(home: string): readonly string[] {
  const inner = MEANT_IN_HOME.flatMap((folder) => entriesOf(join(home, folder)).map((name) => `${folder}/${name}`));
  return [...entriesOf(home), ...inner].filter((name) => !QUIET_IN_HOME.some((quiet) => quiet.test(name)));
}

/** Told once a session for each name: caches are expected, the rest may be meant to last. */
function homeNotes({ view, told }: Session, openings: readonly Opening[]): readonly string[] {
  if (view.privateHome === undefined) return [];
  // The place of what was opened is made there, and is not the command's.
  for (const one of openings)
    if ('path' in one)
      for (let at = relative(view.home, one.path); at !== '.' && at !== ''; at = dirname(at)) told.add(at);
  const made = namesIn(view.privateHome).filter(
    (name) => !told.has(name) && !view.ground.isSeen(join(view.home, name)),
  );
  for (const name of made) told.add(name);
  return made.map((name) => `~/${name} was written into the session's private home and ends with it`);
}

/** Once a session. */
function ownerNote({ told }: Session, folder: string): string | undefined {
  if (told.has(folder) || isGranted(folder, 'write')) return undefined;
  told.add(folder);
  return `commands behind walls have no rights of root: they cannot write ${folder}, which is another user's; start talaria as that user`;
}

const PREFIX = 'talaria-walls-';
/** Of another machine's or container's process nothing is known: its folder may be in use. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

/** A private folder with this process in its name; those of ours whose process is gone for a day are taken away. */
function makeRoot(wanted: string | undefined, now: number): string {
  const base = wanted ?? (realFacts('/var/tmp') && mayRead('/var/tmp') ? '/var/tmp' : tmpdir());
  mkdirSync(base, { recursive: true });
  for (const name of entriesOf(base).filter((one) => one.startsWith(PREFIX))) {
    const facts = lstatSync(join(base, name), { throwIfNoEntry: false });
    const isOld = facts?.uid === process.getuid?.() && now - (facts?.mtimeMs ?? now) > KEPT_MS;
    const isLeft = isOld && !isProcessAlive(Number(name.slice(PREFIX.length).split('-')[0]));
    if (isLeft) rmSync(join(base, name), { recursive: true, force: true });
  }
  return realpathSync.native(mkdtempSync(join(base, `${PREFIX}${process.pid}-`)));
}

async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

interface RunningCommand {
  /** Absolute and link-free. */
  readonly writable: readonly string[];
  readonly points: ReadonlySet<string>;
}

export class RunningCommands {
  readonly #all = new Set<RunningCommand>();

  add(command: RunningCommand): void {
    this.#all.add(command);
  }

  remove(command: RunningCommand): void {
    this.#all.delete(command);
  }

  /** Does another one write there? Commands that share a folder can hand each other what they have open. */
  isShared(folder: string): boolean {
    return [...this.#all].some(({ writable }) => writable.some((root) => isWithin(folder, root)));
  }

  /** May it be bound by its name? bubblewrap follows that name once more, while these commands run on. */
  holdsStill(path: string): boolean {
    return realPathOf(path) === path && this.isHeld(path);
  }

  isHeld(path: string): boolean {
    return [...this.#all].every(({ writable, points }) =>
      writable.every((root) => downTo(path, root).every((at) => points.has(at))),
    );
  }
}
