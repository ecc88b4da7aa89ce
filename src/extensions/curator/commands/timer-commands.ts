// Owns the list of the curator's timer commands. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../curator-ground.ts';

export function timerCommands(_ground: CuratorGround): readonly AnyCommand[] {
  return [];
}
