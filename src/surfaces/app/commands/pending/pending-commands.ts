// Owns `pending list|show|accept|reject`: what waits for the owner's yes, from whatever writer. Knows it by the ledger and by learning.
// Invariant: accepting passes the same doors as every other write.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { Proposal } from '#mind/evidence/proposal.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { proposalLines } from '../provenance-lines.ts';
import { ALWAYS_IS_ON, alwaysCommand } from './always-command.ts';
import { findPending, PENDING_LIST, waitingOf, whichPending } from './find-pending.ts';
import { installLines, type ScanFolder } from './install-lines.ts';
import { rejectCommand } from './reject-command.ts';

export function pendingCommands(deps: CommandDeps, scan: ScanFolder = scanByGuard): readonly AnyCommand[] {
  return [list(deps), show(deps, scan), accept(deps), rejectCommand(deps), alwaysCommand(deps)];
}

async function scanByGuard(folder: string): Promise<readonly string[]> {
  const [{ scanSkillFolder }, { findingLines }] = await Promise.all([
    import('#mind/evidence/guard/scan-folder.ts'),
    import('../../parts/mind/guard-words.ts'),
  ]);
  return findingLines(scanSkillFolder(folder));
}

function list(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'pending list',
    summary: 'List the skills and memories that wait for your yes',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const waiting = waitingOf(app.proposals);
      if ((await app.learning()).keepsNewSkills()) yield line(ALWAYS_IS_ON);
      if (waiting.length === 0) yield line('Nothing waits for you.');
      else
        yield {
          type: 'table',
          columns: ['id', 'when', 'by', 'what', 'of', 'why it waits'],
          rows: waiting.map((one) => [
            one.id,
            isoTime(one.createdAt),
            one.actor,
            one.action,
            one.target,
            reasonOf(one),
          ]),
        };
      yield { type: 'data', value: waiting as unknown as JsonValue };
    },
  });
}

const REASONS: Readonly<Record<string, string>> = {
  'origin-not-allowed': 'it rests on text that neither you nor our own record said',
  'value-not-cited': 'it names something that stands in nothing it cites',
  'foreign-words': 'its words come from text that you did not write',
  'goes-beyond': 'it says more than what it cites',
  'not-judged': 'no model judged it',
  'guard-asks': 'the guard found something: look at it first',
};

const OWNERS: Readonly<Record<string, string>> = {
  create: 'a new skill is yours to decide',
  delete: 'a deletion is yours to decide',
};

function reasonOf({ reason, kind, action }: Proposal): string {
  if (reason === 'needs-owner')
    return OWNERS[action] ?? `a change of ${kind === 'skill' ? 'this skill' : 'memory'} is yours to decide`;
  return REASONS[reason ?? ''] ?? reason ?? '';
}

function show(deps: CommandDeps, scan: ScanFolder): AnyCommand {
  return defineCommand({
    name: 'pending show',
    summary: 'Show what would be written, and the messages that it rests on',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['id'],
    input: z.object({ id: whichPending }),
    async *run({ id }): AsyncGenerator<CommandOutput> {
      const { proposals, learning } = await deps.app();
      const found = findPending(proposals, id);
      if (!found.ok) {
        yield refused(found.reason, found.detail, PENDING_LIST);
        return;
      }
      const offer = (await learning()).offers().find((one) => one.id === found.value.id);
      const install = await installLines(found.value, scan);
      for (const text of install ?? (offer ? [offer.text] : proposalLines(found.value))) yield line(text);
      yield { type: 'data', value: found.value as unknown as JsonValue };
    },
  });
}

function accept(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'pending accept',
    summary: 'Write what waits',
    surfaces: ['cli', 'chat'],
    positional: ['id'],
    input: z.object({
      id: whichPending,
      always: z
        .boolean()
        .default(false)
        .describe('And do not ask again about new skills of reviews; `pending always off` takes that back'),
    }),
    run: (input, context) => keep(deps, input, context),
  });
}

async function* keep(
  deps: CommandDeps,
  input: { readonly id: string; readonly always: boolean },
  { signal }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const app = await deps.app();
  refuseNewerHome(app);
  const found = findPending(app.proposals, input.id);
  if (!found.ok) {
    yield refused(found.reason, found.detail, PENDING_LIST);
    return;
  }
  const { id } = found.value;
  const learning = await app.learning();
  const done = await learning.accept(id, input.always ? { always: true } : {}, signal);
  yield done.ok ? line(done.value) : refused(done.reason, done.detail);
}
