/** How the rows read what the tools answer: by the shapes that the notes give (R4.62, tools), and nothing more. */
import assert from 'node:assert/strict';
import type { HiveAgent, ToolAnswer } from './hive-agent.ts';

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
