// Owns who works on a run, and whether he still lives. Invariant: a process that is gone holds no run; of a process on another machine
// nobody here can tell, so it counts as alive. A number that was given again to this very process is told by what this process holds.
import { hostname } from 'node:os';
import { isProcessAlive } from '#base/platform.ts';

/** `<store>\n<run>` of every run that this process works on. */
const held = new Set<string>();

export interface HeldRun {
  /** Path of the store, or another name that is its own. */
  readonly store: string;
  readonly run_id: string;
}

export function ownerName(): string {
  return `${process.pid} ${hostname()}`;
}

export function holdRun({ store, run_id }: HeldRun): void {
  held.add(`${store}\n${run_id}`);
}

export function releaseRun({ store, run_id }: HeldRun): void {
  held.delete(`${store}\n${run_id}`);
}

export function isOwnerAlive(owner: string | null, run: HeldRun): boolean {
  if (owner === null) return false;
  const [pid = '', host] = owner.split(' ');
  if (host !== hostname()) return true;
  if (Number(pid) === process.pid) return held.has(`${run.store}\n${run.run_id}`);
  return isProcessAlive(Number(pid));
}
