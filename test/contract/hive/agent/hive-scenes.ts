/** How agents come to know each other in the rows: by hand over plain HTTP, or by what the agents themselves do. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type HiveRawClient, type RawEvent, roomPath } from '../hive-raw-client.ts';
import type { HiveAgent } from './hive-agent.ts';
import type { HiveStage } from './hive-stage.ts';

/** Somebody who is introduced: a client or an agent, and what is said about them. */
export type Introduced = readonly [who: { readonly userId: string }, context: string];

export interface ByHand {
  readonly reason?: string;
  readonly roomVersion?: string;
  readonly encrypted?: boolean;
}

/** An introduction as any standard client would make it. Gives the room. */
export async function introduceByHand(
  creator: HiveRawClient,
  introduced: readonly Introduced[],
  { reason, roomVersion, encrypted }: ByHand = {},
): Promise<string> {
  const room = await creator.createRoom({
    name: `Introduction: ${introduced.map(([who]) => localpart(who.userId)).join(' <> ')}`,
    preset: 'private_chat',
    invite: introduced.map(([who]) => who.userId),
    ...(roomVersion === undefined ? {} : { room_version: roomVersion }),
    ...(encrypted ? { initial_state: [ENCRYPTED] } : {}),
  });
  for (const [who, context] of introduced) await creator.say(room, `About ${who.userId}: ${context}`);
  if (reason !== undefined) await creator.say(room, `Why: ${reason}`);
  return room;
}

export const ENCRYPTED = {
  type: 'm.room.encryption',
  state_key: '',
  content: { algorithm: 'm.megolm.v1.aes-sha2' },
} as const;

export const OF_BOB = 'Bob builds enclaves and needs a security audit.';
export const OF_CAROL = 'Carol specializes in TEE\nattestation and security audits.\n\n- slow in August';

export interface ByHandScene {
  readonly alice: HiveRawClient;
  readonly bob: HiveAgent;
  readonly carol: HiveRawClient;
  readonly room: string;
}

/** Alice (plain HTTP) introduced the agent Bob and Carol (plain HTTP, already there); Bob has not looked yet. */
export async function bobIntroduced(stage: HiveStage, hand: ByHand = {}): Promise<ByHandScene> {
  const alice = await stage.raw('hermes-of-alice');
  const carol = await stage.raw('hermes-of-carol');
  const bob = await stage.agent('hermes-of-bob');
  const room = await introduceByHand(
    alice,
    [
      [bob, OF_BOB],
      [carol, OF_CAROL],
    ],
    hand,
  );
  await carol.join(room);
  return { alice, bob, carol, room };
}

/** Alice and friends that are all agents; she made contact with each, and each has taken it in. */
export async function acquainted<Name extends string>(
  stage: HiveStage,
  alice: HiveAgent,
  friends: Readonly<Record<Name, string>>,
): Promise<Readonly<Record<Name, HiveAgent>>> {
  await alice.prefetch();
  const made: Record<string, HiveAgent> = {};
  for (const [name, context] of Object.entries<string>(friends)) {
    const friend = await stage.agent(`hermes-of-${name}`);
    await friend.prefetch();
    await alice.transport.contact({ id: friend.id, context, about: 'Alice knows people.' }, NEVER);
    await friend.prefetch();
    made[name] = friend;
  }
  await alice.prefetch();
  return made as Record<Name, HiveAgent>;
}

export interface AgentScene {
  readonly alice: HiveAgent;
  readonly bob: HiveAgent;
  readonly carol: HiveAgent;
}

/** Three agents; Alice introduced Bob and Carol with the tool, and both have looked. */
export async function allIntroduced(stage: HiveStage): Promise<AgentScene> {
  const alice = await stage.agent('hermes-of-alice');
  const { bob, carol } = await acquainted(stage, alice, { bob: OF_BOB, carol: OF_CAROL });
  const answer = await alice.call('hivemind_introduce_peers', {
    peer_a: bob.name,
    peer_b: carol.name,
    reason: 'Carol can audit what Bob builds.',
  });
  assert.equal(answer.isError, false, answer.text);
  for (const agent of [bob, carol, bob, alice]) await agent.prefetch();
  return { alice, bob, carol };
}

export const NEVER = new AbortController().signal;

/** Every event of a room's timeline, newest first, as this client sees it. */
export async function timeline(client: HiveRawClient, room: string): Promise<readonly RawEvent[]> {
  const events: RawEvent[] = [];
  let from: string | undefined;
  do {
    const page = await client.messages(room, from === undefined ? {} : { from });
    events.push(...page.chunk);
    from = page.chunk.length === 0 ? undefined : page.end;
  } while (from !== undefined);
  return events;
}

let questions = 0;

/** Rooms that this account has joined, from an initial sync; each asks in other words, since servers keep such answers for a while. */
export async function joinedRooms(client: HiveRawClient): Promise<readonly string[]> {
  questions += 1;
  const filter = JSON.stringify({ presence: { not_senders: [`@${questions}:nobody.invalid`] } });
  return Object.keys((await client.sync({ filter })).rooms?.join ?? {});
}

/** The one room whose members (joined or invited) are exactly these. */
export async function roomOf(client: HiveRawClient, members: readonly { readonly userId: string }[]): Promise<string> {
  const wanted = members.map(({ userId }) => userId).sort();
  const found: string[] = [];
  for (const room of await joinedRooms(client)) {
    const there = Object.entries(await client.members(room)).filter(([, is]) => is === 'join' || is === 'invite');
    if (JSON.stringify(there.map(([user]) => user).sort()) === JSON.stringify(wanted)) found.push(room);
  }
  assert.equal(found.length, 1, `rooms of ${wanted.join(', ')}: ${found.length}`);
  return found[0] ?? '';
}

/** A value of account data, undefined when there is none. */
export async function accountData(
  client: HiveRawClient,
  type: string,
  room?: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const where = room === undefined ? '' : `/rooms/${encodeURIComponent(room)}`;
  const path = `/v3/user/${encodeURIComponent(client.userId)}${where}/account_data/${encodeURIComponent(type)}`;
  const { status, body } = await client.request({ method: 'GET', path });
  if (status === 404) return undefined;
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

export async function redact(client: HiveRawClient, room: string, eventId: string): Promise<void> {
  await client.call('PUT', `${roomPath(room)}/redact/${encodeURIComponent(eventId)}/${randomUUID()}`, {});
}

export function localpart(userId: string): string {
  return userId.slice(1, userId.indexOf(':'));
}

/** `@name:server` → `name@server`. */
export function opaque({ userId }: { readonly userId: string }): string {
  return userId.slice(1).replace(':', '@');
}
