// Owns finding the program that really runs: behind sudo, env, nohup, time, xargs and their kin.
// Knows no danger but that of the wrapper itself. Invariant: each step takes words away, so unwrapping ends.
import type { ShellWord } from '../shell/shell-script.ts';
import { ask, type Finding, programName } from './finding.ts';

export interface Unwrapped {
  readonly words: readonly ShellWord[];
  readonly findings: readonly Finding[];
  readonly openEnded: boolean;
  readonly asRoot: boolean;
  /** Texts that the wrapper hands to a shell (`env -S`, `flock -c`, `script -c`). */
  readonly scripts: readonly ShellWord[];
}

interface Wrapper {
  /** Flags that take the next word as their value. */
  readonly values?: readonly string[];
  /** Words between the flags and the program, e.g. the duration of `timeout`. */
  readonly before?: number;
  /** Flags whose value is a script. */
  readonly scripts?: readonly string[];
  readonly root?: boolean;
  readonly feeds?: boolean;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    values: [
      '-u',
      '-g',
      '-h',
      '-p',
      '-C',
      '-r',
      '-t',
      '-T',
      '-U',
      '-D',
      '-R',
      '--user',
      '--group',
      '--host',
      '--prompt',
      '--chdir',
    ],
    root: true,
  },
  doas: { values: ['-u', '-C'], root: true },
  pkexec: { values: ['--user'], root: true },
  env: { values: ['-u', '-C', '--unset', '--chdir'], scripts: ['-S', '--split-string'] },
  nohup: {},
  time: { values: ['-f', '-o'] },
  nice: { values: ['-n', '--adjustment'] },
  ionice: { values: ['-c', '-n'] },
  chrt: { before: 1 },
  taskset: { before: 1 },
  timeout: { values: ['-s', '-k', '--signal', '--kill-after'], before: 1 },
  gtimeout: { values: ['-s', '-k'], before: 1 },
  stdbuf: { values: ['-i', '-o', '-e'] },
  setsid: {},
  unbuffer: {},
  command: {},
  builtin: {},
  exec: { values: ['-a'] },
  noglob: {},
  busybox: {},
  toybox: {},
  npx: { values: ['-p', '--package'] },
  pnpx: {},
  bunx: {},
  watch: { values: ['-n', '--interval'] },
  strace: { values: ['-o', '-e', '-p', '-s'] },
  ltrace: { values: ['-o', '-e'] },
  caffeinate: { values: ['-t'] },
  chroot: { before: 1, root: true },
  unshare: {},
  flock: { before: 1, scripts: ['-c', '--command'] },
  script: { scripts: ['-c', '--command'] },
  'systemd-run': { values: ['-p', '--unit'] },
  xargs: {
    values: ['-I', '-n', '-P', '-L', '-d', '-E', '-s', '-a', '--max-args', '--max-procs', '--delimiter', '--arg-file'],
    feeds: true,
  },
  parallel: { values: ['-j', '--jobs', '-I'], feeds: true },
};

const MAX_WRAPPERS = 12;

export function unwrapCommand(words: readonly ShellWord[]): Unwrapped {
  const findings: Finding[] = [];
  const scripts: ShellWord[] = [];
  let rest = words;
  let openEnded = false;
  let asRoot = false;
  for (let step = 0; step < MAX_WRAPPERS; step += 1) {
    const wrapper = wrapperOf(rest[0]);
    if (!wrapper) return { words: rest, findings, openEnded, asRoot, scripts };
    const name = programName(rest[0]?.text ?? '');
    const { inner, script } = takeOff(rest.slice(1), wrapper);
    scripts.push(...script);
    openEnded ||= wrapper.feeds === true;
    asRoot ||= wrapper.root === true;
    if (wrapper.root) findings.push(ask('runs with the rights of another user', `${name} ${keyOf(inner)}`));
    rest = inner;
  }
  return {
    words: rest,
    findings: [...findings, ask('hides its program behind many others', keyOf(words))],
    openEnded,
    asRoot,
    scripts,
  };
}

function wrapperOf(word: ShellWord | undefined): Wrapper | undefined {
  if (!word?.certain) return undefined;
  const name = programName(word.text);
  return Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
}

interface Taken {
  readonly inner: readonly ShellWord[];
  readonly script: readonly ShellWord[];
}

function takeOff(args: readonly ShellWord[], wrapper: Wrapper): Taken {
  const script: ShellWord[] = [];
  let at = 0;
  for (;;) {
    const step = readFlag(args, at, wrapper);
    if (step.script) script.push(step.script);
    at += step.words;
    if (step.last) return { inner: args.slice(at + (wrapper.before ?? 0)), script };
  }
}

interface FlagStep {
  /** How many words it takes. */
  readonly words: number;
  /** The program begins here. */
  readonly last?: boolean;
  readonly script?: ShellWord | undefined;
}

function readFlag(args: readonly ShellWord[], at: number, wrapper: Wrapper): FlagStep {
  const word = args[at];
  if (!word) return { words: 0, last: true };
  const { text } = word;
  if (text === '--') return { words: 1, last: true };
  const flag = wrapper.scripts?.find((name) => text === name || text.startsWith(`${name}=`));
  if (flag !== undefined) {
    return text === flag
      ? { words: 2, script: args[at + 1] }
      : { words: 1, script: { ...word, text: text.slice(flag.length + 1) } };
  }
  if (wrapper.values?.includes(text)) return { words: 2 };
  const belongs = text.startsWith('-') || /^[A-Za-z_]\w*=/.test(text);
  return belongs ? { words: 1 } : { words: 0, last: true };
}

function keyOf(words: readonly ShellWord[]): string {
  return words
    .slice(0, 2)
    .map(({ text }) => text)
    .join(' ');
}
