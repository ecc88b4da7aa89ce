// Owns `peers dismiss`: declining the introduction of two peers, for good. Invariant: it holds also for a pair that was not suggested yet.
import { z } from 'zod';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { HiveGround } from '../hive-ground.ts';
import { plainName } from '../peers/plain-text.ts';
import { dismissPair, findPair } from '../provider/introduce.ts';
import { namedPair, type PeerCommand, withPeers } from './with-peers.ts';

const input = z.object(namedPair);

export function dismissCommand(ground: HiveGround): AnyCommand {
  return defineCommand({
    name: 'peers dismiss',
    summary: 'Decline a suggested introduction, for good',
    surfaces: ['cli', 'chat'],
    input,
    positional: ['peerA', 'peerB'],
    examples: ['talaria peers dismiss hermes-of-carol hermes-of-dave'],
    run: (asked, context) => withPeers(ground, context, (command) => dismiss(command, asked)),
  });
}

async function* dismiss(
  { transport, clock, warn, signal }: PeerCommand,
  { peerA, peerB }: z.infer<typeof input>,
): AsyncGenerator<CommandOutput> {
  const pair = findPair(transport.peers(), peerA, peerB);
  const { matched } = await dismissPair({ transport, clock, warn }, pair, signal);
  const [a, b] = [pair.a.peer, pair.b.peer];
  const was = matched > 0 ? 'dismissed the suggestion of' : 'it was not suggested; never will be:';
  yield { type: 'line', text: `${was} ${plainName(a.id)} and ${plainName(b.id)}` };
  yield { type: 'line', text: 'Introducing them stays possible: talaria peers introduce A B' };
  yield { type: 'data', value: { dismissed: true, peer_a: a.name, peer_b: b.name, ids: [a.id, b.id], matched } };
}
