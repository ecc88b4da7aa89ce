// Owns `skills export`: a copy of a skill's folder that any agentskills.io tool loads. Knows the folder by the library only.
// Invariants: nothing that is there is written over; no link that leads out of the skill is copied.
import { cpSync, existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { validateSkill } from '#mind/skills/format/validate-skill.ts';
import { type CommandDeps, line } from '../command-deps.ts';
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
      const left = copySkill(skill.folder, target);
      const { findings } = validateSkill(target);
      yield line(target);
      for (const path of left) yield line(`not copied: ${path} is a link that leads out of the skill`);
      for (const finding of findings) yield line(`note for other tools: ${finding.message}`);
      yield { type: 'data', value: { path: target } };
    },
  });
}

/** Gives the links that were left out. */
function copySkill(folder: string, target: string): readonly string[] {
  const home = realpathSync(folder);
  const left: string[] = [];
  const filter = (path: string): boolean => {
    const isCopied = path === home || !lstatSync(path).isSymbolicLink() || leadsInside(home, path);
    if (!isCopied) left.push(relative(home, path));
    return isCopied;
  };
  cpSync(home, target, { recursive: true, errorOnExist: true, force: false, verbatimSymlinks: true, filter });
  return left;
}

/** A link by an absolute path would lead back here from the copy: it counts as leading out, as a broken one does. */
function leadsInside(home: string, path: string): boolean {
  if (isAbsolute(readlinkSync(path)) || !existsSync(path)) return false;
  return realpathSync(path).startsWith(home + sep);
}
