// Owns `rlm demo` as a command: its flag and where it takes place. Knows no stage.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { type Failure, failed, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, defineCommand } from '#core/agent/command-spec.ts';
import type { RlmGround } from '../rlm-ground.ts';

export function demoCommands(ground: RlmGround): readonly AnyCommand[] {
  return [demoCommand(ground)];
}

function demoCommand(ground: RlmGround): AnyCommand {
  return defineCommand({
    name: 'rlm demo',
    summary:
      'Watch a file taken apart, put together from cited claims, and a false claim refused, in a home of its own',
    surfaces: ['cli'],
    input: z.object({
      keep: z.string().min(1, 'name a folder: --keep FOLDER').optional().describe('Folder to play it in, new or empty'),
    }),
    examples: ['talaria rlm demo', 'talaria rlm demo --keep ./rlm-demo'],
    async *run({ keep }, { cwd, signal }) {
      const [{ openDemoPlace }, { runRlmDemo }] = await Promise.all([
        import('../demo/demo-place.ts'),
        import('../demo/run-rlm-demo.ts'),
      ]);
      const from = { cwd, userHome: ground.places.userHome };
      const place = openDemoPlace(ground, keep === undefined ? undefined : typedPath(keep, from));
      if (place.ok) yield* runRlmDemo(ground, place.value, signal);
      else yield unplaced(place.reason, place.detail);
    },
  });
}

function unplaced(reason: string, detail: string): Failure {
  if (reason === 'folder-not-empty') return wrongUse(reason, detail, 'Name a new folder: --keep FOLDER');
  const fix =
    reason === 'file-missing' ? 'Install the package again.' : 'Name a folder that you may write: --keep FOLDER';
  return failed(reason, detail, fix);
}
