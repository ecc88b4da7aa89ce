// Owns the flags of `talaria` as commander sees them. Knows no surface. Invariant: an unknown flag or a bad value is named and exits 2.
import { Command, Option } from 'commander';
import type { OutputFormat } from './print-mode.ts';

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

Exit codes: 0 done, 1 failed, 2 usage, 3 refused.`;

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
    .option('-c, --continue', 'go on with the last session of this folder')
    .option('-r, --resume <id>', 'go on with a session')
    .option('-m, --model <name>', 'provider/model, or reflex')
    .option('-t, --toolsets <names>', 'comma-separated toolsets for this run')
    .option('-y, --yes', 'with -p: approve risky calls (never those on the hard list)')
    .option('--plain', 'plain lines instead of the screen')
    .enablePositionalOptions()
    .showHelpAfterError('(talaria --help shows what can be typed)')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .action(() => undefined);
}
