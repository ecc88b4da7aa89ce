/** How agents come to know each other in the rows, by hand over plain HTTP or by what they do themselves, and how what the tools answer is read. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { HiveAgent, ScriptedInfer, ToolAnswer } from './hive-agent.ts';
import { type HiveRawClient, type RawEvent, roomPath } from './hive-raw-client.ts';
import type { HiveStage } from './hive-stage.ts';

/** Somebody who is introduced: a client or an agent, and what is said about them. */
export type Introduced = readonly [who: { readonly userId: string }, context: string];

export interface ByHand {
  readonly reason?: string;
  readonly roomVersion?: string;
  readonly encrypted?: boolean;
}

/** An introduction as any standard client would make it. Gives the room. */
export function introduceByHand(creator: HiveRawClient, ...introduced: readonly Introduced[]): Promise<string> {
  return introduceIn({}, creator, ...introduced);
}

/** The same in a room of another kind. */
export async function introduceIn(
  { reason, roomVersion, encrypted }: ByHand,
  creator: HiveRawClient,
  ...introduced: readonly Introduced[]
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
  const room = await introduceIn(hand, alice, [bob, OF_BOB], [carol, OF_CAROL]);
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

export interface Known {
  readonly who: HiveRawClient;
  readonly room: string;
}

let scenes = 0;

/** Bob, introduced to one peer for each of these words; `word` stands in the peer's context. */
export async function bobKnows(
  on: HiveStage,
  words: readonly string[],
  infer: ScriptedInfer | undefined,
): Promise<{ bob: HiveAgent; peers: readonly Known[] }> {
  scenes += 1;
  const alice = await on.raw(`alice-${scenes}`);
  const bob = await on.agent(`bob-${scenes}`, infer === undefined ? {} : { infer });
  const peers: Known[] = [];
  for (const word of words) {
    const who = await on.raw(`${word}-person-${scenes}`);
    const room = await introduceByHand(alice, [bob, 'Bob'], [who, `Somebody with ${word} skills.`]);
    await who.join(room);
    peers.push({ who, room });
  }
  return { bob, peers };
}

export const ALPHA = {
  needs: ['a compiler'],
  offers: ['apples'],
  expertise: ['orchards'],
  summary_text: 'Alpha grows apples.',
};

const BETA = { needs: ['apples'], offers: ['a compiler'], expertise: ['parsing'], summary_text: 'Beta compiles.' };

const GAMMA = { needs: ['water'], offers: ['wine'], expertise: ['miracles'], summary_text: 'Gamma turns.' };

export const PEOPLE = { alpha: ALPHA, beta: BETA, gamma: GAMMA };

/** Every pair fits. */
export const always =
  (confidence = 'high') =>
  () => ({ reason: 'Each needs what the other offers.', confidence });

export interface SeenPeer {
  readonly name: string;
  readonly id: string;
  readonly context: string;
  readonly introduced_by: string;
  readonly introduced_at: string;
  readonly status: string;
}

export interface SeenSuggestion {
  readonly peer_a: string;
  readonly peer_b: string;
  readonly reason: string;
  readonly confidence: string;
}

export interface SeenMessage {
  readonly from: string;
  readonly text: string;
  readonly time: string;
  readonly new?: boolean;
}

export async function listed(
  agent: HiveAgent,
): Promise<{ peers: readonly SeenPeer[]; suggestions: readonly SeenSuggestion[] }> {
  const answer = await agent.call('hivemind_list_peers');
  assert.equal(answer.isError, false, answer.text);
  const { peers, suggestions } = answer.json as { peers: readonly SeenPeer[]; suggestions: readonly SeenSuggestion[] };
  assert.ok(Array.isArray(peers) && Array.isArray(suggestions), answer.text);
  return { peers, suggestions };
}

export async function peersOf(agent: HiveAgent): Promise<readonly SeenPeer[]> {
  return (await listed(agent)).peers;
}

/** Names of who is known, sorted. */
export async function namesOf(agent: HiveAgent): Promise<readonly string[]> {
  return (await peersOf(agent)).map(({ name }) => name).sort();
}

export async function suggestionsOf(agent: HiveAgent): Promise<readonly SeenSuggestion[]> {
  return (await listed(agent)).suggestions;
}

export async function infoOf(agent: HiveAgent, peer: string): Promise<SeenPeer> {
  const answer = await agent.call('hivemind_get_peer_info', { peer });
  assert.equal(answer.isError, false, answer.text);
  return answer.json as SeenPeer;
}

/** Newest first. */
export async function messagesOf(agent: HiveAgent, peer: string): Promise<readonly SeenMessage[]> {
  const answer = await agent.call('hivemind_check_messages', { peer });
  assert.equal(answer.isError, false, answer.text);
  return messagesIn(answer.json);
}

/** Of everybody, by name. */
export async function allMessages(agent: HiveAgent): Promise<ReadonlyMap<string, readonly SeenMessage[]>> {
  const answer = await agent.call('hivemind_check_messages');
  assert.equal(answer.isError, false, answer.text);
  const groups = Array.isArray(answer.json) ? answer.json : (answer.json as { peers: readonly unknown[] }).peers;
  return new Map(
    (groups as readonly { readonly peer: string }[]).map((group) => [group.peer, messagesIn(group)] as const),
  );
}

function messagesIn(json: unknown): readonly SeenMessage[] {
  const messages = Array.isArray(json) ? json : (json as { readonly messages?: unknown }).messages;
  assert.ok(Array.isArray(messages), JSON.stringify(json));
  return messages as readonly SeenMessage[];
}

/** What the two said, without the lines by which they were introduced; newest first. */
export async function talkOf(agent: HiveAgent, peer: string): Promise<readonly string[]> {
  const messages = await messagesOf(agent, peer);
  return messages.map(({ text }) => text).filter((text) => !/^(?:About|Why)\b/.test(text));
}

export async function send(agent: HiveAgent, peer: string, message: string): Promise<void> {
  const answer = await agent.call('hivemind_send_to_peer', { peer, message });
  assert.equal(answer.isError, false, answer.text);
  assert.equal((answer.json as { sent?: unknown }).sent, true, answer.text);
}

/** The tool refuses, in words for the model. Gives the words. */
export async function refuses(
  agent: HiveAgent,
  [tool, args]: readonly [tool: string, args?: Readonly<Record<string, unknown>>],
): Promise<string> {
  const answer: ToolAnswer = await agent.call(tool, args);
  assert.equal(answer.isError, true, answer.text);
  speaksOfPeersOnly(answer.text, `${tool} refuses`);
  return answer.text;
}

const PROTOCOL = /\b(?:matrix|rooms?|sync|homeserver|megolm)\b/i;

const PROTOCOL_ID = /@[\w.=/-]+:[\w.-]+|![\w-]+:[\w.-]+/;

/** R4.5, R4.8: no word and no id of the protocol. */
export function speaksOfPeersOnly(text: string, where: string): void {
  assert.doesNotMatch(text, PROTOCOL, where);
  assert.doesNotMatch(text, PROTOCOL_ID, where);
}
