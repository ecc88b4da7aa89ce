// Owns `peers list`: who is known and what is suggested, in the words that stand in the agent's prompt. Asks no model.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { HiveGround } from '../hive-ground.ts';
import type { KnownPeer } from '../peers/peer-transport.ts';
import { plainName } from '../peers/plain-text.ts';
import { callNames, type PeersKnown, peersKnown } from '../provider/peers-known.ts';
import { renderPeers } from '../provider/peers-view.ts';
import { type PeerCommand, withPeers } from './with-peers.ts';

export function listCommand(ground: HiveGround): AnyCommand {
  return defineCommand({
    name: 'peers list',
    summary: 'List the agents that yours knows, and what is new',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({}),
    examples: ['talaria peers list', 'talaria peers list --json'],
    run: (_input, context) => withPeers(ground, context, list),
  });
}

async function* list({ transport, reached, notes }: PeerCommand): AsyncGenerator<CommandOutput> {
  const known = peersKnown(transport);
  if (known.peers.length === 0)
    yield { type: 'line', text: `You are ${plainName(known.selfId)}, and know nobody yet.` };
  else yield { type: 'line', text: renderPeers(known) };
  for (const text of nextLines(known)) yield { type: 'line', text };
  const peers = known.peers.map(shownPeer);
  yield { type: 'data', value: { peers, suggestions: known.sparks, reached, notes } as unknown as JsonValue };
}

function nextLines({ peers, sparks }: PeersKnown): readonly string[] {
  if (peers.length === 0)
    return ['Somebody introduces you, or you make contact: talaria peers invite NAME@SERVER --about "…"'];
  const call = callNames(peers);
  const news = peers.some(({ traffic }) => traffic.unread > 0) ? ['Read what is new: talaria peers messages'] : [];
  const [spark] = sparks;
  if (!spark) return news;
  const a = plainName(call({ name: spark.peer_a, id: spark.peer_a_id }));
  const b = plainName(call({ name: spark.peer_b, id: spark.peer_b_id }));
  return [...news, `Act: talaria peers introduce ${a} ${b} · decline: talaria peers dismiss ${a} ${b}`];
}

function shownPeer({ peer, traffic, isProtected }: KnownPeer) {
  return { ...peer, unread: traffic.unread, encrypted: isProtected };
}
