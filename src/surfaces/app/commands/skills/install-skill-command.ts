// Owns `skills install`: a folder with SKILL.md from this machine, through the door and its guard. Knows no rule of the guard.
// Invariant: what the guard refuses is not installed, whatever was said; what it asks about needs --force.
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { doorRefusal } from './skill-deps.ts';

export function installSkillCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'skills install',
    summary: 'Install a skill from a folder; it is scanned first',
    surfaces: ['cli', 'chat'],
    positional: ['from'],
    input: z.object({
      from: z.string().describe('Folder that holds SKILL.md'),
      name: z.string().optional().describe('Install it under this name'),
      category: z.string().optional().describe('Folder below the skills folder'),
      force: z.boolean().default(false).describe('You read what the guard found, and want it'),
    }),
    examples: ['talaria skills install ./downloads/release-notes', 'talaria skills install ./x --category git'],
    async *run({ from, name, category, force }, context): AsyncGenerator<CommandOutput> {
      const folder = folderOf(resolve(context.cwd, from));
      if (folder === undefined) {
        yield wrongUse('no-such-folder', `${from} is no folder.`, 'Name the folder that holds SKILL.md.');
        return;
      }
      const app = await deps.app();
      refuseNewerHome(app);
      await app.skills.library.ready();
      const installed = await app.skills.door.install(
        { from: folder, source: 'community', approved: true, force, judge: app.judge, ...named(name, category) },
        context.signal,
      );
      if (!installed.ok) {
        yield doorRefusal(installed, FIXES[installed.reason]);
        return;
      }
      await app.skills.library.refresh();
      for (const warning of installed.value.warnings) yield line(`note: ${warning}`);
      yield line(`Installed ${installed.value.name}: ${installed.value.path}`);
      yield { type: 'data', value: { ...installed.value } };
    },
  });
}

const FIXES: Readonly<Record<string, string>> = {
  'guard-asks': 'Read it; then add --force if you want it all the same.',
};

function named(name: string | undefined, category: string | undefined) {
  return { ...(name === undefined ? {} : { name }), ...(category === undefined ? {} : { category }) };
}

/** The folder itself, or that of a SKILL.md that was named. */
function folderOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return path;
  return found?.isFile() && /skill\.md$/i.test(path) ? dirname(path) : undefined;
}
