// Owns `trust show|give|revoke`: the project file of a folder, as the owner lets it instruct the agent or not. Knows no session.
// Invariant: what is agreed to is the text that was shown; it counts from the next session on.
import { resolve } from 'node:path';
import { z } from 'zod';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import {
  describeProject,
  distrustProject,
  lookAtProject,
  type ProjectStanding,
  trustedProjects,
  trustProject,
} from '../home/trust.ts';
import { type CommandDeps, line } from './command-deps.ts';

export function trustCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [show(deps), give(deps), revoke(deps)];
}

const VERDICTS: Readonly<Record<ProjectStanding['verdict'], string>> = {
  trusted: 'You agreed to it: new sessions here follow it.',
  changed: 'New sessions leave it out until you agree to it as it is now: `trust give`.',
  unknown: 'New sessions leave it out until you agree to it: `trust give`.',
};

const NO_FILE = 'There is no .talaria.md, AGENTS.md or CLAUDE.md here or above.';

function show({ home }: CommandDeps): AnyCommand {
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

function revoke({ home }: CommandDeps): AnyCommand {
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
