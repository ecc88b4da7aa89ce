// The ground of tests in which an agent with keys on disk is killed: a server, Alice in this process, and Bob as often as he is started.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { JsonObject } from '#base/json.ts';
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

type Moment = 'before' | 'after';

/** He dies around a request of what he says; the next thing he says is read, and so is the answer. */
export async function diesWhileSaying(t: TestContext, moment: Moment, step: string): Promise<void> {
  const { server, alice, start } = await killStage(t);
  const first = await start();
  await first.run({ do: 'sync' });
  server[moment] = killAt(first, step);
  assert.equal(await first.run({ ...SAY, text: 'never sent' }), undefined);
  server[moment] = () => undefined;
  const second = await start();
  await second.run({ do: 'sync' });
  const said = await second.run<JsonObject>({ ...SAY, text: 'sent' });
  await alice.sync();
  assert.equal(await alice.read(said ?? {}), 'sent');
  const answer = await alice.say(PAIR, 'answer');
  await second.run({ do: 'sync' });
  assert.equal(await second.run({ do: 'read', event: answer }), 'answer');
}

/** He dies around the upload of his first keys; the same device goes on. */
export async function diesAtFirstKeys(t: TestContext, moment: Moment): Promise<void> {
  const { server, alice, start } = await killStage(t);
  const first = await start();
  server[moment] = killAt(first, 'upload');
  assert.equal(await first.run({ do: 'sync' }), undefined);
  server[moment] = () => undefined;
  const second = await start();
  await second.run({ do: 'sync' });
  const said = await alice.say(PAIR, 'hello');
  await second.run({ do: 'sync' });
  assert.equal(await second.run({ do: 'read', event: said }), 'hello');
  assert.deepEqual(await second.run({ do: 'warnings' }), []);
}
