// Owns who works on a run, and whether he still lives. Invariant: a process that is gone holds no run; of a process on another machine
// nobody here can tell, so it counts as alive. What this very process let go it does not hold.
import { holderName, holderState } from '#base/process/holder.ts';

/** `<store>\n<run>` of every run that this process works on. */
const held = new Set<string>();

export interface HeldRun {
  /** Path of the store, or another name that is its own. */
  readonly store: string;
  readonly run_id: string;
}

export function holdRun({ store, run_id }: HeldRun): void {
  held.add(`${store}\n${run_id}`);
}

export function releaseRun({ store, run_id }: HeldRun): void {
  held.delete(`${store}\n${run_id}`);
}

export function isOwnerAlive(owner: string | null, run: HeldRun): boolean {
  if (owner === null) return false;
  const isHere = owner === holderName() || isOlderNameOfThis(owner);
  return isHere ? held.has(`${run.store}\n${run.run_id}`) : holderState(owner) !== 'gone';
}

/** Written before a name told more than number and host. */
function isOlderNameOfThis(owner: string): boolean {
  const [pid, host] = holderName().split(' ');
  return owner === `${pid} ${host}`;
}
