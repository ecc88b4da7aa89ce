// Owns the list of `rlm bench` commands. Knows no bench's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { RlmGround } from '../rlm-ground.ts';
import { portabilityCommand } from './bench/portability-command.ts';
import { tableCommands } from './bench/table-commands.ts';
import { truncationCommand } from './bench/truncation-command.ts';

export function benchCommands(ground: RlmGround): readonly AnyCommand[] {
  return [truncationCommand(ground), ...tableCommands(ground), portabilityCommand(ground)];
}
