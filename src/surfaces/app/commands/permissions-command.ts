// Owns `permissions show|revoke`: what runs without being asked for, and taking one of it back. Knows approvals by the app alone.
// Invariant: what was taken back is asked for again from the next call on, in this process, and in every one that starts later.
import { z } from 'zod';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { ApprovalMode } from '../app.ts';
import { refuseNewerHome } from '../home/newer-home.ts';
import { type CommandDeps, line } from './command-deps.ts';

export function permissionsCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [show(deps), revoke(deps)];
}

const RISKY = 'what deletes, publishes, overwrites, changes the machine, reads keys or writes outside the folder';

const MODES: Readonly<Record<ApprovalMode, string>> = {
  ask: `You are asked before anything risky runs: ${RISKY}.`,
  deny: `Nothing risky runs: ${RISKY}.`,
  off: `Nothing is asked: also what is risky runs (${RISKY}). What is never run still is not.`,
  'read-only': 'Only tools that read run; nothing else does, asked or not.',
};

function show(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'permissions show',
    summary: 'Show what runs without asking you',
    surfaces: ['cli', 'chat'],
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const { mode: configured } = app.loaded.config.approvals;
      const mode = app.approvalMode();
      const allowed = app.approvals().list();
      yield line(MODES[mode]);
      if (mode !== configured) yield line('So it was started (--permission-mode or --yes); it holds for this run.');
      yield line(`approvals.mode is ${configured}; \`talaria config set approvals.mode ask|deny|off\` changes it.`);
      if (allowed.length === 0) yield line('You have allowed nothing for more than once.');
      else {
        yield {
          type: 'table',
          columns: ['', 'until', 'allowed without asking'],
          rows: allowed.map(({ key, scope }, at) => [String(at + 1), UNTIL[scope], key]),
        };
        yield line('`permissions revoke 1` takes the first one back.');
      }
      yield { type: 'data', value: { mode, allowed: allowed.map((given) => ({ ...given })) } };
    },
  });
}

const UNTIL = { always: 'taken back', session: 'this chat ends' } as const;

function revoke(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'permissions revoke',
    summary: 'Take back what was allowed: you are asked again',
    surfaces: ['cli', 'chat'],
    positional: ['which...'],
    input: z.object({ which: z.array(z.string()).min(1).describe('Its number in `permissions`, or the whole of it') }),
    examples: ['talaria permissions revoke 1', 'talaria permissions revoke "rm -r ~/sandal/build"'],
    async *run({ which }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      refuseNewerHome(app);
      const approvals = app.approvals();
      const wanted = which.join(' ');
      const allowed = approvals.list();
      const given =
        allowed.find(({ key }) => key === wanted) ?? allowed[/^\d+$/.test(wanted) ? Number(wanted) - 1 : -1];
      if (given === undefined) {
        yield refused(
          'not-allowed-before',
          `Nothing that was allowed is ${wanted}.`,
          '`permissions` lists it with numbers.',
        );
        return;
      }
      await approvals.revoke(given.key);
      const elsewhere = given.scope === 'always' ? ' A chat that is open elsewhere keeps it until it ends.' : '';
      yield line(`You are asked again before: ${given.key}.${elsewhere}`);
      yield { type: 'data', value: { revoked: given.key } };
    },
  });
}
