// Owns the list of the curator's proposal commands. Knows no command's work.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { proposeCommand } from './proposal/propose-command.ts';
import { skillValidateCommand } from './proposal/skill-validate-command.ts';
import { verifyCommand } from './proposal/verify-command.ts';

export function proposalCommands(ground: CuratorGround): readonly AnyCommand[] {
  return [proposeCommand(ground), verifyCommand(ground), skillValidateCommand(ground)];
}
