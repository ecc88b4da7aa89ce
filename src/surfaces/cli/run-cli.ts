// Owns the shell's side of `talaria`: which surface a command line starts, and how it ends. Knows no command's work.
// Invariant: usage errors exit 2 with the word named; whatever was opened is shut down, also on SIGTERM and SIGINT.
import { CommanderError } from 'commander';
import { isAborted } from '#base/abort.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { App } from '#surfaces/app/app.ts';
import { readEnvironment } from '#surfaces/app/environment.ts';
import { type CliOptions, createProgram } from './cli-program.ts';
import type { Invocation } from './mount-command.ts';
import { hasPipedInput, readPipedInput } from './piped-input.ts';
import { watchSignals } from './process-signals.ts';
import type { OutputTarget } from './render-output.ts';

const TARGET: OutputTarget = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
};

/** Runs one command line; resolves to the exit code: 0 done, 1 failed, 2 usage, 3 refused, 128 + n for signal n. */
export async function runCli(argv: readonly string[], version: string): Promise<number> {
  const stop = new AbortController();
  const signals = watchSignals(stop);
  process.stdout.on('error', onBrokenPipe);
  try {
    const code = await dispatch(argv, { version, signal: stop.signal });
    return signals.exitCode() ?? code;
  } catch (error) {
    return signals.exitCode() ?? reportError(error);
  } finally {
    signals.unwatch();
  }
}

interface Run {
  readonly version: string;
  readonly signal: AbortSignal;
}

async function dispatch(argv: readonly string[], run: Run): Promise<number> {
  const program = createProgram(run.version);
  const opening = lazyApp(() => program.opts<CliOptions>());
  let start = async () => startSurface(await opening.get(), { options: program.opts<CliOptions>(), run });
  if (namesCommand(argv)) {
    const [{ mountCommands }, { shellCommands }] = await Promise.all([
      import('./mount-command.ts'),
      import('#surfaces/app/commands/shell-commands.ts'),
    ]);
    mountCommands(program, shellCommands({ environment: readEnvironment(), app: opening.get }), (invocation) => {
      start = () => runCommand(invocation, run);
    });
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return await start();
  } finally {
    await opening.shutdown();
  }
}

/** Does the line call a command or ask for help? Then the commands must be known; a chat or `-p` starts without them. */
function namesCommand(argv: readonly string[]): boolean {
  const [first] = argv;
  if (first === undefined) return false;
  return !first.startsWith('-') || argv.includes('--help') || argv.includes('-h');
}

interface LazyApp {
  readonly get: () => Promise<App>;
  readonly shutdown: () => Promise<void>;
}

function lazyApp(options: () => CliOptions): LazyApp {
  let app: Promise<App> | undefined;
  const compose = async () => {
    const { composeApp } = await import('#surfaces/app/compose.ts');
    const { model, toolsets } = options();
    return composeApp({
      environment: readEnvironment(),
      ...(model === undefined ? {} : { model }),
      ...(toolsets === undefined ? {} : { toolsets: toolsets.split(',').map((name) => name.trim()) }),
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
  const { renderOutput } = await import('./render-output.ts');
  const ask = process.stdin.isTTY ? askLine : undefined;
  const context = { cwd: readEnvironment().cwd, signal: run.signal, ...(ask ? { ask } : {}) };
  return renderOutput(invocation.command.run(invocation.input as never, context), invocation.json, TARGET);
}

async function askLine(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await reader.question(`${question} `);
  } finally {
    reader.close();
  }
}

interface SurfaceRun {
  readonly options: CliOptions;
  readonly run: Run;
}

async function startSurface(app: App, { options, run }: SurfaceRun): Promise<number> {
  for (const notice of app.notices) TARGET.err(`talaria: ${notice}\n`);
  const target = { ...TARGET, signal: run.signal };
  const session = {
    continueLast: options.continue === true,
    ...(options.resume === undefined ? {} : { resume: options.resume }),
  };
  if (options.print !== undefined) return printOnce(app, options, { session, target });
  const greeting = (await app.firstScreen()).map((line) => line);
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const { variables } = app.environment;
  if (!isTerminal || options.plain || variables.TERM === 'dumb') {
    const { runPlainChat } = await import('./plain-chat.ts');
    return runPlainChat(app, { input: process.stdin, interactive: isTerminal, greeting, ...session }, target);
  }
  const { runChatScreen } = await import('./chat/chat-screen.ts');
  const colour = (variables.NO_COLOR ?? '') === '';
  return runChatScreen(app, { greeting, colour, historyFile: app.home.inputHistory, ...session }, run.signal);
}

interface PrintRun {
  readonly session: { readonly continueLast: boolean; readonly resume?: string };
  readonly target: OutputTarget & { readonly signal: AbortSignal };
}

async function printOnce(app: App, options: CliOptions, { session, target }: PrintRun): Promise<number> {
  const { runPrintMode } = await import('./print-mode.ts');
  const stdin = hasPipedInput() ? await readPipedInput(process.stdin) : '';
  const text = typeof options.print === 'string' ? options.print : stdin;
  if (text.trim() === '') {
    TARGET.err('talaria: -p needs a text: talaria -p "list the files here"\n');
    return 2;
  }
  const piped = typeof options.print === 'string' ? stdin : '';
  return runPrintMode(
    app,
    { text, stdin: piped, format: options.outputFormat, yes: options.yes === true, ...session },
    target,
  );
}

/** A reader that went away (`| head`) is no failure. */
function onBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
}

const USAGE_OK = new Set(['commander.helpDisplayed', 'commander.help', 'commander.version']);

function reportError(error: unknown): number {
  if (error instanceof CommanderError) return USAGE_OK.has(error.code) ? 0 : 2;
  if (isAborted(error)) return 130;
  TARGET.err(`talaria: ${errorText(error)}\n`);
  if (error instanceof TalariaError && error.fix) TARGET.err(`${error.fix}\n`);
  return 1;
}
