// Owns the list of `talaria curator …` commands, in the order in which help shows them (curator notes 16). Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import { backfillCommand } from './commands/backfill-command.ts';
import { evidenceCommands } from './commands/evidence-commands.ts';
import { proposalCommands } from './commands/proposal-commands.ts';
import { queueCommands } from './commands/queue-commands.ts';
import { runCommands } from './commands/run-commands.ts';
import { searchCommands } from './commands/search-commands.ts';
import { timerCommands } from './commands/timer-commands.ts';
import type { CuratorGround } from './curator-ground.ts';

export function curatorCommands(ground: CuratorGround): readonly AnyCommand[] {
  return [
    ...evidenceCommands(ground),
    backfillCommand(ground),
    ...proposalCommands(ground),
    ...searchCommands(ground),
    ...queueCommands(ground),
    ...runCommands(ground),
    ...timerCommands(ground),
  ];
}
