// Owns CommandSpec: a command as data. Rooms and extensions describe, surfaces render; the same spec serves the shell and the chat.
// Contract suite: test/contract/command-spec.contract.ts.
import type { Readable, Writable } from 'node:stream';
import type { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import type { UserPart } from '#core/model/message.ts';

export type CommandOutput =
  /** `tone`: a line of a difference, for surfaces with colour. */
  | { readonly type: 'line'; readonly text: string; readonly tone?: 'added' | 'removed' }
  | { readonly type: 'table'; readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }
  /** Machine-readable result; printed as JSON when the caller asked for JSON, else left out when lines or tables came before. */
  | { readonly type: 'data'; readonly value: JsonValue }
  /** Ends the command. 1 failed, 2 usage, 3 refused. */
  | {
      readonly type: 'failure';
      readonly exitCode: 1 | 2 | 3;
      readonly code: string;
      readonly message: string;
      readonly fix: string;
    };

export interface CommandContext {
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** The session that the command was typed in; absent at the shell. */
  readonly sessionId?: string;
  /** Present when a person can answer. The answer to a `secret` question, a key, is neither shown nor kept. */
  readonly ask?: (question: string, kind?: 'secret') => Promise<string>;
  /** In the chat: sends this as if it had been typed; `extra` goes along, with the origin that it has. */
  readonly submit?: (text: string, extra?: readonly UserPart[]) => void;
  /** Of the process, for a command that speaks a protocol there instead of yielding lines. */
  readonly stdio?: { readonly input: Readable; readonly output: Writable };
  /** Present at a terminal: one line that tells how far it is, in place of the one before; empty: none. It is no output. */
  readonly progress?: (line: string) => void;
}

/**
 * Contract. `run` yields output in order and ends; an expected refusal is a `failure`, a bug is thrown. It never prints.
 * Positional arguments fill `positional` in order; a last name ending in `...` takes the rest as a list. Every other key of `input` is a `--kebab-case` flag.
 */
export interface CommandSpec<Input = unknown> {
  /** Words as typed: `sessions list`. */
  readonly name: string;
  readonly summary: string;
  readonly surfaces: readonly ('cli' | 'chat')[];
  /** With this input it leaves settings, memory, skills, sessions and files as they are: an agent's own command may run it too. Absent: it may not. */
  readonly readOnly?: true | ((input: Input) => boolean);
  /** It runs until it is stopped: SIGTERM is its end and no failure. */
  readonly untilStopped?: true;
  readonly input: z.ZodType<Input>;
  readonly positional?: readonly string[];
  readonly examples?: readonly string[];
  readonly run: (input: Input, context: CommandContext) => AsyncIterable<CommandOutput>;
}

export type AnyCommand = CommandSpec<never>;

/** With this input it changes nothing of the owner's. */
export function onlyReads({ readOnly }: AnyCommand, input: unknown): boolean {
  return typeof readOnly === 'function' ? readOnly(input as never) : readOnly === true;
}

export function line(text: string): CommandOutput {
  return { type: 'line', text };
}

export function defineCommand<Input>(command: CommandSpec<Input>): AnyCommand {
  return command as unknown as AnyCommand;
}

export type Failure = Extract<CommandOutput, { type: 'failure' }>;

/** It was tried, and did not work out. */
export function failed(code: string, message: string, fix = ''): Failure {
  return { type: 'failure', exitCode: 1, code, message, fix };
}

/** It was typed wrongly. */
export function wrongUse(code: string, message: string, fix = ''): Failure {
  return { type: 'failure', exitCode: 2, code, message, fix };
}

/** It may not be, as things stand. */
export function refused(code: string, message: string, fix = ''): Failure {
  return { type: 'failure', exitCode: 3, code, message, fix };
}
