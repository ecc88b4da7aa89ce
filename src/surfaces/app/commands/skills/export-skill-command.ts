// Owns `skills export`: a copy of a skill's folder that any agentskills.io tool loads. Knows the folder by the library only.
// Invariant: nothing that is there is written over.
import { cpSync, existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { validateSkill } from '#mind/skills/format/validate-skill.ts';
import { type CommandDeps, line, refused } from '../command-deps.ts';
import { findSkill, noSuchSkill } from './skill-deps.ts';

export function exportSkillCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'skills export',
    summary: 'Copy a skill for another tool',
    surfaces: ['cli'],
    positional: ['name', 'to'],
    input: z.object({ name: z.string(), to: z.string().default('.').describe('Folder to copy it into') }),
    examples: ['talaria skills export release-notes ~/.claude/skills'],
    async *run({ name, to }, context): AsyncGenerator<CommandOutput> {
      const skill = await findSkill(await deps.app(), name);
      if (!skill) {
        yield noSuchSkill(name);
        return;
      }
      const target = join(resolve(context.cwd, to), basename(skill.folder));
      if (existsSync(target)) {
        yield refused('file-exists', `${target} is already there.`, 'Name another folder.');
        return;
      }
      cpSync(skill.folder, target, { recursive: true, errorOnExist: true, force: false });
      const { findings } = validateSkill(target);
      yield line(target);
      for (const finding of findings) yield line(`note for other tools: ${finding.message}`);
      yield { type: 'data', value: { path: target } };
    },
  });
}
