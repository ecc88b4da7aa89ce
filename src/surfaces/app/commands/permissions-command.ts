// Owns `permissions show|revoke`: what runs without being asked for, and taking one of it back. Knows approvals by the app alone.
// Invariant: what was taken back is asked for again from the next call on, in this process, and in every one that starts later.
import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { WallState } from '#core/tools/walls/walls.ts';
import type { App, ApprovalMode } from '../app.ts';
import { wallsLine } from '../first-screen.ts';
import { loadConfig } from '../home/config.ts';
import { editConfig } from '../home/edit-config.ts';
import { refuseNewerHome } from '../home/newer-home.ts';
import { type CommandDeps, line } from './command-deps.ts';

export function permissionsCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [show(deps), revoke(deps)];
}

const RISKY: Readonly<Record<WallState['kind'], string>> = {
  walls: 'what loses what was there before the session, acts on others, or meets a wall',
  machine:
    'what deletes or overwrites what was there before, publishes, changes the machine, reads keys or writes outside the folder',
  none: 'all that does more than read',
};

const MODES: Readonly<Record<ApprovalMode, string>> = {
  ask: 'You are asked before anything risky runs: ',
  deny: 'Nothing risky runs: ',
  off: 'What stays in the folder or goes over the network is not asked about. What goes beyond is; what is never run still is not.',
  'read-only': 'Only tools that read run; nothing else does, asked or not.',
};

function show(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'permissions show',
    summary: 'Show what runs without asking you',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      const { mode: configured } = app.loaded.config.approvals;
      const mode = app.approvalMode();
      yield line(mode === 'ask' || mode === 'deny' ? `${MODES[mode]}${RISKY[app.walls().state().kind]}.` : MODES[mode]);
      if (mode !== configured) yield line('So it was started (--permission-mode or --yes); it holds for this run.');
      yield line(`approvals.mode is ${configured}; \`talaria config set approvals.mode ask|deny|off\` changes it.`);
      yield line(`Walls: ${wallsLine(app.walls().state())}.`);
      const given = givenOf(app);
      if (given.length === 0) yield line('You have allowed nothing for more than once.');
      else {
        yield {
          type: 'table',
          columns: ['', 'until', 'allowed without asking'],
          rows: given.map(({ key, until }, at) => [String(at + 1), until, key]),
        };
        yield line('`permissions revoke 1` takes the first one back.');
      }
      yield {
        type: 'data',
        value: { mode, walls: { ...app.walls().state() }, allowed: given.map((one) => ({ ...one })) },
      };
    },
  });
}

interface Given {
  readonly key: string;
  readonly until: string;
  /** It stands in the configuration, under this name of `sandbox`. */
  readonly setting?: 'hosts' | 'paths';
}

/** Answers of the owner, then what the configuration opens. */
function givenOf(app: App): readonly Given[] {
  const { sandbox } = app.loaded.config;
  return [
    ...app
      .approvals()
      .list()
      .map(({ key, scope }) => ({ key, until: UNTIL[scope] })),
    ...(['hosts', 'paths'] as const).flatMap((setting) =>
      sandbox[setting].map((key) => ({ key, until: `sandbox.${setting}`, setting })),
    ),
  ];
}

const UNTIL = { always: 'taken back', session: 'this chat ends' } as const;

function revoke(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'permissions revoke',
    summary: 'Take back what was allowed: you are asked again',
    surfaces: ['cli', 'chat'],
    positional: ['which...'],
    input: z.object({ which: z.array(z.string()).min(1).describe('Its number in `permissions`, or the whole of it') }),
    examples: ['talaria permissions revoke 1', 'talaria permissions revoke "reach host registry.npmjs.org:443"'],
    async *run({ which }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      refuseNewerHome(app);
      const wanted = which.join(' ');
      const all = givenOf(app);
      const given = all.find(({ key }) => key === wanted) ?? all[/^\d+$/.test(wanted) ? Number(wanted) - 1 : -1];
      if (given === undefined) {
        yield refused(
          'not-allowed-before',
          `Nothing that was allowed is ${wanted}.`,
          '`permissions` lists it with numbers.',
        );
        return;
      }
      yield line(await takeBack(app, given));
      yield { type: 'data', value: { revoked: given.key } };
    },
  });
}

async function takeBack(app: App, { key, until, setting }: Given): Promise<string> {
  if (setting === undefined) {
    await app.approvals().revoke(key);
    const elsewhere = until === UNTIL.always ? ' A chat that is open elsewhere keeps it until it ends.' : '';
    return `You are asked again before: ${key}.${elsewhere}`;
  }
  const { config } = await loadConfig(app.home.config);
  const kept = config.sandbox[setting].filter((other) => other !== key);
  const edited = await editConfig(app.home.config, ['sandbox', setting], kept);
  if (!edited.ok) throw new TalariaError(edited.detail, { code: edited.reason });
  return `${key} is taken out of sandbox.${setting}; what is open now keeps it until it ends.`;
}
