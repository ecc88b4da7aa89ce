/** One composed agent in a throw-away home: real store, memory, tools and files. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { AnyCommand, CommandContext } from '#core/agent/command-spec.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { Ground } from '#core/agent/room.ts';
import type { CommandOutput, TurnEvent } from '#public/talaria.ts';
import type { App, AppOptions } from '#surfaces/app/app.ts';
import { roomCommands, shellCommands } from '#surfaces/app/commands/shell-commands.ts';
import type { Environment } from '#surfaces/app/environment.ts';
import { lendGround } from '#surfaces/app/ground.ts';
import { composeApp, openHouse } from '#surfaces/app/house.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { createPlainWalls } from '../../doubles/plain-walls.ts';

export interface Stage {
  readonly temp: TempHome;
  readonly environment: Environment;
  /** The home's folder. */
  readonly root: string;
  /** The folder that the person works in. */
  readonly cwd: string;
  open(options?: Partial<AppOptions>): Promise<App>;
}

export function createStage(t: TestContext, variables: Record<string, string> = {}): Stage {
  const temp = createTempHome(t);
  const root = join(temp.path, 'home');
  const cwd = join(temp.path, 'work');
  mkdirSync(cwd);
  const environment = {
    variables: { PATH: process.env.PATH, HOME: temp.path, TALARIA_HOME: root, ...variables },
    cwd,
    userHome: temp.path,
  };
  return {
    temp,
    environment,
    root,
    cwd,
    open: async (options = {}) => {
      const extra = { walls: createPlainWalls(), ...options.extra };
      const app = await composeApp({ environment, ...options, extra });
      t.after(() => app.shutdown());
      return app;
    },
  };
}

export async function openConversation(
  app: App,
  options: Partial<
    Pick<Parameters<App['openConversation']>[0], 'source' | 'cwd' | 'resume' | 'continueLast' | 'approver'>
  > = {},
): Promise<Conversation> {
  const { approver = denyingApprover, ...rest } = options;
  const opened = await app.openConversation({
    source: 'cli',
    cwd: app.environment.cwd,
    approver,
    asker: absentAsker,
    ...rest,
  });
  if (!opened.ok) throw new Error(opened.detail);
  return opened.value;
}

/** What is lent to a room in this home: by an agent that is there, or by a house that opens what is asked for. */
export function groundOf(
  t: TestContext,
  {
    environment,
    app,
    ...options
  }: Pick<AppOptions, 'environment' | 'clock'> & {
    readonly app?: () => Promise<App>;
    readonly extra?: AppOptions['extra'] | undefined;
  },
): Ground {
  const house = openHouse({ environment, ...options, extra: { walls: createPlainWalls(), ...options.extra } });
  t.after(() => house.shutdown());
  const { home, clock } = house;
  return lendGround({ environment, home, clock, app: app ?? house.app, ...(app ? {} : { door: house.door }) });
}

export interface PlayedTurn {
  readonly events: readonly TurnEvent[];
  readonly end: Extract<TurnEvent, { type: 'turn-end' }>;
}

export async function play(conversation: Conversation, text: string): Promise<PlayedTurn> {
  const events: TurnEvent[] = [];
  for await (const event of conversation.send(text, { signal: new AbortController().signal })) events.push(event);
  const end = events.at(-1);
  if (end?.type !== 'turn-end') throw new Error('the turn did not end');
  return { events, end };
}

export interface RanCommand {
  readonly outputs: readonly CommandOutput[];
  /** Lines and cells, one a line. */
  readonly text: string;
  readonly failure: Extract<CommandOutput, { type: 'failure' }> | undefined;
  readonly data: unknown;
}

/** Runs one command as the shell would. */
export async function runCommand(
  stage: Stage,
  name: string,
  input: unknown = {},
  ask?: (question: string) => Promise<string>,
): Promise<RanCommand> {
  let app: Promise<App> | undefined;
  const options = {
    environment: stage.environment,
    app: () => {
      app ??= composeApp({ environment: stage.environment, extra: { walls: createPlainWalls() } });
      return app;
    },
  };
  const own = shellCommands(options).find((candidate) => candidate.name === name);
  const command = own ?? (await roomCommands(options)).find((candidate) => candidate.name === name);
  if (!command) throw new Error(`no command ${name}`);
  try {
    return await runSpec(command, input, { cwd: stage.cwd, ...(ask ? { ask } : {}) });
  } finally {
    await (await app)?.shutdown();
  }
}

/** One command with its own surroundings. */
export async function runSpec(
  command: AnyCommand,
  input: unknown,
  place: Pick<CommandContext, 'cwd'> & Partial<CommandContext>,
): Promise<RanCommand> {
  const context = { signal: new AbortController().signal, ...place };
  const outputs = await Array.fromAsync(command.run(command.input.parse(input) as never, context));
  const failure = outputs.find((output) => output.type === 'failure');
  const data = outputs.find((output) => output.type === 'data');
  return { outputs, text: outputs.flatMap(linesOf).join('\n'), failure, data: data?.value };
}

function linesOf(output: CommandOutput): readonly string[] {
  if (output.type === 'line') return [output.text];
  if (output.type === 'table') return [output.columns, ...output.rows].map((row) => row.join(' | '));
  return output.type === 'failure' ? [`${output.message} ${output.fix}`] : [];
}
