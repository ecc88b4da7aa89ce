// Owns the list of the curator's queue commands. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { decideCommand } from './queue/decide-command.ts';
import { withForeignQueue } from './queue/foreign-queue.ts';
import { listCandidatesCommand } from './queue/list-candidates-command.ts';
import { mineCommand } from './queue/mine-command.ts';

export function queueCommands(ground: CuratorGround): readonly AnyCommand[] {
  const commands = [
    mineCommand(ground),
    listCandidatesCommand(ground),
    decideCommand(ground, 'accepted'),
    decideCommand(ground, 'rejected'),
  ];
  return commands.map((command) => withForeignQueue(ground, command));
}
