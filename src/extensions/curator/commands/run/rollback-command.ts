// Owns `curator rollback` (curator notes 11.4, 16): undoing the version of a manifest. Prints JSON. Knows no file.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { requiredText } from '../flags.ts';
import { printed } from '../printed.ts';

export function rollbackCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator rollback',
    summary: 'Undo the write that a manifest belongs to, support files included',
    surfaces: ['cli'],
    input: z.object({
      manifest: requiredText('name it: --manifest FILE').describe('manifest.json of the backup'),
      force: z.boolean().default(false).describe('Also when the skill was edited since'),
    }),
    examples: ['talaria curator rollback --manifest ~/.talaria/backups/skills/STAMP/manifest.json'],
    async *run(asked, { cwd }): AsyncGenerator<CommandOutput> {
      const { rollBackManifest } = await import('../../run/manual/roll-back-manifest.ts');
      const manifest = typedPath(asked.manifest, { cwd, userHome: ground.places.userHome });
      const result = await rollBackManifest({ ground, mind: await ground.open() }, { manifest, force: asked.force });
      yield* printed({ result, format: 'json', text: () => '' });
      if (!result.rolled_back) yield refused(result.reason, result.detail ?? '', FIXES[result.reason] ?? LOG);
    },
  });
}

const LOG = 'See `talaria skills log SKILL`.';
const FIXES: Readonly<Record<string, string>> = {
  'target-changed': 'Look at it, then add --force.',
  'manifest-changed': 'Put the manifest back as it was written; --force does not go over it.',
  'no-such-version': 'Manifests lie beside the backups; `talaria skills log SKILL` shows the versions.',
};
