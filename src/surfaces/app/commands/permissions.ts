// Owns what the owner lets the agent do: `permissions show|revoke`, what runs without being asked for, and `trust show|give|revoke`, the project
// file of a folder. Knows approvals by the app alone. Invariants: what was taken back is asked for again from the next call on, in this process
// and in every one that starts later; what is agreed to is the text that was shown, and it counts from the next session on.

import { resolve } from 'node:path';
import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import { type AnyCommand, type CommandOutput, defineCommand, line, refused } from '#core/agent/command-spec.ts';
import type { WallState } from '#core/tools/walls/walls.ts';
import type { App, ApprovalMode } from '../app.ts';
import { editConfig, loadConfig } from '../home/config.ts';
import { refuseNewerHome } from '../home/session-door.ts';
import {
  describeProject,
  distrustProject,
  lookAtProject,
  type ProjectStanding,
  trustedProjects,
  trustProject,
} from '../home/trust.ts';
import { wallsLine } from '../walls.ts';
import type { CommandDeps } from './command-deps.ts';

export function permissionsCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [showPermissions(deps), revokePermissions(deps)];
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

function showPermissions(deps: CommandDeps): AnyCommand {
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

function revokePermissions(deps: CommandDeps): AnyCommand {
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
  const edited = await editConfig(app.home.config, [{ path: ['sandbox', setting], value: kept }]);
  if (!edited.ok) throw new TalariaError(edited.detail, { code: edited.reason });
  return `${key} is taken out of sandbox.${setting}; what is open now keeps it until it ends.`;
}

export function trustCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [showTrust(deps), give(deps), revokeTrust(deps)];
}

const VERDICTS: Readonly<Record<ProjectStanding['verdict'], string>> = {
  trusted: 'You agreed to it: new sessions here follow it.',
  changed: 'New sessions leave it out until you agree to it as it is now: `trust give`.',
  unknown: 'New sessions leave it out until you agree to it: `trust give`.',
};

const NO_FILE = 'There is no .talaria.md, AGENTS.md or CLAUDE.md here or above.';

function showTrust({ home }: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'trust show',
    summary: 'Show the project file here, and those that may instruct the agent',
    surfaces: ['cli', 'chat'],
    input: z.object({}),
    async *run(_input, { cwd }): AsyncGenerator<CommandOutput> {
      const here = lookAtProject(home, cwd);
      if (here === undefined) yield line(NO_FILE);
      else {
        for (const text of await describeProject(here)) yield line(text);
        yield line(VERDICTS[here.verdict]);
      }
      const trusted = trustedProjects(home).map(({ path, sha256, at }) => ({ path, sha256, at }));
      if (trusted.length > 0)
        yield {
          type: 'table',
          columns: ['agreed to', 'content'],
          rows: trusted.map(({ path, sha256 }) => [path, sha256.slice(0, 12)]),
        };
      const said = here === undefined ? null : { path: here.file.path, verdict: here.verdict };
      yield { type: 'data', value: { here: said, trusted } };
    },
  });
}

function give({ home, clock }: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'trust give',
    summary: 'Agree to the project file here, as it is now',
    surfaces: ['cli', 'chat'],
    input: z.object({}),
    async *run(_input, { cwd }): AsyncGenerator<CommandOutput> {
      const here = lookAtProject(home, cwd);
      if (here === undefined) {
        yield refused('no-project-file', NO_FILE, 'Write one, or let /init do it.');
        return;
      }
      for (const text of await describeProject(here)) yield line(text);
      trustProject(home, here.file, clock);
      yield line('It instructs the agent in every session that begins from now on, until it changes.');
      yield { type: 'data', value: { path: here.file.path, trusted: true } };
    },
  });
}

function revokeTrust({ home }: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'trust revoke',
    summary: 'Take it back: the project file is left out again',
    surfaces: ['cli', 'chat'],
    positional: ['path'],
    input: z.object({ path: z.string().optional().describe('Default: the project file here') }),
    examples: ['talaria trust revoke', 'talaria trust revoke ~/sandal/AGENTS.md'],
    async *run({ path }, { cwd }): AsyncGenerator<CommandOutput> {
      const meant = path === undefined ? lookAtProject(home, cwd)?.file.path : resolve(cwd, path);
      if (meant === undefined || !distrustProject(home, meant)) {
        const what = meant === undefined ? NO_FILE : `You have not agreed to ${meant}.`;
        yield refused('not-trusted', `${what} Nothing was taken back.`, '`trust` lists what you agreed to.');
        return;
      }
      yield line(`${meant} is left out of every session that begins from now on.`);
      yield { type: 'data', value: { path: meant, trusted: false } };
    },
  });
}
