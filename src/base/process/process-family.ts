// Owns the question who started this process: is it a command of another process, still below it or let go of by it? Knows no lease.
// Invariant: what is told rests on what the system says of processes, never on what they say of themselves; where it says nothing, no.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Facts {
  readonly parent: number;
  /** Commands are started in sessions of their own, and no process gets back into one that it has left. */
  readonly session: number;
  readonly hasTerminal: boolean;
  /** Since the machine started, in whatever unit; with `group` absent where nobody tells. */
  readonly started?: number;
  /** The system's name for what was started together: a login, a service. */
  readonly group?: string;
}

type Look = (pid: number) => Facts | undefined;

/** Was this process started by a command that `holder` started? */
export function isCommandOf(holder: number, self = process.pid): boolean {
  const look = process.platform === 'linux' ? linuxFacts : process.platform === 'darwin' ? macFacts() : () => undefined;
  const [own, other] = [look(self), look(holder)];
  if (!own || !other || self === holder || own.session === other.session) return false;
  const line = lineOf(self, look);
  return line.includes(holder) || (!own.hasTerminal && isLetGo({ line, holder, look }));
}

/** From the process itself up to the first one. */
function lineOf(pid: number, look: Look): readonly number[] {
  const line: number[] = [];
  for (let at = pid; at > 0 && !line.includes(at); at = look(at)?.parent ?? 0) line.push(at);
  return line;
}

interface Orphan {
  readonly line: readonly number[];
  readonly holder: number;
  readonly look: Look;
}

/** Its own parents are gone: the first process took it over, or another that is above the holder too and takes in what is left. */
function isLetGo({ line, holder, look }: Orphan): boolean {
  const above = lineOf(holder, look);
  const at = line.findIndex((pid) => above.includes(pid));
  const keeper = line[at];
  const eldest = line[at - 1];
  if (keeper === undefined || eldest === undefined || !(keeper === 1 || isKeeper(keeper))) return false;
  const [top, held] = [look(eldest), look(holder)];
  if (top?.started === undefined || held?.started === undefined) return false;
  return top.session !== held.session && top.started >= held.started && top.group === held.group;
}

function isKeeper(pid: number): boolean {
  return /^(?:systemd|init|launchd|tini|dumb-init|docker-init|catatonit)$/.test(readText(`/proc/${pid}/comm`).trim());
}

/** Places behind the name of the program, which may hold anything. */
const STAT = { parent: 1, session: 3, terminal: 4, started: 19 } as const;

function linuxFacts(pid: number): Facts | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const at = (field: keyof typeof STAT) => Number(fields[STAT[field]]);
  const group = readText(`/proc/${pid}/cgroup`);
  return {
    parent: at('parent'),
    session: at('session'),
    hasTerminal: at('terminal') !== 0,
    started: at('started'),
    group,
  };
}

/** One look at all of them. Its `sess` says nothing, so the process group stands for the session: commands lead groups too. */
function macFacts(): Look {
  const { stdout = '' } = spawnSync('/bin/ps', ['-axo', 'pid=,ppid=,pgid=,tty='], { encoding: 'utf8', env: {} });
  const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/));
  const facts = rows.map(([pid, parent, group, terminal]) => {
    return [Number(pid), { parent: Number(parent), session: Number(group), hasTerminal: terminal !== '??' }] as const;
  });
  const byId = new Map<number, Facts>(facts);
  return (pid) => byId.get(pid);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // It has ended, or belongs to somebody else who hides it.
  }
}
