// Owns the vocabulary of risk rules: one call of one program, found behind sudo, env, nohup, xargs and their kin, and what a rule finds in it.
// Knows no program but wrappers. Invariants: what a rule cannot place reaches beyond the folder; each step of unwrapping takes words away.
import type { Reach } from '#core/agent/approver.ts';
import type { ShellCommand, ShellWord } from './lex-word.ts';
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

interface Wrapper {
  /** Flags that take the next word as their value. */
  readonly values: readonly string[];
  /** Words between the flags and the program, e.g. the duration of `timeout`. */
  readonly before: number;
  /** Flags whose value is a script. */
  readonly scripts: readonly string[];
  readonly root: boolean;
  readonly feeds: boolean;
}

/** `program: what it is | flags with a value | flags with a script`. */
const TABLE = `
sudo: root | -u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir; doas: root | -u -C; pkexec: root | --user
runuser: root | -u -g --user --group | -c --command; env: | -u -C --unset --chdir | -S --split-string; chroot: root 1
nsenter: root | -t --target; setpriv: | --reuid --regid --groups --inh-caps --bounding-set --securebits --pdeathsig
nohup:; time: | -f -o; nice: | -n --adjustment; ionice: | -c -n; chrt: 1; taskset: 1; timeout: 1 | -s -k --signal --kill-after
gtimeout: 1 | -s -k; stdbuf: | -i -o -e; setsid:; unbuffer:; command:; builtin:; exec: | -a; noglob:; busybox:; toybox:; pnpx:; bunx:
npx: | -p --package; watch: | -n --interval; strace: | -o -e -p -s; ltrace: | -o -e; caffeinate: | -t; unshare:
flock: 1 | | -c --command; script: | | -c --command; systemd-run: | -p --unit; parallel: feeds | -j --jobs -I
xargs: feeds | -I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file`;

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  TABLE.split(/[;\n]/).map((row) => {
    const [name = '', rest = ''] = row.split(':');
    const [what = [], values = [], scripts = []] = rest.split('|').map((cell) => cell.split(' ').filter(Boolean));
    const before = what.includes('1') ? 1 : 0;
    return [name.trim(), { values, scripts, before, root: what.includes('root'), feeds: what.includes('feeds') }];
  }),
);

const MAX_WRAPPERS = 12;

export function unwrapCommand(words: readonly ShellWord[]) {
  const findings: Finding[] = [];
  /** Texts that the wrapper hands to a shell (`env -S`, `flock -c`, `script -c`). */
  const scripts: ShellWord[] = [];
  let rest = words;
  let openEnded = false;
  let asRoot = false;
  for (let step = 0; ; step += 1) {
    const wrapper = rest[0]?.certain ? WRAPPERS.get(programName(rest[0].text)) : undefined;
    if (!wrapper || step === MAX_WRAPPERS) {
      if (wrapper) findings.push(ask('hides its program behind many others'));
      return { words: rest, findings, openEnded, asRoot, scripts };
    }
    const { inner, script } = takeOff(rest.slice(1), wrapper);
    scripts.push(...script);
    openEnded ||= wrapper.feeds;
    asRoot ||= wrapper.root;
    if (wrapper.root) findings.push(ask('runs with the rights of another user'));
    rest = inner;
  }
}

function takeOff(args: readonly ShellWord[], wrapper: Wrapper) {
  const script: ShellWord[] = [];
  let at = 0;
  for (;;) {
    const step = readFlag(args, at, wrapper);
    if (step.script) script.push(step.script);
    at += step.words;
    if (!step.last) continue;
    const inner = args.slice(at + wrapper.before);
    const text = wrapper.scripts.includes(inner[0]?.text ?? '') ? inner[1] : undefined;
    return text ? { inner: [], script: [...script, text] } : { inner, script };
  }
}

interface FlagStep {
  /** How many words it takes. */
  readonly words: number;
  /** The program begins here. */
  readonly last?: boolean;
  readonly script?: ShellWord | undefined;
}

function readFlag(args: readonly ShellWord[], at: number, { scripts, values }: Wrapper): FlagStep {
  const word = args[at];
  if (!word) return { words: 0, last: true };
  const { text } = word;
  if (text === '--') return { words: 1, last: true };
  const flag = scripts.find((name) => text === name || text.startsWith(`${name}=`));
  if (flag !== undefined && text === flag) return { words: 2, script: args[at + 1] };
  if (flag !== undefined) return { words: 1, script: { ...word, text: text.slice(flag.length + 1) } };
  if (values.includes(text)) return { words: 2 };
  const belongs = text.startsWith('-') || /^[A-Za-z_]\w*=/.test(text);
  return belongs ? { words: 1 } : { words: 0, last: true };
}
