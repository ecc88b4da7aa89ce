// Owns the shell's side of `talaria`: which surface a command line starts, and how it ends. Knows no command's work.
// Invariant: usage errors exit 2 with the word named; whatever was opened is shut down, also on SIGTERM and SIGINT.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import type { CommandContext } from '#core/agent/command-spec.ts';
import type { App } from '#surfaces/app/app.ts';
import { holdSecrets, readEnvironment } from '#surfaces/app/environment.ts';
import { findHome, restoreIntent } from '#surfaces/app/home/home.ts';
import type { SessionDoor } from '#surfaces/app/home/session-door.ts';
import { type CliOptions, createProgram, flagProblem, HOW_TO_RESUME, namesOf, runSettings } from './cli-program.ts';
import { fullWords } from './command-words.ts';
import { reportError } from './exit-code.ts';
import type { Invocation } from './mount-command.ts';
import { watchOutput } from './output-watch.ts';
import type { PipedInput } from './print/piped-input.ts';
import { type SignalWatch, watchSignals } from './process-signals.ts';
import type { OutputTarget } from './render-output.ts';
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
  readonly startedIn: string;
}

/** Runs one command line; resolves to the exit code: 0 done, 1 failed, 2 usage, 3 refused, 128 + n for signal n. */
export async function runCli(argv: readonly string[], version: string): Promise<number> {
  const stop = new AbortController();
  const signals = watchSignals(stop);
  const reader = watchOutput(stop);
  holdSecrets();
  try {
    const code = await dispatch(argv, { version, signal: stop.signal, signals, startedIn: startFolder() });
    return signals.exitCode() ?? reader.exitCode() ?? code;
  } catch (error) {
    return signals.exitCode() ?? reader.exitCode() ?? reportError(error, TARGET.err);
  } finally {
    signals.unwatch();
  }
}

function startFolder(): string {
  try {
    return process.cwd();
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
  enterFolder(program, run);
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
  const ask = async (question: string) => (await import('./plain/ask-at-shell.ts')).askAtShell(signal)(question);
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

/** From here on everything is as if it had been started in the folder of `--cwd`. */
function enterFolder(program: Command, { startedIn }: Run): void {
  const { cwd } = program.opts<CliOptions>();
  if (cwd === undefined) return;
  try {
    process.chdir(resolve(startedIn, cwd));
  } catch (error) {
    const reason = NO_FOLDER[errorCode(error) ?? ''] ?? errorText(error);
    program.error(`error: --cwd ${cwd}: ${reason}`, { exitCode: 2 });
  }
}

interface Words {
  readonly flags: Command;
  readonly run: Run;
}

/** A command, or help: only then the commands are loaded. Words that are no command are a prompt. */
async function runWords(argv: readonly string[], words: readonly string[], { flags, run }: Words): Promise<number> {
  const [{ lineKind, mountCommands }, { extensionCommands, shellCommands }] = await Promise.all([
    import('./mount-command.ts'),
    import('#surfaces/app/commands/shell-commands.ts'),
  ]);
  enterFolder(flags, run);
  const opening = lazyApp(flags.opts<CliOptions>(), run.signal);
  const program = createProgram(run.version);
  const found: Invocation[] = [];
  const usesModel = () => found.some(({ command }) => MODEL_COMMANDS.has(command.name));
  const options = { environment: readEnvironment(), app: announced(opening.get, usesModel) };
  const own = shellCommands(options);
  const isOwn = own.some(({ name }) => name.split(' ')[0] === words[0]);
  const commands = isOwn ? own : [...own, ...(await extensionCommands(options))];
  if (words.length > 0) {
    const kind = lineKind(words, commands);
    if (kind.type === 'prompt') return start(promptProgram(argv, run), run);
    if (kind.type === 'misspelled') flags.error(misspelled(words, kind.near), { exitCode: 2 });
    refuseProblem(flags, words);
  }
  mountCommands(program, commands, (invocation) => {
    found.push(invocation);
  });
  const before = argv.slice(0, argv.length - words.length);
  try {
    await program.parseAsync([...before, ...fullWords(words)], { from: 'user' });
    const [invocation] = found;
    return invocation === undefined ? 0 : await runCommand(invocation, run);
  } finally {
    await opening.shutdown();
  }
}

function misspelled(words: readonly string[], near: string): string {
  const [typed] = words;
  return `error: unknown command '${typed}'\n(Did you mean ${near}? A question goes with -p: talaria -p "${words.join(' ')}")`;
}

/** What is said about models is for these; others do without one. */
const MODEL_COMMANDS: ReadonlySet<string> = new Set(['models', 'doctor', 'setup', 'learn']);

/** What the opening has to tell comes before a command's own output: an empty list must not pass for the whole truth. */
function announced(get: () => Promise<App>, usesModel: () => boolean): () => Promise<App> {
  let told = false;
  return async () => {
    const app = await get();
    if (!told) sayNotices(usesModel() ? [...app.notices, ...app.modelNotices] : app.notices);
    told = true;
    return app;
  };
}

function sayNotices(notices: readonly string[]): void {
  for (const notice of notices) TARGET.err(`talaria: ${notice}\n`);
}

interface LazyApp {
  readonly get: () => Promise<App>;
  readonly shutdown: () => Promise<void>;
}

/** @param door present: a session is to begin */
function lazyApp(options: CliOptions, signal: AbortSignal, door?: SessionDoor): LazyApp {
  const { model, toolsets, print } = options;
  let app: Promise<App> | undefined;
  const compose = async () => {
    const { composeApp } = await import('#surfaces/app/compose.ts');
    return composeApp({
      ...(print === undefined ? {} : { oneShot: true }),
      ...(door ? { door } : {}),
      environment: readEnvironment(),
      run: runSettings(options),
      ...(model === undefined ? {} : { model }),
      ...(toolsets === undefined ? {} : { toolsets: namesOf(toolsets) }),
    });
  };
  return {
    get: () => {
      app ??= compose().catch(async (error: unknown) => {
        if (!(await isRepaired(error, signal))) throw error;
        return compose();
      });
      return app;
    },
    shutdown: async () => {
      const opened = await app?.catch(() => undefined);
      await opened?.shutdown();
    },
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
  const [{ askRepair }, { askAtShell }] = await Promise.all([
    import('./repair-question.ts'),
    import('./plain/ask-at-shell.ts'),
  ]);
  return askRepair(error, { environment: readEnvironment(), target: TARGET, signal, ask: askAtShell(signal) });
}

async function runCommand(invocation: Invocation, run: Run): Promise<number> {
  const environment = readEnvironment();
  const { refuseCommandInside } = await import('#surfaces/app/home/inside.ts');
  const door = { environment, home: findHome(environment), clock: systemClock };
  refuseCommandInside(invocation.command, invocation.input, door);
  await finishInterrupted();
  const [{ renderOutput }, { askAtShell }] = await Promise.all([
    import('./render-output.ts'),
    import('./plain/ask-at-shell.ts'),
  ]);
  const ask = process.stdin.isTTY ? askAtShell(run.signal) : undefined;
  const context = {
    cwd: environment.cwd,
    signal: run.signal,
    ...(ask ? { ask } : {}),
    ...progressAt(process.stderr),
  };
  return renderOutput(invocation.command.run(invocation.input as never, context), invocation.json, TARGET);
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
    const { runPlainChat } = await import('./plain/plain-chat.ts');
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
  const [{ askTrust }, { askAtShell }] = await Promise.all([
    import('./ask-trust.ts'),
    import('./plain/ask-at-shell.ts'),
  ]);
  const leftOut = await askTrust(app, process.stdin.isTTY ? askAtShell(signal) : undefined);
  if (leftOut !== undefined) sayNotices([leftOut]);
}

/** The id of the session that was picked, or the exit code when none was. */
async function pick(app: App, signal: AbortSignal): Promise<string | number> {
  const { pickSession } = await import('./chat/session-picker.ts');
  return pickSession(app, { out: TARGET.err, signal });
}

function sessionOf({ continue: isGoingOn, sessionId }: CliOptions) {
  return { continueLast: isGoingOn === true, ...(sessionId === undefined ? {} : { newId: sessionId }) };
}

async function printOnce(opening: LazyApp, { options, run, prompt }: SurfaceRun): Promise<number> {
  const [{ runPrintMode }, { readInputLines }] = await Promise.all([
    import('./print/print-mode.ts'),
    import('./print/piped-input.ts'),
  ]);
  const { signal } = run;
  const text = typeof options.print === 'string' ? options.print : prompt;
  const patience = text === undefined ? undefined : PIPE_PATIENCE_MS;
  const lines = options.inputFormat === 'stream-json' ? { lines: readInputLines(process.stdin, signal) } : {};
  const resume = typeof options.resume === 'string' ? { resume: options.resume } : {};
  const request = { format: options.outputFormat, ...sessionOf(options), ...resume };
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
  const { hasPipedInput, NO_INPUT, readPipedInput } = await import('./print/piped-input.ts');
  const patience = patienceMs === undefined ? {} : { patienceMs };
  return hasPipedInput() ? readPipedInput(process.stdin, { ...patience, signal }) : NO_INPUT;
}

/** NO_COLOR and a dumb terminal ask for lines without escape codes. */
function wantsPlain(variables: Readonly<Record<string, string | undefined>>): boolean {
  return (variables.NO_COLOR ?? '') !== '' || variables.TERM === 'dumb';
}
