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

export function unwrapCommand(words: readonly ShellWord[]): Unwrapped {
  const findings: Finding[] = [];
  const scripts: ShellWord[] = [];
  let rest = words;
  let openEnded = false;
  let asRoot = false;
  for (let step = 0; step < MAX_WRAPPERS; step += 1) {
    const wrapper = rest[0]?.certain ? WRAPPERS.get(programName(rest[0].text)) : undefined;
    if (!wrapper) return { words: rest, findings, openEnded, asRoot, scripts };
    const { inner, script } = takeOff(rest.slice(1), wrapper);
    scripts.push(...script);
    openEnded ||= wrapper.feeds;
    asRoot ||= wrapper.root;
    if (wrapper.root) findings.push(ask('runs with the rights of another user'));
    rest = inner;
  }
  return {
    words: rest,
    findings: [...findings, ask('hides its program behind many others')],
    openEnded,
    asRoot,
    scripts,
  };
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
