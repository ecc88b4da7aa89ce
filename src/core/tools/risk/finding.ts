// Owns the vocabulary of risk rules: one call of one program, and what a rule finds in it. Knows no program.
// Invariant: what a rule cannot place reaches beyond the folder.
import type { Reach } from '#core/agent/approver.ts';
import type { ShellCommand, ShellWord } from '../shell/shell-script.ts';
import type { Place } from './place.ts';

export interface Finding {
  readonly level: 'ask' | 'never';
  /** Ends the sentence "It …": `deletes files recursively`. */
  readonly reason: string;
  readonly reach: Reach;
  /** Loses what somebody has: asked inside walls too, which keep the rest. */
  readonly deletes?: true;
}

/** One program with its arguments, wrappers such as `sudo` and `env` taken off. */
export interface Call {
  /** Name without folder. */
  readonly program: string;
  readonly args: readonly ShellWord[];
  readonly command: ShellCommand;
  readonly place: Place;
  /** More arguments come from input that is only known at run time (`xargs`, `find -exec`). */
  readonly openEnded: boolean;
}

export function never(reason: string): Finding {
  return { level: 'never', reason, reach: 'beyond' };
}

export function ask(reason: string, reach: Reach = 'beyond'): Finding {
  return { level: 'ask', reason, reach };
}

/** `isInside`: it is sure that nothing outside the session's folder is lost. */
export function deletes(reason: string, isInside: boolean): Finding {
  return { level: 'ask', reason, reach: isInside ? 'folder' : 'beyond', deletes: true };
}

/** Short flags as letters, long flags with their dashes and without values; only those before `--`. */
function flagsOf(call: Pick<Call, 'args'>): ReadonlySet<string> {
  const flags = new Set<string>();
  for (const { text } of call.args) {
    if (text === '--') break;
    if (text.startsWith('--')) flags.add(text.split('=', 1)[0] ?? text);
    else if (/^-[A-Za-z0-9]/.test(text)) {
      flags.add(text);
      for (const letter of text.slice(1)) flags.add(`-${letter}`);
    }
  }
  return flags;
}

/** A long flag may be cut short, as programs let it: `--rec` is `--recursive`. */
export function hasFlag(call: Pick<Call, 'args'>, ...names: readonly string[]): boolean {
  const flags = flagsOf(call);
  const short = [...flags].filter((flag) => flag.startsWith('--'));
  return names.some(
    (name) => flags.has(name) || (name.startsWith('--') && short.some((flag) => name.startsWith(flag))),
  );
}

/** Arguments that are no flags. */
export function operandsOf(call: Pick<Call, 'args'>): readonly ShellWord[] {
  const end = call.args.findIndex(({ text }) => text === '--');
  const before = end < 0 ? call.args : call.args.slice(0, end);
  const after = end < 0 ? [] : call.args.slice(end + 1);
  return [...before.filter(({ text }) => !text.startsWith('-') || text === '-'), ...after];
}

/** What `cp`, `mv`, `install` and `ln` take, and the folder that `-t` names: then every operand is a source. */
export function copyOperands(call: Call): { readonly operands: readonly ShellWord[]; readonly folder?: ShellWord } {
  const end = call.args.findIndex(({ text }) => text === '--');
  const at = call.args.findLastIndex(({ text }, i) => (end < 0 || i < end) && folderFlag(text) !== undefined);
  const flag = call.args[at];
  const value = folderFlag(flag?.text ?? '');
  if (flag === undefined || value === undefined) return { operands: operandsOf(call) };
  const next = value === '' ? call.args[at + 1] : undefined;
  const args = call.args.filter((word) => word !== next);
  return { operands: operandsOf({ args }), folder: next ?? { ...flag, text: value } };
}

/** The value that stands in the flag itself, empty where it is the next word. */
function folderFlag(text: string): string | undefined {
  const [name = '', ...value] = text.split('=');
  if (/^--t/.test(name) && '--target-directory'.startsWith(name)) return value.join('=');
  return /^-[^-tgmoST]*t(.*)$/s.exec(text)?.[1];
}

/** All arguments as one text, for rules that read code or SQL. */
export function argumentText(call: Pick<Call, 'args'>): string {
  return call.args.map(({ text }) => text).join(' ');
}

/** Literal text that the command reads on standard input, as far as it is known. */
export function knownInput(command: ShellCommand, steps = 0): string | undefined {
  if (command.input !== undefined) return command.input;
  const source = command.pipedFrom;
  if (!source || steps > 20) return undefined;
  const [program, ...words] = source.words;
  if (program?.text === 'cat' && words.length === 0) return knownInput(source, steps + 1);
  if (program?.text !== 'echo' && program?.text !== 'printf') return undefined;
  if (words.some((word) => !word.certain)) return undefined;
  const text = words
    .filter(({ text }) => !/^-[neE]+$/.test(text))
    .map(({ text }) => text.replaceAll('\\n', '\n'))
    .join(' ');
  const isEscaped = source.words.some((word) => /^(?:printf|-[nE]*e[neE]*)$/.test(word.text));
  return /[\\%]/.test(text) && isEscaped ? undefined : text;
}

/** Programs of the pipe that ends in this command, nearest first, at most 20. */
export function pipeSources(command: ShellCommand): readonly string[] {
  const names: string[] = [];
  for (let at = command.pipedFrom; at && names.length < 20; at = at.pipedFrom)
    names.push(programName(at.words[0]?.text ?? ''));
  return names;
}

export function programName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}
