// Owns the list of `talaria rlm …` commands, in the order in which help shows them, and `rlm demo`. Knows no other command's work.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { type AnyCommand, defineCommand, type Failure, failed, wrongUse } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { askCommands } from './commands/ask-command.ts';
import { memoryCommands } from './commands/memory-command.ts';
import { runCommands } from './commands/run-command.ts';
import { storedCommands } from './commands/stored-commands.ts';

export function rlmCommands(ground: Ground): readonly AnyCommand[] {
  return [
    ...demoCommands(ground),
    ...askCommands(ground),
    ...runCommands(ground),
    ...storedCommands(ground),
    ...memoryCommands(ground),
  ];
}

export function demoCommands(ground: Ground): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'rlm demo',
      summary:
        'Watch a file taken apart, put together from cited claims, and a false claim refused, in a home of its own',
      surfaces: ['cli'],
      input: z.object({
        keep: z
          .string()
          .min(1, 'name a folder: --keep FOLDER')
          .optional()
          .describe('Folder to play it in, new or empty'),
      }),
      examples: ['talaria rlm demo', 'talaria rlm demo --keep ./rlm-demo'],
      async *run({ keep }, { cwd, signal }) {
        const { openDemoPlace, runRlmDemo } = await import('./demo.ts');
        const from = { cwd, userHome: ground.places.userHome };
        const place = openDemoPlace(ground, keep === undefined ? undefined : typedPath(keep, from));
        if (place.ok) yield* runRlmDemo(ground, place.value, signal);
        else yield unplaced(place.reason, place.detail);
      },
    }),
  ];
}

function unplaced(reason: string, detail: string): Failure {
  if (reason === 'folder-not-empty') return wrongUse(reason, detail, 'Name a new folder: --keep FOLDER');
  const fix =
    reason === 'file-missing' ? 'Install the package again.' : 'Name a folder that you may write: --keep FOLDER';
  return failed(reason, detail, fix);
}
