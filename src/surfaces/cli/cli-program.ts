// Owns the flags of `talaria` as commander sees them, and which of them go together. Knows no surface.
// Invariant: an unknown flag, a bad value, a flag where it has no effect is named, and exits 2.
import { Command, Option } from 'commander';
import type { OutputFormat } from './print/print-mode.ts';

export interface CliOptions {
  readonly print?: string | true;
  readonly outputFormat: OutputFormat;
  readonly continue?: true;
  readonly resume?: string;
  readonly model?: string;
  readonly toolsets?: string;
  readonly yes?: true;
  readonly plain?: true;
}

const EXAMPLES = `
Examples:
  $ talaria                              chat in this folder
  $ talaria -p "list the files here"     one answer, then exit
  $ git diff | talaria -p "what changed" piped input is context
  $ talaria setup                        add a model

Exit codes: 0 done, 1 failed, 2 usage, 3 refused, 128 + n when signal n ended it.`;

export function createProgram(version: string): Command {
  return new Command('talaria')
    .description('An agent at your terminal that acts, remembers, finds again, and shows what it rests on.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .addOption(new Option('-p, --print [text]', 'answer once and exit; piped input is context'))
    .addOption(
      new Option('--output-format <format>', 'with -p: how the answer is printed')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .addOption(new Option('-c, --continue', 'go on with the last session of this folder').conflicts('resume'))
    .option('-r, --resume <id>', 'go on with a session')
    .option('-m, --model <name>', 'provider/model, or reflex')
    .option('-t, --toolsets <names>', 'comma-separated toolsets for this run')
    .option('-y, --yes', 'with -p: approve risky calls (never those on the hard list)')
    .option('--plain', 'plain lines instead of the screen')
    .enablePositionalOptions()
    .passThroughOptions()
    .showHelpAfterError('(talaria --help shows what can be typed)')
    .addHelpText('after', EXAMPLES)
    .exitOverride();
}

/** Flags that only a chat or `-p` takes. */
const TURN_FLAGS = { print: '-p', continue: '--continue', resume: '--resume', yes: '--yes', plain: '--plain' } as const;

/** What is wrong with these flags together, undefined when nothing is. `words` is what follows them. */
export function flagProblem(program: Command, words: readonly string[]): string | undefined {
  const options = program.opts<CliOptions>();
  if (options.print !== undefined && words.length > 0)
    return `-p takes one text, and "${words.join(' ')}" came after it; put the whole text in quotes: talaria -p "…"`;
  const isFormatGiven = program.getOptionValueSource('outputFormat') === 'cli';
  if (isFormatGiven && options.print === undefined)
    return '--output-format goes with -p: talaria -p "…" --output-format json';
  if (words.length > 0) {
    const flag = Object.entries(TURN_FLAGS).find(([key]) => Object.hasOwn(options, key))?.[1];
    if (flag !== undefined) return `${flag} does not go with the command "${words[0]}"`;
  }
  if (options.yes && options.print === undefined) return '--yes goes with -p; a chat asks you';
  return emptyValue(options);
}

function emptyValue(options: CliOptions): string | undefined {
  if (options.resume?.trim() === '') return '--resume needs the id of a session; `talaria sessions` lists them';
  if (options.model?.trim() === '') return '--model needs a name: provider/model, or reflex';
  if (options.toolsets !== undefined && namesOf(options.toolsets).length === 0)
    return '--toolsets needs names: talaria --toolsets file,memory';
  return undefined;
}

export function namesOf(list: string): readonly string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
