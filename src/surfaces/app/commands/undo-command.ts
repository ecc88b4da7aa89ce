// Owns `undo` of the shell: takes back the last thing that was kept in this home. Knows learning by its contract.
// Invariant: what was edited since is left as it is, and said.
import { z } from 'zod';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { refuseNewerHome } from '../home/newer-home.ts';
import { type CommandDeps, line } from './command-deps.ts';

const FIXES: Readonly<Record<string, string>> = {
  'nothing-to-undo':
    '`talaria memory remove` takes an entry out, `talaria skills rollback NAME` undoes an older change of a skill.',
  'later-version': 'Then `talaria undo` means the same write again.',
};
const ELSE = '`talaria memory show` and `talaria skills log NAME` show what stands.';

export function undoCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'undo',
    summary: 'Take back the last thing that was learned',
    surfaces: ['cli'],
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      refuseNewerHome(app);
      const undone = await (await app.learning()).undoLast();
      yield undone.ok ? line(undone.value) : refused(undone.reason, undone.detail, FIXES[undone.reason] ?? ELSE);
    },
  });
}
