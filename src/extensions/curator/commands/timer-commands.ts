// Owns the list of the curator's timer commands. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { bootstrapCommand } from './timer/bootstrap-command.ts';
import { installCommand } from './timer/install-command.ts';
import { uninstallCommand } from './timer/uninstall-command.ts';

export function timerCommands(ground: CuratorGround): readonly AnyCommand[] {
  return [bootstrapCommand(ground), installCommand(ground), uninstallCommand(ground)];
}
