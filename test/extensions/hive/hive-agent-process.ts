/** One agent in a process of its own, for the tests in which two share a home or one is killed: reads a command a line, answers a line. Arguments: address of the server, user id, device id, folder. */
import { createInterface } from 'node:readline';
import type { JsonObject } from '#public/talaria.ts';
import { Agent, remoteKeyServer, room } from './key-stage.ts';

const [address = '', userId = '', deviceId = '', folder = ''] = process.argv.slice(2);

interface Command {
  readonly do: 'sync' | 'say' | 'read' | 'warnings';
  readonly room?: string;
  readonly members?: readonly string[];
  readonly text?: string;
  readonly event?: JsonObject;
}

const agent = await Agent.open({ server: remoteKeyServer(address), userId, deviceId, folder });

answer({ ready: true, position: agent.since ?? null });

for await (const line of createInterface({ input: process.stdin })) {
  try {
    answer({ value: (await run(JSON.parse(line) as Command)) ?? null });
  } catch (error) {
    answer({ error: error instanceof Error ? `${(error as { code?: string }).code} ${error.message}` : String(error) });
  }
}

await agent.crypto.close();

async function run(command: Command): Promise<unknown> {
  if (command.do === 'sync') return agent.sync();
  if (command.do === 'read') return agent.read(command.event ?? {});
  if (command.do === 'warnings') return agent.warnings;
  return agent.say(room(command.room ?? '', ...(command.members ?? [])), command.text ?? '');
}

function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
