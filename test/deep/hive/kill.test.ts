/** kill -9 of an agent in the middle of sending and introducing: nothing reaches the wrong one, nothing twice, what was said to be done is. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { HiveAgent } from '../../contract/hive/hive-agent.ts';
import { acquainted, joinedRooms, NEVER } from '../../contract/hive/hive-scenes.ts';
import { HiveStage, OFF, ON, onFake, type RowsMode } from '../../contract/hive/hive-stage.ts';
import { verifies } from '../../verifies.ts';
import type { AgentTask } from './agent-process.ts';
import { messagesIn } from './read-room.ts';
import { runAgent } from './run-agent.ts';

const KILLS = 25;
/** Messages of one life: all lives together stay below what one look reads back from each friend. */
const MOST = 150;
const SEED = Number(process.env.SEED ?? 4711);
const ground = { name: 'fake homeserver', isFake: true, start: onFake() };

describe('kill -9 of an agent', () => {
  for (const mode of [OFF, ON]) {
    const name = mode.e2ee ? 'both switches on' : 'both switches off';
    verifies(['R4.54', 'R4.55', 'R4.60', 'R4.75', 'R4.36'], `while it sends: ${name}`, {
      options: { timeout: 600_000 },
      run: () => HiveStage.run({ ground, mode }, whileItSends),
    });
    verifies(['R4.41', 'R4.54', 'R4.71'], `while it introduces: ${name}`, {
      options: { timeout: 600_000 },
      run: () => HiveStage.run({ ground, mode }, whileItIntroduces),
    });
  }
});

const FRIENDS = { bob: 'Bob builds.', carol: 'Carol audits.', dave: 'Dave cooks.', erin: 'Erin sails.' };

async function whileItSends(on: HiveStage): Promise<void> {
  const alice = await on.agent('hermes-of-alice');
  const friends = Object.values(await acquainted(on, alice, FRIENDS));
  await alice.close();
  const random = randomFrom(SEED);
  const done = new Set<number>();
  let from = 0;
  for (let i = 0; i < KILLS; i++) {
    const act = { type: 'talk', to: friends.map(({ id }) => id), from, count: MOST } as const;
    const { lines } = await runAgent(taskOf(on, alice, act), 150 + random() * 600);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('FAILED')),
      [],
    );
    for (const line of lines) if (line.startsWith('DONE ')) done.add(Number(line.slice(5)));
    from = Math.max(from, ...done) + 2;
  }
  assert.ok(done.size > KILLS, `only ${done.size} were sent`);
  const heard: string[] = [];
  for (const friend of friends) {
    await friend.prefetch();
    const said = await messagesIn(friend, alice.id);
    const numbered = said.filter((text) => text.startsWith('number '));
    assert.ok(
      numbered.every((text) => text.endsWith(` for ${friend.id}`)),
      'to the right one',
    );
    assert.equal(new Set(numbered).size, numbered.length, 'once');
    heard.push(...numbered);
  }
  const numbers = new Set(heard.map((text) => Number(/^number (\d+)/.exec(text)?.[1])));
  assert.deepEqual(
    [...done].filter((n) => !numbers.has(n)),
    [],
  );
}

async function whileItIntroduces(on: HiveStage): Promise<void> {
  const alice = await on.agent('hermes-of-alice');
  const made = await acquainted(on, alice, FRIENDS);
  const friends = Object.values(made);
  await alice.close();
  const contexts = new Map(friends.map((friend, i) => [friend.userId, Object.values(FRIENDS)[i] ?? '']));
  const pairs = friends.flatMap((a, i) => friends.slice(i + 1).map((b) => [a.id, b.id] as const));
  const random = randomFrom(SEED + 1);
  for (let i = 0; i < KILLS; i++) {
    const rest = [...pairs.slice(i % pairs.length), ...pairs.slice(0, i % pairs.length)];
    await runAgent(taskOf(on, alice, { type: 'introduce', pairs: rest }), 100 + random() * 400);
  }
  await runAgent(taskOf(on, alice, { type: 'look' }));
  for (let turn = 0; turn < 4; turn++) for (const friend of friends) await friend.prefetch();
  assert.ok((await introductionsAreRight(on, alice, contexts)) >= pairs.length);
  for (const friend of friends) contextsAreRight(friend, contexts, alice);
  await isPrivate(friends);
}

/** Each room has the introducer and two, each line is about one of them, in the right words, once. Gives the number of rooms. */
async function introductionsAreRight(
  on: HiveStage,
  alice: HiveAgent,
  contexts: ReadonlyMap<string, string>,
): Promise<number> {
  const raw = on.rawOf(alice);
  let rooms = 0;
  for (const room of await joinedRooms(raw)) {
    const members = Object.keys(await raw.members(room));
    if (members.length === 2) continue;
    rooms += 1;
    assert.equal(members.length, 3);
    const lines = saidInClear(on, room, alice);
    if (on.mode.e2ee) assert.deepEqual(lines, []);
    assert.equal(new Set(lines).size, lines.length, lines.join(' | '));
    const expected = members.map((member) => `About ${member}: ${contexts.get(member)}`);
    for (const line of lines) assert.ok(line.startsWith('Why: pair ') || expected.includes(line), line);
  }
  return rooms;
}

function saidInClear(on: HiveStage, room: string, { userId }: HiveAgent): readonly string[] {
  return on.doors
    .timeline(room)
    .filter(({ sender, type }) => sender === userId && type === 'm.room.message')
    .map(({ content }) => String((content as Record<string, unknown>).body));
}

function contextsAreRight(friend: HiveAgent, contexts: ReadonlyMap<string, string>, alice: HiveAgent): void {
  for (const { peer } of friend.transport.peers()) {
    if (peer.id === alice.id) continue;
    const at = peer.id.lastIndexOf('@');
    const expected = contexts.get(`@${peer.id.slice(0, at)}:${peer.id.slice(at + 1)}`);
    assert.ok(['', expected].includes(peer.context), `${friend.name}: ${peer.id}: ${peer.context}`);
  }
}

async function isPrivate(friends: readonly HiveAgent[]): Promise<void> {
  const [first, second, ...others] = friends as [HiveAgent, HiveAgent, ...HiveAgent[]];
  await first.transport.send(second.id, 'only for you', NEVER);
  for (const friend of friends.slice(1)) await friend.prefetch();
  assert.ok((await messagesIn(second, first.id)).includes('only for you'));
  for (const other of others)
    for (const { peer } of other.transport.peers())
      assert.ok(!(await messagesIn(other, peer.id)).includes('only for you'), other.name);
}

function taskOf(
  on: HiveStage,
  agent: { account: AgentTask['account']; folder: string },
  act: AgentTask['act'],
): AgentTask {
  const mode: RowsMode = on.mode;
  return {
    url: on.server.url,
    serverName: on.server.serverName,
    account: agent.account,
    folder: agent.folder,
    ...mode,
    act,
  };
}

/** Small, seeded, good enough to pick moments. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
