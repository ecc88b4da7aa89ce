// Owns `pending list|show|accept|reject`: what waits for the owner's yes, from whatever writer. Knows it by the ledger and by learning.
// Invariant: accepting passes the same doors as every other write.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { Proposal, ProposalLedger } from '#mind/evidence/proposal.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line, refused } from '../command-deps.ts';
import { proposalLines } from '../provenance-lines.ts';
import { ALWAYS_IS_ON, alwaysCommand } from './always-command.ts';
import { installLines, type ScanFolder } from './install-lines.ts';

export function pendingCommands(deps: CommandDeps, scan: ScanFolder = scanByGuard): readonly AnyCommand[] {
  return [list(deps), show(deps, scan), accept(deps), reject(deps), alwaysCommand(deps)];
}

async function scanByGuard(folder: string): Promise<readonly string[]> {
  const [{ scanSkillFolder }, { findingLines }] = await Promise.all([
    import('#mind/skills/guard/scan-folder.ts'),
    import('../../parts/mind/guard-words.ts'),
  ]);
  return findingLines(scanSkillFolder(folder));
}

const which = z.string().default('last').describe('Its id, the beginning of its id, the name of its skill, or `last`');

function list(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'pending list',
    summary: 'List what waits for your yes: drafts of skills, and memory that rests on foreign text',
    surfaces: ['cli', 'chat'],
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
  'needs-owner': 'a new skill or a deletion is yours to decide',
  'origin-not-allowed': 'it rests on text that neither you nor our own record said',
  'guard-asks': 'the guard found something: look at it first',
};

function reasonOf({ reason }: Proposal): string {
  return REASONS[reason ?? ''] ?? reason ?? '';
}

function show(deps: CommandDeps, scan: ScanFolder): AnyCommand {
  return defineCommand({
    name: 'pending show',
    summary: 'Show what would be written, and the messages that it rests on',
    surfaces: ['cli', 'chat'],
    positional: ['id'],
    input: z.object({ id: which }),
    async *run({ id }): AsyncGenerator<CommandOutput> {
      const { proposals, learning } = await deps.app();
      const found = find(proposals, id);
      if (!found.ok) {
        yield refused(found.reason, found.detail, '`talaria pending list` shows what waits.');
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
      id: which,
      always: z
        .boolean()
        .default(false)
        .describe('And do not ask again about new skills of reviews; `pending always off` takes that back'),
    }),
    run: (input, context) => decide(deps, { ...input, yes: true }, context),
  });
}

function reject(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'pending reject',
    summary: 'Drop what waits',
    surfaces: ['cli', 'chat'],
    positional: ['id'],
    input: z.object({ id: which }),
    run: (input, context) => decide(deps, { ...input, always: false, yes: false }, context),
  });
}

async function* decide(
  deps: CommandDeps,
  input: { readonly id: string; readonly always: boolean; readonly yes: boolean },
  { signal }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const app = await deps.app();
  refuseNewerHome(app);
  const found = find(app.proposals, input.id);
  if (!found.ok) {
    yield refused(found.reason, found.detail, '`talaria pending list` shows what waits.');
    return;
  }
  const { id } = found.value;
  const learning = await app.learning();
  const done = input.yes
    ? await learning.accept(id, input.always ? { always: true } : {}, signal)
    : await learning.reject(id);
  yield done.ok ? line(done.value) : refused(done.reason, done.detail, 'It waits on.');
}

function waitingOf(proposals: ProposalLedger): readonly Proposal[] {
  return proposals.list({ status: 'pending' });
}

function find(proposals: ProposalLedger, name: string): Result<Proposal, 'no-such-proposal' | 'ambiguous-proposal'> {
  const waiting = waitingOf(proposals);
  const [newest] = waiting;
  if (newest === undefined) return refuse('no-such-proposal', 'Nothing waits for you.');
  if (name === 'last') return ok(newest);
  const found = waiting.filter(({ id, target }) => id.startsWith(name) || target === name);
  const [only] = found;
  if (only === undefined) return refuse('no-such-proposal', `Nothing that waits is called ${name}.`);
  return found.length === 1
    ? ok(only)
    : refuse('ambiguous-proposal', `${name} could be ${found.map(({ id }) => id).join(', ')}.`);
}
