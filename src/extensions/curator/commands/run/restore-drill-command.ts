// Owns `curator restore-drill` (curator notes 12, 16): proving that a backup can be restored. Knows no check.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { failed } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { requiredText } from '../flags.ts';
import { printed } from '../printed.ts';

export function restoreDrillCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator restore-drill',
    summary: 'Prove that a backup can be restored, in a folder apart',
    surfaces: ['cli'],
    input: z.object({
      manifest: requiredText('name it: --manifest FILE').describe('manifest.json of the backup'),
      targetDir: z.string().min(1).optional().describe('Empty folder to restore into; a temporary one when absent'),
      stateFile: z.string().min(1).optional().describe('Where the drill is remembered; beside the backups when absent'),
      format: z.enum(['json', 'markdown']).default('json').describe('How the report is printed'),
    }),
    examples: ['talaria curator restore-drill --manifest ~/.talaria/backups/skills/STAMP/manifest.json'],
    async *run({ manifest, targetDir, stateFile, format }, { cwd }): AsyncGenerator<CommandOutput> {
      const [{ drillManifest }, { drillMarkdown }] = await Promise.all([
        import('../../run/manual/drill-manifest.ts'),
        import('../../run/manual/drill-manifest.ts'),
      ]);
      const at = (path: string) => typedPath(path, { cwd, userHome: ground.places.userHome });
      const report = await drillManifest(ground, {
        manifest: at(manifest),
        ...(targetDir === undefined ? {} : { targetDir: at(targetDir) }),
        ...(stateFile === undefined ? {} : { stateFile: at(stateFile) }),
      });
      yield* printed({ result: report, format, text: () => drillMarkdown(report) });
      if (report.status === 'fail')
        yield failed('restore-drill-failed', `The drill failed: ${report.errors.join(', ')}.`, FIX);
      else if (report.state_error !== undefined)
        yield failed('restore-drill-state-unreadable', report.state_error, STATE_FIX);
    },
  });
}

const FIX = 'Nothing live was touched. Look at the backup; the version itself is still shown by `talaria skills log`.';
const STATE_FIX = 'Move that file away and drill again; what was applied last is known without it.';
