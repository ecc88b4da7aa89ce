// The ground of tests in which an agent with keys on disk is killed: a server, Alice in this process, and Bob as often as he is started.
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createTempHome } from '#testing/temp-home.ts';
import { Agent, room } from './hive-crypto-bench.ts';
import { HiveKeyServer, type ServerCall } from './hive-key-server.ts';
import { AgentProcess, serveKeys } from './hive-key-server-http.ts';

export const PAIR = room('!pair:x', '@alice:x', '@bob:x');
export const SAY = { do: 'say', room: PAIR.roomId, members: PAIR.members } as const;

/** Bob dies at the first request of that kind. */
export function killAt(agent: AgentProcess, step: string): (call: ServerCall) => void {
  return ({ userId, path }) => {
    if (userId !== '@bob:x' || path[2] !== step) return;
    agent.child.kill('SIGKILL');
    throw new Error('the caller is dead');
  };
}

export async function killStage(t: TestContext) {
  const server = new HiveKeyServer();
  const address = await serveKeys(server, t);
  const home = createTempHome(t);
  const alice = await Agent.open({ server, userId: '@alice:x', deviceId: 'ALICE', folder: join(home.path, 'alice') });
  t.after(() => alice.crypto.close());
  await alice.sync();
  const place = { address, userId: '@bob:x', deviceId: 'BOB', folder: join(home.path, 'bob', 'peers') };
  return { server, alice, start: () => AgentProcess.start(place, t) };
}
