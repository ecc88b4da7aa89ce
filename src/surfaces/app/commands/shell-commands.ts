// Owns the list of built-in commands, in the order in which help shows them. Knows no surface.
// Invariant: making the list opens nothing; a command composes the agent only when it runs and needs it.

import { z } from 'zod';
import { systemClock } from '#base/clock.ts';
import { type AnyCommand, defineCommand } from '#core/agent/command-spec.ts';
import type { Ground, Room } from '#core/agent/room.ts';
import type { App } from '../app.ts';
import type { Environment } from '../environment.ts';
import { lendGround } from '../ground.ts';
import { findHome } from '../home/home.ts';
import { loadRooms } from '../rooms.ts';
import { backupCommand, repairCommands, restoreCommand } from './backup.ts';
import type { CommandDeps } from './command-deps.ts';
import { configCommands } from './config.ts';
import { contextCommand, modelsCommand, toolsCommand } from './context.ts';
import { costCommand } from './cost.ts';
import { doctorCommand } from './doctor.ts';
import { forgetCommand } from './forget.ts';
import { importCommand } from './import.ts';
import { ownModelCommands } from './own-models.ts';
import { permissionsCommands, trustCommands } from './permissions.ts';
import { setupCommand } from './setup.ts';
import { diffCommand, shellSeat, undoCommand } from './undo.ts';

/** Of the rooms; absent: those of the house. */
export async function roomCommands(
  { environment, app, door }: ShellCommandOptions,
  rooms?: readonly Room[],
): Promise<readonly AnyCommand[]> {
  const place = { environment, home: findHome(environment), clock: systemClock, app };
  const ground = lendGround({ ...place, ...(door ? { door } : {}) });
  const all = await Promise.all((rooms ?? (await loadRooms())).map((room) => room.commands?.(ground) ?? []));
  return all.flat();
}

/** Every command, in the order of help. */
export async function allCommands(
  options: ShellCommandOptions,
  rooms?: readonly Room[],
): Promise<readonly AnyCommand[]> {
  const all = [...shellCommands(options), ...(await roomCommands(options, rooms))];
  const place = ({ name }: AnyCommand) => HELP.indexOf(name.split(' ')[0] ?? '') >>> 0;
  return all.sort((a, b) => place(a) - place(b));
}

/** First words in the order of help; what is not among them comes last, room by room. */
const HELP =
  `setup doctor demo sessions memory skills pending learn undo diff models tools permissions trust context config trace cost backup
  restore repair import forget`.split(/\s+/);

export interface ShellCommandOptions {
  readonly environment: Environment;
  readonly app: () => Promise<App>;
  /** Absent: the agent is composed for one. */
  readonly door?: Ground['door'];
}

export function shellCommands({ environment, app }: ShellCommandOptions): readonly AnyCommand[] {
  const deps: CommandDeps = { environment, home: findHome(environment), clock: systemClock, app };
  return [
    setupCommand(deps),
    doctorCommand(deps),
    demoCommand(deps),
    undoCommand(shellSeat(deps)),
    diffCommand(shellSeat(deps)),
    modelsCommand(deps),
    ...ownModelCommands(deps),
    toolsCommand(deps),
    ...permissionsCommands(deps),
    ...trustCommands(deps),
    contextCommand(deps),
    ...configCommands(deps),
    costCommand(deps),
    backupCommand(deps),
    restoreCommand(deps),
    ...repairCommands(deps),
    importCommand(deps),
    forgetCommand(deps),
  ];
}

/** Knows the stories by their names only. */
function demoCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'demo',
    summary: 'Watch it act, remember and recall, or learn a skill, in a home of its own',
    surfaces: ['cli'],
    positional: ['story'],
    input: z.object({
      story: z.enum(['recall', 'learning']).default('recall').describe('recall: two processes; learning: four'),
    }),
    examples: ['talaria demo', 'talaria demo learning'],
    async *run({ story }, context) {
      const program = [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
      const options = { environment: deps.environment, clock: deps.clock, program };
      const { runLearningDemo, runRecallDemo } = await import('./demo.ts');
      yield* (story === 'learning' ? runLearningDemo : runRecallDemo)(options, context.signal);
    },
  });
}
