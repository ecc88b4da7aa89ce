// Owns the shell's side of `talaria`: which surface a command line starts, and how it ends. Knows no command's work.
// Invariant: usage errors exit 2 with the word named; whatever was opened is shut down, also on SIGTERM and SIGINT.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { App } from '#surfaces/app/app.ts';
import { readEnvironment } from '#surfaces/app/environment.ts';
import { type CliOptions, createProgram, flagProblem, namesOf } from './cli-program.ts';
import { fullWords } from './command-words.ts';
import { reportError } from './exit-code.ts';
import type { Invocation } from './mount-command.ts';
import { watchOutput } from './output-watch.ts';
import { type SignalWatch, watchSignals } from './process-signals.ts';
import type { OutputTarget } from './render-output.ts';

const TARGET: OutputTarget = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  ...(process.stdout.isTTY ? { width: process.stdout.columns } : {}),
};

interface Run {
  readonly version: string;
  readonly signal: AbortSignal;
  readonly signals: SignalWatch;
}

/** Runs one command line; resolves to the exit code: 0 done, 1 failed, 2 usage, 3 refused, 128 + n for signal n. */
export async function runCli(argv: readonly string[], version: string): Promise<number> {
  const stop = new AbortController();
  const signals = watchSignals(stop);
  const reader = watchOutput(stop);
  try {
    const code = await dispatch(argv, { version, signal: stop.signal, signals });
    return signals.exitCode() ?? reader.exitCode() ?? code;
  } catch (error) {
    return signals.exitCode() ?? reader.exitCode() ?? reportError(error, TARGET.err);
  } finally {
    signals.unwatch();
  }
}

async function dispatch(argv: readonly string[], run: Run): Promise<number> {
  const flags = createProgram(run.version).argument('[words...]');
  const wantsHelp = argv.includes('--help') || argv.includes('-h');
  if (!wantsHelp) flags.parse([...argv], { from: 'user' });
  const words = wantsHelp ? [] : flags.args;
  const opening = lazyApp(flags.opts<CliOptions>());
  try {
    if (wantsHelp || words.length > 0) return await runWords(argv, words, { flags, opening, run });
    refuseProblem(flags, []);
    const code = await startSurface(opening, { options: flags.opts<CliOptions>(), run });
    if (sourceIsNewer()) TARGET.err('talaria: the source is newer than the bundle: npm run build\n');
    return code;
  } finally {
    await opening.shutdown();
  }
}

/** In a checkout, whose launcher does not look at the source: was some of it edited since the bundle was built? */
function sourceIsNewer(): boolean {
  const main = process.argv[1] ?? '';
  const source = join(dirname(main), '../src');
  if (basename(main) !== 'main.js' || !existsSync(join(source, 'surfaces/cli/main.ts'))) return false;
  const built = statSync(main).mtimeMs;
  return readdirSync(source, { recursive: true, withFileTypes: true }).some(
    (entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).mtimeMs > built,
  );
}

function refuseProblem(program: Command, words: readonly string[]): void {
  const problem = flagProblem(program, words);
  if (problem !== undefined) program.error(`error: ${problem}`, { exitCode: 2 });
}

interface Words {
  readonly flags: Command;
  readonly opening: LazyApp;
  readonly run: Run;
}

/** A command, or help: only then the commands are loaded. */
async function runWords(argv: readonly string[], words: readonly string[], ground: Words): Promise<number> {
  const { opening, run } = ground;
  const [{ mountCommands }, { extensionCommands, shellCommands }] = await Promise.all([
    import('./mount-command.ts'),
    import('#surfaces/app/commands/shell-commands.ts'),
  ]);
  const program = createProgram(run.version);
  const found: Invocation[] = [];
  const usesModel = () => found.some(({ command }) => MODEL_COMMANDS.has(command.name));
  const options = { environment: readEnvironment(), app: announced(opening.get, usesModel) };
  const own = shellCommands(options);
  const isOwn = own.some(({ name }) => name.split(' ')[0] === words[0]);
  const commands = isOwn ? own : [...own, ...(await extensionCommands(options))];
  mountCommands(program, commands, (invocation) => {
    found.push(invocation);
  });
  const before = argv.slice(0, argv.length - words.length);
  if (words.length > 0) refuseProblem(ground.flags, words);
  await program.parseAsync([...before, ...fullWords(words)], { from: 'user' });
  const [invocation] = found;
  return invocation === undefined ? 0 : runCommand(invocation, run);
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

function lazyApp({ model, toolsets, print }: CliOptions): LazyApp {
  let app: Promise<App> | undefined;
  const compose = async () => {
    const { composeApp } = await import('#surfaces/app/compose.ts');
    return composeApp({
      ...(print === undefined ? {} : { oneShot: true }),
      environment: readEnvironment(),
      ...(model === undefined ? {} : { model }),
      ...(toolsets === undefined ? {} : { toolsets: namesOf(toolsets) }),
    });
  };
  return {
    get: () => {
      app ??= compose();
      return app;
    },
    shutdown: async () => {
      const opened = await app?.catch(() => undefined);
      await opened?.shutdown();
    },
  };
}

async function runCommand(invocation: Invocation, run: Run): Promise<number> {
  const [{ renderOutput }, { askAtShell }] = await Promise.all([
    import('./render-output.ts'),
    import('./plain/ask-at-shell.ts'),
  ]);
  const ask = process.stdin.isTTY ? askAtShell(run.signal) : undefined;
  const context = { cwd: readEnvironment().cwd, signal: run.signal, ...(ask ? { ask } : {}) };
  return renderOutput(invocation.command.run(invocation.input as never, context), invocation.json, TARGET);
}

interface SurfaceRun {
  readonly options: CliOptions;
  readonly run: Run;
}

async function startSurface(opening: LazyApp, { options, run }: SurfaceRun): Promise<number> {
  const session = {
    continueLast: options.continue === true,
    ...(options.resume === undefined ? {} : { resume: options.resume }),
  };
  const target = { ...TARGET, signal: run.signal };
  if (options.print !== undefined) return printOnce(opening, { options, session, target });
  const app = await opening.get();
  sayNotices([...app.notices, ...app.modelNotices]);
  const greeting = await app.firstScreen();
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (!isTerminal || options.plain || wantsPlain(app.environment.variables)) {
    const { runPlainChat } = await import('./plain/plain-chat.ts');
    const { onInterrupt } = run.signals;
    const io = { input: process.stdin, interactive: process.stdin.isTTY === true, onInterrupt };
    return runPlainChat(app, { ...io, greeting, ...session }, target);
  }
  const { runChatScreen } = await import('./chat/chat-screen.ts');
  return runChatScreen(app, { greeting, historyFile: app.home.inputHistory, ...session }, run.signal);
}

interface PrintRun {
  readonly options: CliOptions;
  readonly session: { readonly continueLast: boolean; readonly resume?: string };
  readonly target: OutputTarget & { readonly signal: AbortSignal };
}

/** How long a pipe that nobody writes to is waited for, when the command line says what to do, ms. */
const PIPE_PATIENCE_MS = 3_000;

async function printOnce(opening: LazyApp, { options, session, target }: PrintRun): Promise<number> {
  const [{ runPrintMode }, { hasPipedInput, NO_INPUT, readPipedInput }] = await Promise.all([
    import('./print/print-mode.ts'),
    import('./print/piped-input.ts'),
  ]);
  const text = typeof options.print === 'string' ? options.print : undefined;
  const patience = text === undefined ? {} : { patienceMs: PIPE_PATIENCE_MS };
  const piped = async () =>
    hasPipedInput() ? readPipedInput(process.stdin, { ...patience, signal: target.signal }) : NO_INPUT;
  const request = { format: options.outputFormat, yes: options.yes === true, ...session };
  try {
    return await runPrintMode(
      { open: opening.get, piped },
      text === undefined ? request : { ...request, text },
      target,
    );
  } finally {
    process.stdin.destroy();
  }
}

/** NO_COLOR and a dumb terminal ask for lines without escape codes. */
function wantsPlain(variables: Readonly<Record<string, string | undefined>>): boolean {
  return (variables.NO_COLOR ?? '') !== '' || variables.TERM === 'dumb';
}
