// Owns `peers messages`: the talk with one peer, or what is new, as the agent's tool reads it (acts/read-messages). Invariant: words of others
// stand in marked lines.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { plural } from '#base/text.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { HiveGround } from '../hive-ground.ts';
import { findPeer } from '../peers/find-peer.ts';
import { plainName } from '../peers/plain-text.ts';
import { callNames } from '../provider/peers-known.ts';
import { type ReadMessage, readMessages, readNews } from '../provider/read-messages.ts';
import { type PeerCommand, shownBlock, withPeers } from './with-peers.ts';

export function messagesCommand(ground: HiveGround): AnyCommand {
  return defineCommand<{ readonly peer?: string | undefined }>({
    name: 'peers messages',
    summary: 'Read what peers wrote: what is new, or the last messages with one; they count as read',
    surfaces: ['cli', 'chat'],
    input: z.object({
      peer: z.string().min(1, 'name a peer').optional().describe('Name or id of a peer; absent: whatever is new'),
    }),
    positional: ['peer'],
    examples: ['talaria peers messages', 'talaria peers messages hermes-of-carol'],
    run: ({ peer }, context) =>
      withPeers(ground, context, (command) => (peer === undefined ? showNews(command) : showTalk(command, peer))),
  });
}

async function* showTalk(command: PeerCommand, asked: string): AsyncGenerator<CommandOutput> {
  const { transport, signal, reached, notes, warn } = command;
  const peers = transport.peers();
  const known = findPeer(peers, asked);
  const messages = await readMessages({ transport, warn }, known, signal);
  const called = plainName(callNames(peers)(known.peer));
  for (const text of messageLines(messages)) yield { type: 'line', text };
  yield { type: 'line', text: `Answer: talaria peers send ${called} "…"` };
  const { name: peer, id } = known.peer;
  yield { type: 'data', value: { peer, id, messages, reached, notes } as unknown as JsonValue };
}

async function* showNews({ transport, signal, reached, notes, warn }: PeerCommand): AsyncGenerator<CommandOutput> {
  const { news, more } = await readNews({ transport, warn }, signal);
  for (const { peer, messages, error } of news) {
    yield { type: 'line', text: plainName(peer) };
    const lines = error === undefined ? messageLines(messages) : [`  could not be read: ${error}`];
    for (const text of lines) yield { type: 'line', text };
  }
  if (news.every((talk) => talk.new === 0)) yield { type: 'line', text: 'Nothing is new.' };
  if (more > 0) yield { type: 'line', text: `${plural(more, 'peer')} more with new messages: type it again.` };
  yield { type: 'line', text: 'All with one: talaria peers messages PEER · answer: talaria peers send PEER "…"' };
  yield { type: 'data', value: { conversations: news, more, reached, notes } as unknown as JsonValue };
}

/** Oldest first, as one reads. */
function messageLines(messages: readonly ReadMessage[]): readonly string[] {
  if (messages.length === 0) return ['  nothing was said yet'];
  return [...messages].reverse().flatMap((message) => {
    const at = message.time.slice(0, 16).replace('T', ' ');
    const head = `  ${at} ${plainName(message.from)}${message.new ? ' (new)' : ''}`;
    return [head, shownBlock(message.text, '    | ') || '    | (nothing)'];
  });
}
