// Owns the owner's doors: a `talaria` that a command of an agent started neither talks nor changes what is the owner's. Knows no command.
// Invariant: a wiped environment opens no door while a session of this home is live; a home without one, and one whose sessions cannot
// be read, has no agent to keep out.
import { existsSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import { isCommandOf } from '#base/process/process-family.ts';
import type { AnyCommand } from '#core/agent/command-spec.ts';
import { liveHolders } from '#mind/sessions/session-lease.ts';
import type { Environment } from '../environment.ts';
import { INSIDE } from '../parts/command-variables.ts';
import type { Home } from './home.ts';

export interface Door {
  readonly home: Home;
  readonly environment: Environment;
  readonly clock: Clock;
}

/** Throws TalariaError `inside`. */
export function refuseCommandInside(command: AnyCommand, input: unknown, door: Door): void {
  const { readOnly } = command;
  const reads = typeof readOnly === 'function' ? readOnly(input as never) : readOnly === true;
  if (reads || !isInside(door)) return;
  throw new TalariaError(`\`talaria ${command.name}\` is for the owner, and a command of an agent started it`, {
    code: 'inside',
    fix: 'Type it in your own terminal. Commands that only read run here too.',
  });
}

/** `leases`: of processes that have a session of this home open. Throws TalariaError `inside`. */
export function refuseTurnInside(environment: Environment, leases: readonly number[]): void {
  if (!isMarked(environment) && !leases.some((pid) => isCommandOf(pid))) return;
  throw new TalariaError('an agent does not start itself: a command of an agent started this `talaria`', {
    code: 'inside',
    fix: 'Do the work in the conversation that runs; the owner starts another one in a terminal of his own.',
  });
}

function isInside({ home, environment, clock }: Door): boolean {
  return isMarked(environment) || holders(home, clock).some((pid) => isCommandOf(pid));
}

function isMarked({ variables }: Environment): boolean {
  return (variables[INSIDE] ?? '') !== '';
}

/** As they are: this look makes, moves and mends nothing. */
function holders(home: Home, clock: Clock): readonly number[] {
  if (!existsSync(home.stateDatabase)) return [];
  try {
    const { database } = openDatabase(home.stateDatabase, { rooms: [], readOnly: true, onCorrupt: 'throw', clock });
    try {
      return liveHolders(database, clock);
    } finally {
      database.abandon();
    }
  } catch (error) {
    // No store of sessions, so nobody holds one; whoever needs it says what is wrong with it.
    if (error instanceof TalariaError) return [];
    throw error;
  }
}
