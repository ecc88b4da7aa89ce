// Owns `restore`: a backup becomes the home. Knows the archive through backup/ only.
import { resolve } from 'node:path';
import { z } from 'zod';
import { failed, refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { type CommandDeps, line } from './command-deps.ts';

export function restoreCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'restore',
    summary: 'Bring a backup back as the home',
    surfaces: ['cli'],
    positional: ['file'],
    input: z.object({
      file: z.string().describe('File that `talaria backup` wrote'),
      force: z.boolean().default(false).describe('Move a home that is not empty aside first'),
    }),
    examples: ['talaria restore talaria-2026-01-15-120000.tar.gz'],
    async *run({ file, force }, context): AsyncGenerator<CommandOutput> {
      const { restoreBackup } = await import('../backup/restore-backup.ts');
      const options = { file: resolve(context.cwd, file), force, clock: deps.clock };
      const restored = await restoreBackup(deps.home, options, context.signal);
      if (!restored.ok) {
        yield restored.reason === 'no-such-file'
          ? failed(restored.reason, restored.detail)
          : refused(restored.reason, restored.detail, 'Nothing was changed.');
        return;
      }
      const { home, files, movedTo, keptSecrets } = restored.value;
      yield line(`${home} (${files.length} files)`);
      if (movedTo) yield line(`the home that was there is now ${movedTo}`);
      if (keptSecrets) yield line('the backup has no keys; those of the old home were taken over');
      yield { type: 'data', value: { home, files: files.length, movedTo: movedTo ?? null, keptSecrets } };
    },
  });
}
