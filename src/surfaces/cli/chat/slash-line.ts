// Owns reading a line that begins with a slash: which command it names, with which input. Knows no command's work.
// Invariant: every line gives a command with input that passed its schema, or something to say.
import { Command, CommanderError } from 'commander';
import type { AnyCommand, CommandOutput } from '#core/agent/command-spec.ts';
import { chatAlias, fullChatWords } from '../command-words.ts';
import { mountCommands, typedAs } from '../mount-command.ts';
import { splitWords } from './split-words.ts';

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
