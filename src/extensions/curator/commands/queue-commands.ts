// Owns the list of the curator's queue commands. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../curator-ground.ts';

export function queueCommands(_ground: CuratorGround): readonly AnyCommand[] {
  return [];
}
