// Owns `curator uninstall-auto` (curator notes 15, 16). Knows no unit.
import { z } from 'zod';
import { failed } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { printed } from '../printed.ts';

const input = z.object({
  keepEnabled: z.boolean().default(false).describe('Remove the files without turning the timer off first'),
});

export function uninstallCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator uninstall-auto',
    summary: 'Take the timer of the curator away again',
    surfaces: ['cli'],
    input,
    async *run({ keepEnabled }, { signal }): AsyncGenerator<CommandOutput> {
      const [{ uninstallTimer }, { findScheduler }] = await Promise.all([
        import('../../timer/uninstall-timer.ts'),
        import('../../timer/scheduler.ts'),
      ]);
      const done = await uninstallTimer({ ground, scheduler: findScheduler(ground), keepEnabled }, signal);
      yield* printed({ result: done.result, format: 'json', text: () => '' });
      if (done.failed) yield failed('timer-not-disabled', done.failed.message, done.failed.fix);
    },
  });
}
