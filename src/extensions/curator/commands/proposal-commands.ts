// Owns the list of the curator's proposal commands. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../curator-ground.ts';

export function proposalCommands(_ground: CuratorGround): readonly AnyCommand[] {
  return [];
}
