// Owns asking the person at the shell where no chat is: a line for a command, whether a project file may instruct, which repair of state.db is
// wanted. Knows the repairs by their commands only. Invariants: the answer to a secret question is not echoed; what was typed before the
// question stood there is dropped; no control character of what is asked about reaches the terminal; without a clear yes nothing is agreed to.

import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { systemClock } from '#base/clock.ts';
import { rememberedDamage } from '#base/database/damage.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { isYes } from '#base/text.ts';
import type { App } from '#surfaces/app/app.ts';
import { canSalvage, goneState, goodCopies } from '#surfaces/app/backup/repair-state.ts';
import { copyLine, repairCommands } from '#surfaces/app/commands/backup.ts';
import type { Environment } from '#surfaces/app/environment.ts';
import { findHome, type Home } from '#surfaces/app/home/home.ts';
import { describeProject, leftOutNotice, lookAtProject, trustProject } from '#surfaces/app/home/trust.ts';
import { UNREAD_MS } from './questions.ts';
import { type OutputTarget, renderOutput } from './render-output.ts';
import { visible } from './terminal-text.ts';

/** Questions go to standard error, so that results can be piped on. Rejects with the signal's reason. */
export function askAtShell(signal: AbortSignal): (question: string, kind?: 'secret') => Promise<string> {
  return async (asked, kind) => {
    const question = visible(asked);
    const prompt = kind === 'secret' ? `${question} (what you type is not shown) ` : `${question} `;
    process.stderr.write(prompt);
    await dropTyped(signal);
    const output = kind === 'secret' ? silentOutput() : process.stderr;
    const reader = createInterface({ input: process.stdin, output, terminal: true });
    try {
      // It draws the last line of the prompt where that stands already.
      return await reader.question(kind === 'secret' ? '' : prompt.slice(prompt.lastIndexOf('\n') + 1), { signal });
    } finally {
      reader.close();
      if (kind === 'secret') process.stderr.write('\n');
    }
  };
}

/** Raw mode gives also what stands in an unfinished line; of its keys only the one that stops is heard. */
async function dropTyped(signal: AbortSignal): Promise<void> {
  const { stdin } = process;
  const hear = (keys: Buffer) => {
    if (keys.includes(3)) process.kill(process.pid, 'SIGINT');
  };
  stdin.setRawMode?.(true);
  stdin.on('data', hear);
  try {
    await systemClock.sleep(UNREAD_MS, signal);
  } finally {
    stdin.off('data', hear);
    stdin.pause();
    stdin.setRawMode?.(false);
  }
}

function silentOutput(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

/** Gives what is to be said where it is left out. Without a way to ask it is left out. */
export async function askTrust(
  { home, environment, clock }: Pick<App, 'home' | 'environment' | 'clock'>,
  ask: ((question: string) => Promise<string>) | undefined,
): Promise<string | undefined> {
  const standing = lookAtProject(home, environment.cwd);
  if (standing === undefined || standing.verdict === 'trusted') return undefined;
  if (ask !== undefined) {
    const shown = (await describeProject(standing)).map((text) => `  ${text}`);
    const question = 'Follow it as instructions in this folder, until it changes? (y/n)';
    const answer = await ask(['A project file wants to instruct the agent.', ...shown, question].join('\n'));
    if (isYes(answer)) trustProject(home, standing.file, clock);
  }
  return leftOutNotice(home, environment.cwd);
}

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
