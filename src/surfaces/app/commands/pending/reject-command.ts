// Owns `pending reject`: one draft, all of a name, or all. Knows the ledger and learning. Invariant: what was not meant stays.
import { z } from 'zod';
import { plural } from '#base/text.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { findWaitingOnes, PENDING_LIST, whichPending } from './find-pending.ts';

export function rejectCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'pending reject',
    summary: 'Drop what waits: one, all of a name, or all',
    surfaces: ['cli', 'chat'],
    positional: ['id'],
    input: z.object({ id: whichPending, all: z.boolean().default(false).describe('Everything that waits') }),
    examples: ['talaria pending reject', 'talaria pending reject release-notes', 'talaria pending reject --all'],
    async *run({ id, all }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      refuseNewerHome(app);
      const found = findWaitingOnes(app.proposals, all ? { all } : { name: id });
      if (!found.ok) {
        yield refused(found.reason, found.detail, PENDING_LIST);
        return;
      }
      const learning = await app.learning();
      for (const one of found.value) {
        const done = await learning.reject(one.id);
        yield done.ok ? line(done.value) : refused(done.reason, done.detail);
      }
      if (found.value.length > 1) yield line(`${plural(found.value.length, 'draft')} dropped.`);
    },
  });
}
