// Owns what a program of a family is given: arguments, standard input, environment. No shell reads any of it. Knows no family.
// Invariant: of the environment a program sees PATH, HOME and LANG, the names listed for it, its depth and the call id; nothing else.

import { ownPath } from '#base/paths/find-on-path.ts';
import type { InnerRequest } from '../inner-call.ts';
import { DEPTH_VARIABLE } from '../nesting.ts';

/** `json`: one object `{call_id, system, prompt, max_output_tokens}` in one line; `prompt`: system prompt and prompt as they are. */
export type ProgramInput = 'json' | 'prompt';

export interface ProgramCommand {
  /** Program and arguments; `{prompt}`, `{system}` and `{max_output_tokens}` in an argument are filled in. */
  readonly command: readonly string[];
  /** Names of variables that it gets beside PATH, HOME and LANG. */
  readonly env: readonly string[];
  /** What stands on standard input; nothing when the prompt is an argument. */
  readonly input: ProgramInput;
}

export interface ProgramCall {
  readonly argv: readonly string[];
  readonly stdin: string;
}

export function programCall({ command, input }: ProgramCommand, request: InnerRequest): ProgramCall {
  const { call_id, system, prompt, max_output_tokens } = request;
  const named = (name: string) => command.some((argument) => argument.includes(`{${name}}`));
  const whole = named('system') || system.trim() === '' ? prompt : `${system}\n\n${prompt}`;
  const values = { prompt: whole, system, max_output_tokens: String(max_output_tokens) };
  // One pass: a placeholder in a prompt is text.
  const fill = (argument: string) =>
    argument.replace(/\{(prompt|system|max_output_tokens)\}/g, (_, name: keyof typeof values) => values[name]);
  const [program = '', ...rest] = command;
  const argv = [program, ...rest.map(fill)];
  if (named('prompt')) return { argv, stdin: '' };
  return { argv, stdin: input === 'prompt' ? whole : jsonLine({ call_id, system, prompt, max_output_tokens }) };
}

function jsonLine(value: Pick<InnerRequest, 'call_id' | 'system' | 'prompt' | 'max_output_tokens'>): string {
  return `${JSON.stringify(value)}\n`;
}

/** One argument may be 128 KiB on Linux, its end counted in; other systems refuse the whole when they start it. */
const ARGUMENT_BYTES = 131_071;

/** Bytes of an argument that no Linux takes, or undefined. */
export function tooLongArgument(argv: readonly string[]): number | undefined {
  return argv.map((argument) => Buffer.byteLength(argument)).find((bytes) => bytes > ARGUMENT_BYTES);
}

const ALWAYS = ['PATH', 'HOME', 'LANG'];

export interface ProgramSurroundings {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Recursions that this process stands in. */
  readonly outside: number;
}

export function programEnvironment(
  names: readonly string[],
  { variables, outside }: ProgramSurroundings,
  call_id: string,
): Readonly<Record<string, string>> {
  const given = [...ALWAYS, ...names].flatMap((name) => {
    const value = variables[name];
    return value === undefined ? [] : [[name, name === 'PATH' ? ownPath(value) : value] as const];
  });
  return { ...Object.fromEntries(given), [DEPTH_VARIABLE]: String(outside + 1), TALARIA_RLM_CALL_ID: call_id };
}
