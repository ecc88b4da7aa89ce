// Owns the list of the curator's search commands. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { candidatesCommand } from './search/candidates-command.ts';
import { setupSemanticCommand } from './search/setup-semantic-command.ts';

export function searchCommands(ground: CuratorGround): readonly AnyCommand[] {
  return [candidatesCommand(ground), setupSemanticCommand(ground)];
}
