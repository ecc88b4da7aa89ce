// Owns the list of the curator's evidence commands. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { measureCommand } from './evidence/measure-command.ts';
import { analyzeCommand, reportCommand } from './evidence/report-commands.ts';
import { statusCommand } from './evidence/status-command.ts';

export function evidenceCommands(ground: CuratorGround): readonly AnyCommand[] {
  return [statusCommand(ground), reportCommand(ground), analyzeCommand(ground), measureCommand(ground)];
}
