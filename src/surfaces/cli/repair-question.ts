// Owns the question that a person at a terminal is asked when state.db is damaged. Knows the repairs by their commands only.
// Invariant: nothing is repaired without an answer; where nobody can answer, the error says what to type.
import { existsSync } from 'node:fs';
import { systemClock } from '#base/clock.ts';
import { rememberedDamage } from '#base/database/damage.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { canSalvage, goneState, goodCopies } from '#surfaces/app/backup/repair-state.ts';
import { copyLine, repairCommands } from '#surfaces/app/commands/repair-command.ts';
import type { Environment } from '#surfaces/app/environment.ts';
import { findHome, type Home } from '#surfaces/app/home/home.ts';
import { type OutputTarget, renderOutput } from './render-output.ts';

export interface RepairPlace {
  readonly environment: Environment;
  readonly target: OutputTarget;
  readonly signal: AbortSignal;
  /** Absent: nobody can answer. */
  readonly ask?: (question: string) => Promise<string>;
}

/** Was state.db what kept the program from starting, and did the person have it repaired? Else the error stands. */
export async function askRepair(error: unknown, place: RepairPlace): Promise<boolean> {
  const home = findHome(place.environment);
  const { ask, target } = place;
  if (!ask || errorCode(error) !== 'database-corrupt') return false;
  if (rememberedDamage(home.stateDatabase) === undefined && goneState(home) === undefined) return false;
  const [copy] = existsSync(home.root) ? goodCopies(home) : [];
  const choices = [
    ...(canSalvage(home) ? [{ name: 'repair salvage', text: 'save what can be read' }] : []),
    ...(copy ? [{ name: 'repair restore', text: `bring a copy back: ${copyLine(copy)}` }] : []),
    { name: 'repair empty', text: 'start with no sessions' },
  ];
  target.err(`talaria: ${errorText(error)}\nNothing was changed, and the damaged file is kept whatever you choose:\n`);
  for (const [at, { text }] of choices.entries()) target.err(`  ${at + 1}  ${text}\n`);
  const answer = (await ask('Which one? (another key: none)')).trim();
  const chosen = /^\d$/.test(answer) ? choices[Number(answer) - 1] : undefined;
  return chosen !== undefined && (await repair(chosen.name, home, place)) === 0;
}

async function repair(name: string, home: Home, { environment, target, signal }: RepairPlace): Promise<number> {
  const app = () => Promise.reject(new Error('a repair composes nothing'));
  const command = repairCommands({ environment, home, clock: systemClock, app }).find((each) => each.name === name);
  if (command === undefined) return 1;
  const output = command.run({} as never, { cwd: environment.cwd, signal });
  return renderOutput(output, false, { ...target, out: target.err });
}
