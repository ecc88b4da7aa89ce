// Owns reading a line that begins with a slash: which command it names, with which input. Knows no command's work.
// Invariant: every line gives a command with input that passed its schema, or something to say.
import { Command, CommanderError } from 'commander';
import type { AnyCommand, CommandOutput } from '#core/agent/command-spec.ts';
import { fullChatWords } from '../command-words.ts';
import { mountCommands } from '../mount-command.ts';
import { splitWords } from './split-words.ts';

export type SlashLine =
  | { readonly type: 'command'; readonly command: AnyCommand; readonly input: unknown }
  | { readonly type: 'said'; readonly outputs: readonly CommandOutput[] };

export async function readSlashLine(line: string, commands: readonly AnyCommand[]): Promise<SlashLine> {
  const words = splitWords(line.slice(1));
  if (words.length === 0) return said(usage('a slash needs the name of a command', '/help lists them.'));
  const found: SlashLine[] = [];
  const texts: string[] = [];
  const program = chatProgram(texts);
  mountCommands(program, commands, ({ command, input }) => {
    found.push({ type: 'command', command, input });
  });
  try {
    await program.parseAsync(fullChatWords(words), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return said(...commanderOutputs(error, texts, words[0] ?? ''));
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

function chatProgram(texts: string[]): Command {
  const keep = (text: string) => {
    texts.push(text.trimEnd());
  };
  return new Command('/').exitOverride().configureOutput({ writeOut: keep, writeErr: keep }).helpCommand(false);
}

function commanderOutputs(error: CommanderError, texts: readonly string[], name: string): readonly CommandOutput[] {
  if (error.code === 'commander.helpDisplayed' || error.code === 'commander.help') return texts.map(lineOf);
  const message = error.message.replace(/^error: /, '').replace(/\n\(Did you mean (.+)\?\)$/, '; did you mean $1?');
  return [
    error.code === 'commander.unknownCommand'
      ? usage(message, '/help lists the commands.')
      : usage(message, `/${name} --help shows how it is typed.`),
  ];
}
