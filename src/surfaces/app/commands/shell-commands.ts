// Owns the list of built-in commands, in the order in which help shows them. Knows no surface.
// Invariant: making the list opens nothing; a command composes the agent only when it runs and needs it.
import { systemClock } from '#base/clock.ts';
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { App } from '../app.ts';
import type { Environment } from '../environment.ts';
import { EXTENSIONS } from '../extensions.ts';
import { findHome } from '../home/home.ts';
import { extensionGround } from '../host/lend-ground.ts';
import { backupCommand } from './backup-command.ts';
import type { CommandDeps } from './command-deps.ts';
import { configCommands } from './config/config-commands.ts';
import { contextCommand } from './context-command.ts';
import { costCommand } from './cost-command.ts';
import { demoCommand } from './demo-command.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { forgetCommand } from './forget/forget-command.ts';
import { importCommands } from './import/import-command.ts';
import { learnCommand } from './learn-command.ts';
import { memoryCommands } from './memory/memory-commands.ts';
import { modelsCommand } from './models-command.ts';
import { pendingCommands } from './pending/pending-commands.ts';
import { permissionsCommands } from './permissions-command.ts';
import { repairCommands } from './repair-command.ts';
import { restoreCommand } from './restore-command.ts';
import { exportCommand } from './sessions/export-command.ts';
import { searchCommand } from './sessions/search-command.ts';
import { sessionsCommands } from './sessions/sessions-commands.ts';
import { setupCommand } from './setup/setup-command.ts';
import { skillsCommands } from './skills/skills-commands.ts';
import { toolsCommand } from './tools-command.ts';
import { traceCommand } from './trace-command.ts';
import { trustCommands } from './trust-command.ts';
import { diffCommand, shellSeat, undoCommand } from './undo-command.ts';

/** Commands of the extensions; loaded when none of the built-in ones was typed. */
export async function extensionCommands({ environment, app }: ShellCommandOptions): Promise<readonly AnyCommand[]> {
  const ground = extensionGround({ environment, home: findHome(environment), clock: systemClock, app });
  const lines = await Promise.all(EXTENSIONS.map(({ commands }) => commands(ground)));
  return lines.flat();
}

export interface ShellCommandOptions {
  readonly environment: Environment;
  readonly app: () => Promise<App>;
}

export function shellCommands({ environment, app }: ShellCommandOptions): readonly AnyCommand[] {
  const deps: CommandDeps = { environment, home: findHome(environment), clock: systemClock, app };
  return [
    setupCommand(deps),
    doctorCommand(deps),
    demoCommand(deps),
    ...sessionsCommands(deps),
    searchCommand(deps),
    exportCommand(deps),
    ...memoryCommands(deps),
    ...skillsCommands(deps),
    ...pendingCommands(deps),
    learnCommand(deps),
    undoCommand(shellSeat(deps)),
    diffCommand(shellSeat(deps)),
    modelsCommand(deps),
    toolsCommand(deps),
    ...permissionsCommands(deps),
    ...trustCommands(deps),
    contextCommand(deps),
    ...configCommands(deps),
    traceCommand(deps),
    costCommand(deps),
    backupCommand(deps),
    restoreCommand(deps),
    ...repairCommands(deps),
    ...importCommands(deps),
    forgetCommand(deps),
  ];
}
