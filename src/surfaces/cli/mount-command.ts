// Owns command lines, of the shell and of the chat: CommandSpecs on a commander program (positionals, flags from the zod schema, help, examples),
// short forms, and what a line is: a command, what is nearly one, or a prompt. Knows no single command. Invariants: what reaches `run` has passed
// the schema; words that are no short form come back as they are.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { issueText } from '#base/schema-issue.ts';
import type { AnyCommand, CommandOutput } from '#core/agent/command-spec.ts';
import { nearestName } from '#surfaces/app/wording.ts';

/** A command line that made sense: the command and its validated input. */
export interface Invocation {
  readonly command: AnyCommand;
  readonly input: unknown;
  readonly json: boolean;
}

export type OnInvoke = (invocation: Invocation) => void | Promise<void>;

/** Mounts `sessions list` as sub-command `list` of `sessions`, and so on. */
export function mountCommands(program: Command, commands: readonly AnyCommand[], onInvoke: OnInvoke): void {
  for (const command of commands) {
    const words = command.name.split(' ');
    let parent = program;
    for (const word of words.slice(0, -1)) parent = groupOf(parent, word);
    mountOne(parent, words.at(-1) ?? command.name, { command, onInvoke });
  }
  for (const group of program.commands) {
    if (group.description() === '') group.description(namesIn(group));
  }
  for (const group of groupsIn(program)) group.showHelpAfterError(`(${typedAs(group)} takes ${namesIn(group)})`);
}

function namesIn(group: Command): string {
  return group.commands.map((inner) => inner.name()).join(' · ');
}

/** Commands that hold others and are none themselves: what is mounted has at least `--json`. */
function groupsIn(parent: Command): readonly Command[] {
  const own = parent.commands.filter((inner) => inner.commands.length > 0 && inner.options.length === 0);
  return [...own, ...parent.commands.flatMap(groupsIn)];
}

/** `talaria skills list` in the shell, `/skills list` in the chat, whose program is called `/`. */
function typedAs(command: Command): string {
  const { parent } = command;
  if (parent === null) return command.name();
  return `${typedAs(parent)}${parent.name() === '/' ? '' : ' '}${command.name()}`;
}

/** What a shell line without dashes is: the words of a command, of what is nearly one, or of a prompt. */
export type LineKind = { readonly type: 'command' | 'prompt' } | { readonly type: 'misspelled'; readonly near: string };

export function lineKind(words: readonly string[], commands: readonly AnyCommand[]): LineKind {
  const [first = '', second] = words;
  const full = commands.map(({ name }) => name);
  const names = [...new Set(['help', ...full.map((name) => name.split(' ')[0] ?? name)])];
  if (names.includes(first)) return { type: 'command' };
  const near = first.startsWith('/') ? undefined : nearestName(first, names);
  const goesOn = second === undefined || second.startsWith('-') || full.includes(`${near} ${second}`);
  return near !== undefined && goesOn ? { type: 'misspelled', near } : { type: 'prompt' };
}

function groupOf(parent: Command, name: string): Command {
  const known = parent.commands.find((existing) => existing.name() === name);
  if (known) return known;
  const group = new Command(name);
  group.copyInheritedSettings(parent);
  parent.addCommand(group);
  return group;
}

function mountOne(
  parent: Command,
  name: string,
  mounted: { readonly command: AnyCommand; readonly onInvoke: OnInvoke },
): void {
  const { command, onInvoke } = mounted;
  const existing = parent.commands.find((candidate) => candidate.name() === name);
  const target = existing ?? new Command(name);
  if (!existing) {
    target.copyInheritedSettings(parent);
    parent.addCommand(target);
  }
  target.description(command.summary).showHelpAfterError(`(${typedAs(target)} --help shows how it is typed)`);
  const properties = propertiesOf(command);
  for (const name of command.positional ?? []) addArgument(target, name, properties);
  const positional = new Set((command.positional ?? []).map((word) => word.replace(/\.\.\.$/, '')));
  for (const [key, schema] of Object.entries(properties.all)) {
    if (!positional.has(key)) for (const option of optionsOf(key, schema)) target.addOption(option);
  }
  target.addOption(new Option('--json', 'print the result as JSON'));
  if (command.examples?.length)
    target.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  $ ${line}`).join('\n')}`);
  target.action(async (...args: unknown[]) => {
    const raw = rawInput(target, args, command);
    const parsed = command.input.safeParse(raw);
    if (!parsed.success) return target.error(`error: ${problemText(parsed.error)}`, { exitCode: 2 });
    await onInvoke({ command, input: parsed.data, json: target.opts().json === true });
  });
}

interface Properties {
  readonly all: Readonly<Record<string, JsonObject>>;
  readonly required: ReadonlySet<string>;
}

function propertiesOf(command: AnyCommand): Properties {
  const schema = z.toJSONSchema(command.input, { io: 'input', unrepresentable: 'any' }) as JsonObject;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const all = Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, isJsonObject(value) ? value : {}]),
  );
  return { all, required: new Set(required) };
}

function addArgument(target: Command, word: string, properties: Properties): void {
  const name = word.replace(/\.\.\.$/, '');
  const rest = word.endsWith('...') ? '...' : '';
  const isRequired = properties.required.has(name);
  const described = properties.all[name]?.description;
  target.argument(isRequired ? `<${name}${rest}>` : `[${name}${rest}]`, typeof described === 'string' ? described : '');
}

function optionsOf(key: string, schema: JsonObject): readonly Option[] {
  const flag = `--${kebab(key)}`;
  const described = typeof schema.description === 'string' ? schema.description : '';
  if (schema.type !== 'boolean') return [valueOption(key, schema, { flag, described })];
  if (schema.default !== true) return [new Option(flag, described)];
  // What is on already may still be typed: scripts say what they rely on.
  return [new Option(flag).hideHelp(), new Option(`--no-${kebab(key)}`, described)];
}

function valueOption(
  key: string,
  schema: JsonObject,
  { flag, described }: { readonly flag: string; readonly described: string },
): Option {
  const option = new Option(`${flag} <${schema.type === 'array' ? `${kebab(key)}...` : kebab(key)}>`, described);
  const isNumber = schema.type === 'number' || schema.type === 'integer';
  if (isNumber) option.argParser(readNumber);
  if (Array.isArray(schema.enum)) option.choices(schema.enum.map(String));
  return option;
}

function readNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

function rawInput(target: Command, args: readonly unknown[], command: AnyCommand): Record<string, unknown> {
  const raw: Record<string, unknown> = {};
  for (const [i, word] of (command.positional ?? []).entries()) {
    const value = args[i];
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) raw[word.replace(/\.\.\.$/, '')] = value;
  }
  const keys = Object.keys(propertiesOf(command).all);
  const given = target.opts<Record<string, unknown>>();
  for (const key of keys) {
    const value = given[camel(kebab(key))];
    if (value !== undefined) raw[key] = value;
  }
  return raw;
}

function problemText(error: z.ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.map((step) => kebab(String(step))).join('.') || 'input'}: ${issueText(issue)}`)
    .join('; ');
}

function kebab(key: string): string {
  return key.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function camel(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** What a group does when nothing, or only flags, follow it: `talaria sessions` lists. */
const ALONE: Readonly<Record<string, string>> = {
  sessions: 'list',
  memory: 'show',
  skills: 'list',
  pending: 'list',
  models: 'show',
  permissions: 'show',
  trust: 'show',
  config: 'show',
  cron: 'list',
  curator: 'status',
  rlm: 'runs',
  peers: 'list',
  mcp: 'list',
  golem: 'list',
  library: 'list',
  market: 'status',
  styx: 'status',
  import: '--help',
  repair: 'show',
  user: 'show',
};

/** Short forms of the chat only. */
const CHAT: Readonly<Record<string, readonly string[]>> = { search: ['sessions', 'search'] };

/** What users of other agents type for a command of the chat. */
const CHAT_ALIASES: Readonly<Record<string, string>> = { new: 'clear', compress: 'compact', quit: 'exit' };

/** Commands of the chat that change the conversation: typed while a turn runs they wait for its end. */
const AFTER_THE_TURN: ReadonlySet<string> = new Set([
  ...['new', 'clear', 'resume', 'compress', 'compact', 'retry', 'undo', 'learn', 'init'],
]);

export function waitsForTurn(line: string): boolean {
  return AFTER_THE_TURN.has(/^\/(\S+)/.exec(line)?.[1] ?? '');
}

/** The list of `/help`, by what one wants; what is in none comes last. */
export const CHAT_TOPICS: Readonly<Record<string, readonly string[]>> = {
  talk: ['help', 'retry', 'new', 'compress', 'copy', 'quit'],
  model: ['model', 'model add', 'models'],
  'memory and skills': ['memory', 'skills', 'pending', 'learn', 'curator'],
  files: ['diff', 'undo', 'init'],
  sessions: ['sessions', 'search', 'resume', 'title', 'export'],
  machine: [
    'status',
    'permissions',
    'trust',
    'tools',
    'context',
    'cost',
    'trace',
    'config',
    'doctor',
    'peers',
    'rlm',
    'mcp',
  ],
};

export function fullWords(words: readonly string[]): string[] {
  const [first = '', second] = words;
  const sub = Object.hasOwn(ALONE, first) ? ALONE[first] : undefined;
  const isHelp = second === '--help' || second === '-h';
  const isAlone = second === undefined || (second.startsWith('-') && !isHelp);
  return sub !== undefined && isAlone ? [first, sub, ...words.slice(1)] : [...words];
}

export function fullChatWords(words: readonly string[]): string[] {
  const [first = '', ...rest] = words;
  const long = Object.hasOwn(CHAT, first) ? CHAT[first] : undefined;
  return long ? [...long, ...rest] : fullWords(words);
}

/** The shortest way to type the command `name` in the chat. */
export function chatName(name: string): string {
  const short = Object.entries(CHAT).find(([, long]) => long.join(' ') === name)?.[0];
  if (short !== undefined) return short;
  const [group = '', sub] = name.split(' ');
  return Object.hasOwn(ALONE, group) && ALONE[group] === sub ? group : name;
}

export function chatAlias(name: string): string | undefined {
  return Object.hasOwn(CHAT_ALIASES, name) ? CHAT_ALIASES[name] : undefined;
}

/** `exit` and `quit` leave the chat, with or without a slash. */
export function isExitLine(line: string): boolean {
  return /^\/?(?:exit|quit)$/i.test(line.trim());
}

export type SlashLine =
  | { readonly type: 'command'; readonly command: AnyCommand; readonly input: unknown; readonly json: boolean }
  | { readonly type: 'said'; readonly outputs: readonly CommandOutput[] };

export async function readSlashLine(line: string, commands: readonly AnyCommand[]): Promise<SlashLine> {
  const words = splitWords(line.slice(1));
  if (words.length === 0) return said(usage('a slash needs the name of a command', '/help lists them.'));
  const found: SlashLine[] = [];
  const texts: string[] = [];
  const program = chatProgram(texts);
  mountCommands(program, commands, ({ command, input, json }) => {
    found.push({ type: 'command', command, input, json });
  });
  dress(program);
  try {
    await program.parseAsync(fullChatWords(words), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return said(...commanderOutputs(error, texts));
  }
  return found[0] ?? said(...texts.map(lineOf));
}

function said(...outputs: readonly CommandOutput[]): SlashLine {
  return { type: 'said', outputs };
}

function lineOf(text: string): CommandOutput {
  return { type: 'line', text };
}

function usage(message: string, fix: string): CommandOutput {
  return { type: 'failure', exitCode: 2, code: 'usage', message, fix };
}

/** As it is in the chat: aliases, where no command has that name itself, and what a group does alone. */
function dress(program: Command): void {
  const names = new Set(program.commands.map((command) => command.name()));
  for (const command of program.commands) {
    const alias = chatAlias(command.name());
    if (alias !== undefined && !names.has(alias)) command.alias(alias);
    const alone = fullChatWords([command.name()]);
    if (alone.length > 1) command.description(`/${command.name()} alone is /${alone.join(' ')}`);
  }
}

function chatProgram(texts: string[]): Command {
  const keep = (text: string) => {
    texts.push(text.trimEnd());
  };
  return new Command('/')
    .exitOverride()
    .configureOutput({ writeOut: keep, writeErr: keep })
    .configureHelp({ commandUsage: chatUsage })
    .showHelpAfterError('(/help lists the commands)')
    .helpCommand(false);
}

/** `/skills list [--category <category>] [--json]` */
function chatUsage(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const flags = command.options.filter(({ hidden }) => !hidden).map((option) => `[${option.flags}]`);
  const within = command.commands.map((inner) => inner.name()).join(' | ');
  return [typedAs(command), ...words, ...(within === '' ? [] : [`[${within}]`]), ...flags].join(' ');
}

function commanderOutputs(error: CommanderError, texts: readonly string[]): readonly CommandOutput[] {
  if (error.code === 'commander.helpDisplayed' || error.code === 'commander.help')
    return texts.map((text) => lineOf(text.replace(/^ {2}\$ (?:talaria )?\/?/gm, '  /')));
  const message = error.message.replace(/^error: /, '').replace(/\n\(Did you mean (.+)\?\)$/, '; did you mean $1?');
  // What commander shows after an error, told as the way out.
  const fix = texts.at(-1)?.replace(/^\(([\s\S]*)\)$/, '$1') ?? '';
  return [usage(message, `${fix}.`)];
}

// Splitting a typed line into words, quotes respected. Knows no command. Invariants: never throws; an open quote runs to the end; an
// apostrophe within a word is one: "don't".

export function splitWords(line: string): string[] {
  const words: string[] = [];
  const pattern = /\s*(?:((?:[^\s"']|(?<=[\p{L}\p{N}])'|"[^"]*(?:"|$)|'[^']*(?:'|$))+))/uy;
  for (let match = pattern.exec(line); match?.[1] !== undefined; match = pattern.exec(line)) {
    words.push(
      match[1].replace(
        /"([^"]*)(?:"|$)|(?<![\p{L}\p{N}])'([^']*)(?:'|$)/gu,
        (_, double?: string, single?: string) => double ?? single ?? '',
      ),
    );
  }
  return words;
}
