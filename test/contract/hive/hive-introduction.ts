/** Three agents on a homeserver of their own, and the room that an introduction makes, over plain HTTP. */
import assert from 'node:assert/strict';
import type { TestHomeserver } from './hive-homeserver.ts';
import { HiveRawClient, RawError } from './hive-raw-client.ts';

export type HomeserverStart = () => Promise<{ readonly server: TestHomeserver; stop(): Promise<void> }>;

export interface Agents {
  readonly server: TestHomeserver;
  readonly alice: HiveRawClient;
  readonly bob: HiveRawClient;
  readonly carol: HiveRawClient;
  /** A room of Alice with Bob and Carol invited and introduced. */
  readonly room: string;
}

export const REASON = 'Bob ships what Carol audits.';
export const ABOUT_BOB = 'Bob builds enclaves.\nHe looks for an auditor.';
export const ABOUT_CAROL = 'Carol audits enclaves.';

/** Runs `body` with three new agents; the server is stopped after it. */
export async function withAgents(start: HomeserverStart, body: (agents: Agents) => Promise<void>): Promise<void> {
  const { server, stop } = await start();
  try {
    const [alice, bob, carol] = [
      await HiveRawClient.register(server, 'hermes-of-alice'),
      await HiveRawClient.register(server, 'hermes-of-bob'),
      await HiveRawClient.register(server, 'hermes-of-carol'),
    ];
    await body({ server, alice, bob, carol, room: await introduce(alice, [bob, ABOUT_BOB], [carol, ABOUT_CAROL]) });
  } finally {
    await stop();
  }
}

type Introduced = readonly [agent: HiveRawClient, context: string];

/** Makes the room, invites both, and posts who they are; nobody has joined yet but `by`. */
export async function introduce(by: HiveRawClient, a: Introduced, b: Introduced): Promise<string> {
  const name = `Introduction: ${localpart(a[0].userId)} <> ${localpart(b[0].userId)}`;
  const room = await by.createRoom({ name, preset: 'private_chat', invite: [a[0].userId, b[0].userId] });
  for (const [agent, context] of [a, b]) await by.say(room, about(agent, context));
  await by.say(room, `Why: ${REASON}`);
  return room;
}

export function about(agent: HiveRawClient, context: string): string {
  return `About ${agent.userId}: ${context}`;
}

/** Both invited ones join. */
export async function joinBoth({ bob, carol, room }: Agents): Promise<void> {
  await bob.join(room);
  await carol.join(room);
}

/** Who is joined, by user id, sorted. */
export async function joined(witness: HiveRawClient, room: string): Promise<readonly string[]> {
  const members = Object.entries(await witness.members(room));
  return members.flatMap(([user, membership]) => (membership === 'join' ? [user] : [])).sort();
}

export function users(...agents: readonly HiveRawClient[]): readonly string[] {
  return agents.map(({ userId }) => userId).sort();
}

export async function refused(work: Promise<unknown>, errcode = 'M_FORBIDDEN', status = 403): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof RawError, String(error));
    assert.deepEqual({ status: error.status, errcode: error.errcode }, { status, errcode });
    return true;
  });
}

/** As a banned one is refused: M_FORBIDDEN by the book, M_BAD_STATE by Synapse. */
export async function barred(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof RawError, String(error));
    assert.equal(error.status, 403);
    assert.match(error.errcode, /^M_(?:FORBIDDEN|BAD_STATE)$/);
    return true;
  });
}

function localpart(user: string): string {
  return user.slice(1, user.indexOf(':'));
}
