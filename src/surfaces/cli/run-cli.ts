// Owns the shell's side of `talaria`: which surface a command line starts, and how it ends. Knows no command's work.
// Invariant: usage errors exit 2 with the word named; whatever was opened is shut down, also on SIGTERM and SIGINT.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { AbortedError, isAborted } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { lazy } from '#base/lazy.ts';
import { type CommandContext, onlyReads } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { App, SessionDoor } from '#surfaces/app/app.ts';
import type { ShellCommandOptions } from '#surfaces/app/commands/shell-commands.ts';
import { type Environment, enterHome, holdSecrets, readEnvironment } from '#surfaces/app/environment.ts';
import { findHome, restoreIntent } from '#surfaces/app/home/home.ts';
import type { House } from '#surfaces/app/house.ts';
import { type CliOptions, createProgram, flagProblem, HOW_TO_RESUME, namesOf, runSettings } from './cli-program.ts';
import { fullWords, type Invocation } from './mount-command.ts';
import type { PipedInput } from './print-mode.ts';
import type { OutputTarget } from './render-output.ts';
import type { SurfaceSeat } from './surface-commands.ts';
import { oneLine } from './terminal-text.ts';

const TARGET: OutputTarget = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  ...(process.stdout.isTTY ? { width: process.stdout.columns } : {}),
};

interface Run {
  readonly version: string;
  readonly signal: AbortSignal;
  readonly signals: SignalWatch;
  /** As it was before the command line moved it. */
  readonly started: Environment;
}

/** Runs one command line; resolves to the exit code: 0 done, 1 failed, 2 usage, 3 refused, 128 + n for signal n. */
export async function runCli(argv: readonly string[], version: string): Promise<number> {
  const stop = new AbortController();
  const signals = watchSignals(stop);
  const reader = watchOutput(stop);
  holdSecrets();
  try {
    const code = await dispatch(argv, { version, signal: stop.signal, signals, started: startedFrom() });
    return signals.exitCode() ?? reader.exitCode() ?? code;
  } catch (error) {
    return signals.exitCode() ?? reader.exitCode() ?? reportError(error, TARGET.err);
  } finally {
    signals.unwatch();
  }
}

function startedFrom(): Environment {
  try {
    return readEnvironment();
  } catch (cause) {
    throw new TalariaError('the folder you are in is gone: cd to another', { code: 'session-folder', cause });
  }
}

async function dispatch(argv: readonly string[], run: Run): Promise<number> {
  const flags = createProgram(run.version).argument('[words...]');
  const wantsHelp = argv.includes('--help') || argv.includes('-h');
  if (!wantsHelp) flags.parse([...argv], { from: 'user' });
  const words = wantsHelp ? [] : flags.args;
  const [first] = words;
  if (!wantsHelp && first === undefined) return start(flags, run);
  const { print } = flags.opts<CliOptions>();
  if (typeof print === 'string') refuseProblem(flags, words);
  if (print === true || (first !== undefined && /\s/.test(first))) return start(promptProgram(argv, run), run);
  return runWords(argv, words, { flags, run });
}

/** The words are a prompt: flags may stand behind it too. */
function promptProgram(argv: readonly string[], { version }: Run): Command {
  const program = createProgram(version).passThroughOptions(false).argument('[words...]');
  program.parse([...argv], { from: 'user' });
  if (program.args.join(' ').trim() === '') program.error('error: the prompt is empty', { exitCode: 2 });
  return program;
}

/** A chat or one turn. */
async function start(program: Command, run: Run): Promise<number> {
  refuseProblem(program, []);
  await enterPlace(program, run);
  const options = program.opts<CliOptions>();
  const prompt = program.args.length === 0 ? {} : { prompt: program.args.join(' ') };
  const opening = lazyApp(options, run.signal, sessionDoor(options, run));
  try {
    const code = await startSurface(opening, { program, options, run, ...prompt });
    if (options.print === undefined && sourceIsNewer())
      TARGET.err('talaria: the source is newer than the bundle: npm run build\n');
    return code;
  } finally {
    await opening.shutdown();
  }
}

/** What is asked before a chat or a turn may begin. */
function sessionDoor({ here, print }: CliOptions, { signal }: Run): SessionDoor {
  const ask = async (question: string) => (await import('./ask-at-shell.ts')).askAtShell(signal)(question);
  const isAttended = print === undefined && process.stdin.isTTY === true;
  return { isMeant: here === true, ...(isAttended ? { ask } : {}) };
}

/** In a checkout, whose launcher does not look at the source: was some of it edited since the bundle was built? */
function sourceIsNewer(): boolean {
  const main = process.argv[1] ?? '';
  const source = join(dirname(main), '../src');
  if (basename(main) !== 'main.js' || !existsSync(join(source, 'surfaces/cli/main.ts'))) return false;
  return hasNewer(source, statSync(main).mtimeMs);
}

function hasNewer(folder: string, built: number): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? hasNewer(path, built) : entry.isFile() && statSync(path).mtimeMs > built;
  });
}

function refuseProblem(program: Command, words: readonly string[]): void {
  const problem = flagProblem(program, words);
  if (problem !== undefined) program.error(`error: ${problem}`, { exitCode: 2 });
}

const NO_FOLDER: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is no folder',
  EACCES: 'it may not be entered',
};

/** From here on everything is as if it had been started in the folder of `--cwd`, and in the home of `--golem`. */
async function enterPlace(program: Command, { started }: Run): Promise<void> {
  const { cwd, golem } = program.opts<CliOptions>();
  if (cwd !== undefined) enterFolder(program, resolve(started.cwd, cwd));
  if (golem === undefined) return;
  if (program.args[0] === 'golem')
    program.error('error: --golem does not go with the command "golem": talaria golem … NAME', { exitCode: 2 });
  const { root, env } = findHome({ ...started, cwd: process.cwd() });
  const folder = join(root, 'golems', golem);
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(golem) || !existsSync(join(folder, 'golem.toml')))
    program.error(`error: --golem ${golem}: there is no such golem, ${folder}`, { exitCode: 2 });
  enterHome(folder, (await import('#surfaces/app/home/variables.ts')).readEnvFile(env));
}

function enterFolder(program: Command, folder: string): void {
  try {
    process.chdir(folder);
  } catch (error) {
    const reason = NO_FOLDER[errorCode(error) ?? ''] ?? errorText(error);
    program.error(`error: --cwd ${program.opts<CliOptions>().cwd}: ${reason}`, { exitCode: 2 });
  }
}

type Words = Pick<SurfaceRun, 'run'> & { readonly flags: Command };

/** A command, or help: only then the commands are loaded. Words that are no command are a prompt. */
async function runWords(argv: readonly string[], words: readonly string[], { flags, run }: Words): Promise<number> {
  const { lineKind, mountCommands } = await import('./mount-command.ts');
  await enterPlace(flags, run);
  const opening = lazyApp(flags.opts<CliOptions>(), run.signal);
  const program = createProgram(run.version);
  const found: Invocation[] = [];
  const usesModel = () => found.some(({ command }) => MODEL_COMMANDS.has(command.name));
  const tell = announced(opening, usesModel);
  const app: SurfaceSeat['app'] = async (means) => tell(await opening.get(means));
  const door: Ground['door'] = async (name) => tell(await opening.door(name));
  const surroundings = { environment: readEnvironment(), app, door, version: run.version };
  const { commands, isOfSurface } = await commandsFor(words, surroundings);
  if (words.length > 0) {
    const kind = lineKind(words, commands);
    if (kind.type === 'prompt') return start(promptProgram(argv, run), run);
    if (kind.type === 'misspelled') flags.error(misspelled(words, kind.near), { exitCode: 2 });
    refuseProblem(flags, words);
  }
  mountCommands(program, commands, (invocation) => {
    found.push({ ...invocation, json: invocation.json && !isOfSurface });
  });
  const target = { ...TARGET, out: (text: string) => TARGET.out(tell(text)) };
  const before = argv.slice(0, argv.length - words.length);
  try {
    await program.parseAsync([...before, ...(isOfSurface ? words : fullWords(words))], { from: 'user' });
    const [invocation] = found;
    return invocation === undefined ? 0 : await runCommand(invocation, run, target);
  } finally {
    tell(undefined);
    await opening.shutdown();
  }
}

/** Of one surface or room alone, when the first word is its own. A surface prints its JSON itself, a line for each event; more words are a prompt, but not behind a golem's name. */
async function commandsFor(
  words: readonly string[],
  options: ShellCommandOptions & Pick<SurfaceSeat, 'app' | 'version'>,
) {
  const { loadRoom } = await import('#surfaces/app/rooms.ts');
  const { lendGround } = await import('#surfaces/app/ground.ts');
  const [word = 'help', second = '', third = '-'] = words;
  const ground = lendGround({ ...options, home: findHome(options.environment), clock: systemClock });
  const isAtTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const isScreen = isAtTerminal && options.environment.variables.TERM !== 'dumb' && !words.includes('--json');
  const { screenOf, serveParts, spokenSurface, surfaceCommands } = await import('./surface-commands.ts');
  const seat = { ground, isScreen, app: options.app, version: options.version, parts: serveParts };
  const spoken = spokenSurface(words);
  if (spoken) return { commands: await spoken(seat), isOfSurface: false };
  const room = await loadRoom(word);
  const screens = screenOf(word);
  const isMeant = third.startsWith('-') || existsSync(join(ground.places.home, 'golems', second, 'golem.toml'));
  if (screens && (room ? isScreen && words.length === 1 : isMeant))
    return { commands: await screens(seat), isOfSurface: true };
  const own = await room?.commands?.(ground);
  const all = own ?? (await (await import('#surfaces/app/commands/shell-commands.ts')).allCommands(options));
  return { commands: word === 'help' ? [...all, ...(await surfaceCommands(seat))] : all, isOfSurface: false };
}

function misspelled(words: readonly string[], near: string): string {
  const [typed] = words;
  return `error: unknown command '${typed}'\n(Did you mean ${near}? A question goes with -p: talaria -p "${words.join(' ')}")`;
}

/** What is said about models is for these; others do without one. */
const MODEL_COMMANDS: ReadonlySet<string> = new Set(['models show', 'doctor', 'setup', 'learn']);

/** What the opening has to tell comes before a command's own output: an empty list must not pass for the whole truth. */
function announced({ notices }: LazyApp, usesModel: () => boolean): <T>(opened: T) => T {
  const told = new Set<string>();
  return (opened) => {
    const all = notices();
    const every = [...all.notices, ...(usesModel() ? all.modelNotices : [])];
    sayNotices(every.filter((text) => !told.has(text) && told.add(text)));
    return opened;
  };
}

function sayNotices(notices: readonly string[]): void {
  for (const notice of notices) TARGET.err(`talaria: ${notice}\n`);
}

interface LazyApp extends Pick<House, 'door' | 'notices' | 'shutdown'> {
  readonly get: SurfaceSeat['app'];
}

/** @param door present: a session is to begin */
function lazyApp(options: CliOptions, signal: AbortSignal, door?: SessionDoor): LazyApp {
  const { model, toolsets, print } = options;
  let serves = false;
  const make = async (): Promise<House> => {
    const { openHouse } = await import('#surfaces/app/house.ts');
    return openHouse({
      ...(print === undefined ? {} : { oneShot: true }),
      ...(door ? { door } : {}),
      ...(serves ? { serves } : {}),
      environment: readEnvironment(),
      run: runSettings(options),
      ...(model === undefined ? {} : { model }),
      ...(toolsets === undefined ? {} : { toolsets: namesOf(toolsets) }),
    });
  };
  let house = lazy(make);
  const mended = async <T>(open: () => Promise<T>): Promise<T> => {
    try {
      return await open();
    } catch (error) {
      if (!(await isRepaired(error, signal))) throw error;
      await house.now()?.shutdown();
      house = lazy(make);
      return open();
    }
  };
  return {
    get: (means) => {
      serves ||= means?.serves === true;
      return mended(async () => (await house()).app());
    },
    door: (name) => mended(async () => (await house()).door(name)),
    notices: () => house.now()?.notices() ?? { notices: [], modelNotices: [] },
    shutdown: async () => house.now()?.shutdown(),
  };
}

/** Commands that compose nothing look at the same files: what a killed restore left is finished first, and said. */
async function finishInterrupted(): Promise<void> {
  const home = findHome(readEnvironment());
  if (!existsSync(restoreIntent(home))) return;
  const { finishRestore } = await import('#surfaces/app/backup/restore-backup.ts');
  const notice = await finishRestore(home);
  if (notice !== undefined) sayNotices([notice]);
}

/** A person is asked what becomes of a damaged state.db; with -p, or without a terminal, the error stands. */
async function isRepaired(error: unknown, signal: AbortSignal): Promise<boolean> {
  if (errorCode(error) !== 'database-corrupt' || !process.stdin.isTTY || !process.stderr.isTTY) return false;
  const { askRepair, askAtShell } = await import('./ask-at-shell.ts');
  return askRepair(error, { environment: readEnvironment(), target: TARGET, signal, ask: askAtShell(signal) });
}

async function runCommand(invocation: Invocation, run: Run, target: typeof TARGET): Promise<number> {
  const environment = readEnvironment();
  const door = { environment, home: findHome(environment), clock: systemClock };
  const { command, input } = invocation;
  if (command.untilStopped) run.signals.expectEnd();
  if (!onlyReads(command, input))
    (await import('#surfaces/app/home/session-door.ts')).refuseCommandInside(command, input, door);
  await finishInterrupted();
  const { renderOutput } = await import('./render-output.ts');
  const ask = process.stdin.isTTY ? (await import('./ask-at-shell.ts')).askAtShell(run.signal) : undefined;
  const context = {
    ...{ cwd: environment.cwd, signal: run.signal },
    stdio: { input: process.stdin, output: process.stdout },
    ...(ask ? { ask } : {}),
    ...progressAt(process.stderr),
  };
  return renderOutput(command.run(input as never, context), invocation.json, target);
}

/** Only a person at a terminal is told. */
function progressAt({ isTTY, columns }: NodeJS.WriteStream): Pick<CommandContext, 'progress'> {
  if (!isTTY) return {};
  return { progress: (line) => TARGET.err(`\r\u001b[K${oneLine(line, (columns || 80) - 1)}`) };
}

interface SurfaceRun {
  readonly program: Command;
  readonly options: CliOptions;
  readonly run: Run;
  readonly prompt?: string;
}

/** How long a pipe that nobody writes to is waited for, when the command line says what to do, ms. */
const PIPE_PATIENCE_MS = 3_000;

async function startSurface(opening: LazyApp, surface: SurfaceRun): Promise<number> {
  const { program, options, run, prompt } = surface;
  if (options.print !== undefined) return printOnce(opening, surface);
  const variables = readEnvironment().variables;
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const isScreen = isTerminal && !options.plain && !wantsPlain(variables);
  if (options.resume === true && !isScreen)
    program.error(`error: --resume needs an id where no list can be shown; ${HOW_TO_RESUME}`, { exitCode: 2 });
  const app = await opening.get();
  sayNotices([...app.notices, ...app.modelNotices]);
  const resume = options.resume === true ? await pick(app, run.signal) : options.resume;
  if (typeof resume === 'number') return resume;
  const greeting = await app.firstScreen();
  const session = { ...sessionOf(options), ...(resume === undefined ? {} : { resume }) };
  await settleTrust(app, resume, run.signal);
  if (!isScreen) {
    const { runPlainChat } = await import('./plain-chat.ts');
    const first =
      prompt === undefined
        ? {}
        : { prompt, once: !isTerminal, piped: await pipedContext(run.signal, PIPE_PATIENCE_MS) };
    const io = {
      input: process.stdin,
      interactive: process.stdin.isTTY === true,
      onInterrupt: run.signals.onInterrupt,
    };
    return runPlainChat(app, { ...io, greeting, ...session, ...first }, { ...TARGET, signal: run.signal });
  }
  const { runChatScreen } = await import('./chat/chat-screen.ts');
  const first = prompt === undefined ? {} : { prompt };
  return runChatScreen(app, { greeting, historyFile: app.home.inputHistory, ...session, ...first }, run.signal);
}

/** Before the screen stands: what a session follows is settled before it begins. */
async function settleTrust(app: App, resume: string | undefined, signal: AbortSignal): Promise<void> {
  if (resume !== undefined) return;
  const { askTrust, askAtShell } = await import('./ask-at-shell.ts');
  const leftOut = await askTrust(app, process.stdin.isTTY ? askAtShell(signal) : undefined);
  if (leftOut !== undefined) sayNotices([leftOut]);
}

/** The id of the session that was picked, or the exit code when none was. */
async function pick(app: App, signal: AbortSignal): Promise<string | number> {
  return (await import('./chat/terminal-hold.ts')).pickSession(app, TARGET.err, signal);
}

function sessionOf({ continue: isGoingOn, sessionId }: CliOptions) {
  return { continueLast: isGoingOn === true, ...(sessionId === undefined ? {} : { newId: sessionId }) };
}

async function printOnce(opening: LazyApp, { options, run, prompt }: SurfaceRun): Promise<number> {
  const { runPrintMode, readInputLines } = await import('./print-mode.ts');
  const { signal } = run;
  const text = typeof options.print === 'string' ? options.print : prompt;
  const patience = text === undefined ? undefined : PIPE_PATIENCE_MS;
  const lines = options.inputFormat === 'stream-json' ? { lines: readInputLines(process.stdin, signal) } : {};
  const resume = typeof options.resume === 'string' ? { resume: options.resume } : {};
  const images = options.image ? { images: options.image } : {};
  const request = { format: options.outputFormat, ...sessionOf(options), ...resume, ...images };
  try {
    return await runPrintMode(
      { open: opening.get, piped: () => pipedContext(signal, patience), ...lines },
      text === undefined ? request : { ...request, text },
      { ...TARGET, signal },
    );
  } finally {
    process.stdin.destroy();
  }
}

/** @param patienceMs how long a pipe that nobody writes to is waited for; absent: to its end */
async function pipedContext(signal: AbortSignal, patienceMs?: number): Promise<PipedInput> {
  const { hasPipedInput, NO_INPUT, readPipedInput } = await import('./print-mode.ts');
  const patience = patienceMs === undefined ? {} : { patienceMs };
  return hasPipedInput() ? readPipedInput(process.stdin, { ...patience, signal }) : NO_INPUT;
}

/** NO_COLOR and a dumb terminal ask for lines without escape codes. */
function wantsPlain(variables: Readonly<Record<string, string | undefined>>): boolean {
  return (variables.NO_COLOR ?? '') !== '' || variables.TERM === 'dumb';
}

// How an error ends the command: its exit code, and what is said on standard error. Knows no surface.
// Invariant: 0 done, 1 failed, 2 usage, 3 refused, 130 stopped; a bug shows its message, never a stack.

const ASKED_FOR = new Set(['commander.helpDisplayed', 'commander.version']);

/** What was typed cannot be meant; found only where the toolsets are known. */
const USAGE = new Set(['unknown-toolset', 'toolset-circle', 'unknown-tool']);

/** What was asked for is not there, or may not be: exit 3, as everywhere. */
const REFUSED = new Set(['missing-key', 'no-provider', 'no-model', 'inside', 'session-folder']);

function reportError(error: unknown, err: (text: string) => void): number {
  if (error instanceof CommanderError) return ASKED_FOR.has(error.code) || error.exitCode === 0 ? 0 : 2;
  if (isAborted(error)) return 130;
  err(`talaria: ${errorText(error)}\n`);
  if (!(error instanceof TalariaError)) return 1;
  if (error.fix) err(`${error.fix}\n`);
  if (REFUSED.has(error.code)) return 3;
  return USAGE.has(error.code) ? 2 : 1;
}

// What happens when standard output can take no more: its reader went away, or the disk behind it is full.
// Knows no command. Invariant: the work under way is stopped in order, and no stack is ever printed.

/**
 * Aborts `stop` at the first failed write; the streams stay watched until the process ends. `exitCode`: 0 when the reader went away (`| head`
 * is no failure), 1 when the output could not be written; undefined: all is well.
 */
function watchOutput(stop: AbortController): Pick<SignalWatch, 'exitCode'> {
  let code: number | undefined;
  const onError = (error: NodeJS.ErrnoException) => {
    if (code !== undefined) return;
    code = error.code === 'EPIPE' ? 0 : 1;
    if (code === 1) sayUnwritten(error);
    stop.abort(new AbortedError('nobody reads the output any more'));
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
  return { exitCode: () => code };
}

/** What was written last may fail when everything else is done: the exit code is set here too. */
function sayUnwritten(error: Error): void {
  process.exitCode = 1;
  process.stderr.write(`talaria: the output could not be written: ${errorText(error)}\n`);
}

// What SIGTERM, SIGINT and SIGHUP do: the running work is asked to stop, a second signal leaves at once. Invariant: the exit code of a process ended by signal n is 128 + n.

interface SignalWatch {
  /** 128 + n once a signal came. */
  exitCode(): number | undefined;
  /** A chat takes SIGINT for itself: while `handler` returns true the signal ends nothing. */
  onInterrupt(handler: (() => boolean) | undefined): void;
  /** SIGTERM is no failure from now on. */
  expectEnd(): void;
  unwatch(): void;
}

const TERMINATED = 128 + constants.signals.SIGTERM;
const WATCHED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function watchSignals(stop: AbortController): SignalWatch {
  let code: number | undefined;
  let interrupt: (() => boolean) | undefined;
  let isExpected = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal === 'SIGINT' && code === undefined && interrupt?.()) return;
    const number = 128 + constants.signals[signal];
    if (code !== undefined) process.exit(number);
    code = number;
    stop.abort(new AbortedError(`stopped by ${signal}`));
  };
  for (const signal of WATCHED) process.on(signal, onSignal);
  return {
    exitCode: () => (isExpected && code === TERMINATED ? 0 : code),
    expectEnd: () => {
      isExpected = true;
    },
    onInterrupt: (handler) => {
      interrupt = handler;
    },
    unwatch: () => {
      for (const signal of WATCHED) process.off(signal, onSignal);
    },
  };
}
