// Owns the flags of `talaria` as commander sees them, and which of them go together. Knows no surface.
// Invariant: an unknown flag, a bad value, a flag where it has no effect is named, and exits 2.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { RunSettings } from '#surfaces/app/app.ts';
import type { OutputFormat } from './print-mode.ts';

export interface CliOptions {
  readonly print?: string | true;
  readonly outputFormat: OutputFormat;
  readonly inputFormat: 'text' | 'stream-json';
  readonly image?: readonly string[];
  readonly continue?: true;
  readonly resume?: string | true;
  readonly sessionId?: string;
  readonly model?: string;
  readonly toolsets?: string;
  readonly allowedTools?: string;
  readonly maxTurns?: number;
  readonly permissionMode?: NonNullable<RunSettings['permission']>;
  readonly yes?: true;
  readonly appendSystemPrompt?: string;
  readonly cwd?: string;
  readonly golem?: string;
  readonly here?: true;
  readonly plain?: true;
}

const EXAMPLES = `
Examples:
  $ talaria                              chat in this folder
  $ talaria "what is in this folder"     the same, with a first line
  $ talaria -p "list the files here"     one answer, then exit
  $ git diff | talaria -p "what changed" piped input is context
  $ talaria setup                        add a model

Exit codes: 0 done, 1 failed, 2 usage, 3 refused or not approved, 128 + n when signal n ended it.`;

export function createProgram(version: string): Command {
  const program = new Command('talaria')
    .description('An agent at your terminal that acts, remembers, finds again, and shows what it rests on.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help');
  for (const option of [...printOptions(), ...sessionOptions(), ...runOptions()]) program.addOption(option);
  return program
    .enablePositionalOptions()
    .passThroughOptions()
    .showHelpAfterError('(talaria --help shows what can be typed)')
    .addHelpText('after', EXAMPLES)
    .exitOverride();
}

function printOptions(): readonly Option[] {
  return [
    new Option('-p, --print [text]', 'answer once and exit; piped input is context'),
    new Option('--output-format <format>', 'with -p: how the answer is printed')
      .choices(['text', 'json', 'stream-json'])
      .default('text'),
    new Option('--image <file>', 'with -p: a picture goes along; repeatable').argParser(
      (file: string, before: readonly string[] = []) => [...before, file],
    ),
    new Option('--input-format <format>', 'with -p: stream-json takes one message a line from standard input')
      .choices(['text', 'stream-json'])
      .default('text'),
  ];
}

function sessionOptions(): readonly Option[] {
  return [
    new Option('-c, --continue', 'go on with the last session of this folder').conflicts(['resume', 'sessionId']),
    new Option('-r, --resume [id]', 'go on with a session; without an id, pick one').conflicts('sessionId'),
    new Option('--session-id <id>', 'id of the new session: letters, digits, - and _'),
    new Option('--append-system-prompt <text>', 'stands at the end of the prompt of a new session'),
    new Option('--cwd <folder>', 'work in this folder, as if started there'),
    new Option('--golem <name>', 'in the home of this golem, as if TALARIA_HOME named it'),
    new Option('--here', 'work in this folder although it is your home or one of the system; asks once more'),
    new Option('--plain', 'plain lines instead of the screen'),
  ];
}

function runOptions(): readonly Option[] {
  return [
    new Option('-m, --model <name>', 'provider/model, or reflex'),
    new Option('-t, --toolsets <names>', 'comma-separated toolsets for this run'),
    new Option('--allowed-tools <names>', 'only these tools run; names with commas or blanks between'),
    new Option('--max-turns <n>', 'steps that one turn may take; agent.max_steps for this run').argParser(readCount),
    new Option('--permission-mode <mode>', 'risky calls: ask; read-only runs what only reads; auto approves').choices([
      'ask',
      'read-only',
      'auto',
    ]),
    new Option('-y, --yes', 'with -p: --permission-mode auto (what is never run stays never run)'),
  ];
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return Number(text);
}

/** Flags that only a chat or `-p` takes. */
const TURN_FLAGS = {
  print: '-p',
  continue: '--continue',
  resume: '--resume',
  sessionId: '--session-id',
  appendSystemPrompt: '--append-system-prompt',
  allowedTools: '--allowed-tools',
  maxTurns: '--max-turns',
  permissionMode: '--permission-mode',
  yes: '--yes',
  here: '--here',
  plain: '--plain',
} as const;

/** What is wrong with these flags together, undefined when nothing is. `words` is the command that follows them. */
export function flagProblem(program: Command, words: readonly string[]): string | undefined {
  const options = program.opts<CliOptions>();
  const isGiven = (key: string) => program.getOptionValueSource(key) === 'cli';
  if (options.print !== undefined && words.length > 0)
    return `-p takes one text, and "${words.join(' ')}" came after it; put the whole text in quotes: talaria -p "…"`;
  if (options.print === undefined && isGiven('image'))
    return '--image goes with -p: talaria -p "…" --image picture.png';
  if (options.print === undefined && isGiven('outputFormat'))
    return '--output-format goes with -p: talaria -p "…" --output-format json';
  if (isGiven('inputFormat')) return inputProblem(options);
  if (words.length > 0) {
    const flag = Object.entries(TURN_FLAGS).find(([key]) => Object.hasOwn(options, key))?.[1];
    if (flag !== undefined) return `${flag} does not go with the command "${words[0]}"`;
  }
  return permissionProblem(options) ?? sessionProblem(options) ?? emptyValue(options);
}

function inputProblem({ print, inputFormat, outputFormat }: CliOptions): string | undefined {
  if (print === undefined) return '--input-format goes with -p: talaria -p --input-format stream-json';
  if (inputFormat === 'text') return undefined;
  if (print !== true)
    return '--input-format stream-json takes the messages from standard input; leave out the text of -p';
  if (outputFormat !== 'stream-json') return '--input-format stream-json goes with --output-format stream-json';
  return undefined;
}

function permissionProblem({ yes, print, permissionMode = 'auto' }: CliOptions): string | undefined {
  if (yes && print === undefined) return '--yes goes with -p; a chat asks you, or takes --permission-mode auto';
  return yes && permissionMode !== 'auto'
    ? `--yes approves, and --permission-mode ${permissionMode} does not`
    : undefined;
}

function sessionProblem({ resume, print, sessionId, appendSystemPrompt, ...rest }: CliOptions): string | undefined {
  if (resume === true && print !== undefined) return `--resume needs an id with -p; ${HOW_TO_RESUME}`;
  if (sessionId !== undefined && !/^[A-Za-z0-9][\w-]{2,63}$/.test(sessionId))
    return '--session-id takes 3 to 64 letters, digits, - and _, the first of them a letter or digit, e.g. a UUID';
  if (sessionId?.toLowerCase() === 'last') return '--session-id: "last" names the last session; take another';
  if (appendSystemPrompt !== undefined && (resume !== undefined || rest.continue))
    return '--append-system-prompt goes with a new session; the prompt of an old one stays as it was';
  return undefined;
}

export const HOW_TO_RESUME =
  '`talaria sessions` lists them: talaria --resume ID; talaria --continue goes on with the last one of this folder';

function emptyValue(options: CliOptions): string | undefined {
  const { resume, model, toolsets, allowedTools, appendSystemPrompt, cwd } = options;
  if (resume !== true && resume?.trim() === '')
    return '--resume needs the id of a session; `talaria sessions` lists them';
  if (model?.trim() === '') return '--model needs a name: provider/model, or reflex';
  if (toolsets !== undefined && namesOf(toolsets).length === 0)
    return '--toolsets needs names: talaria --toolsets file,memory';
  if (allowedTools !== undefined && toolNames(allowedTools).length === 0)
    return '--allowed-tools needs names: talaria --allowed-tools read_file,search_files';
  if (appendSystemPrompt?.trim() === '') return '--append-system-prompt needs a text';
  return cwd?.trim() === '' ? '--cwd needs a folder' : undefined;
}

export function namesOf(list: string): readonly string[] {
  return list.split(',').flatMap((name) => name.trim() || []);
}

function toolNames(list: string): readonly string[] {
  return list.split(/[\s,]+/).filter((name) => name !== '');
}

/** What of the flags holds for every turn of this run. */
export function runSettings({
  allowedTools,
  maxTurns,
  permissionMode,
  yes,
  appendSystemPrompt,
}: CliOptions): RunSettings {
  const permission = yes ? 'auto' : permissionMode;
  return {
    ...(allowedTools === undefined ? {} : { allowedTools: toolNames(allowedTools) }),
    ...(maxTurns === undefined ? {} : { maxSteps: maxTurns }),
    ...(permission === undefined ? {} : { permission }),
    ...(appendSystemPrompt === undefined ? {} : { appendPrompt: appendSystemPrompt }),
  };
}
