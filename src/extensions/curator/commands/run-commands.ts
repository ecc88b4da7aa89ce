// Owns the list of the curator's run commands. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { applyCommand } from './run/apply-command.ts';
import { autoRunCommand } from './run/auto-run-command.ts';
import { restoreDrillCommand } from './run/restore-drill-command.ts';
import { rollbackCommand } from './run/rollback-command.ts';

export function runCommands(ground: CuratorGround): readonly AnyCommand[] {
  return [applyCommand(ground), rollbackCommand(ground), restoreDrillCommand(ground), autoRunCommand(ground)];
}
