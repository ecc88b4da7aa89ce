// Owns putting CommandSpecs onto a commander program: positionals, flags from the zod schema, help, examples.
// Tells a command from a prompt. Knows no single command. The same mounting serves the shell and the chat. Invariant: what reaches `run` has passed the schema.
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { issueText } from '#base/schema-issue.ts';
import type { AnyCommand } from '#core/agent/command-spec.ts';
import { nearestName } from '#surfaces/app/nearest-name.ts';

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
export function typedAs(command: Command): string {
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
