// Owns the list of commands on skills, in the order of help. Knows no skill.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { CommandDeps } from '../command-deps.ts';
import { exportSkillCommand } from './export-skill-command.ts';
import { installSkillCommand } from './install-skill-command.ts';
import { listSkillsCommand, showSkillCommand } from './read-skill-commands.ts';
import { removeSkillCommand } from './remove-skill-command.ts';
import { diffSkillCommand, logSkillCommand, rollbackSkillCommand } from './version-commands.ts';
import { whySkillCommand } from './why-skill-command.ts';

export function skillsCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [
    listSkillsCommand(deps),
    showSkillCommand(deps),
    installSkillCommand(deps),
    removeSkillCommand(deps),
    logSkillCommand(deps),
    diffSkillCommand(deps),
    rollbackSkillCommand(deps),
    whySkillCommand(deps),
    exportSkillCommand(deps),
  ];
}
