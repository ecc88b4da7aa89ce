// Owns `peers send`: a message of the owner to one peer. Invariants: it goes to the peer that is meant for sure, or to nobody; nothing goes
// along that a terminal would not show.
import { z } from 'zod';
import { wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, defineCommand } from '#core/agent/command-spec.ts';
import type { HiveGround } from '../hive-ground.ts';
import { findPeer } from '../peers/find-peer.ts';
import { plainName, plainText } from '../peers/plain-text.ts';
import { callNames } from '../provider/peers-known.ts';
import { withPeers } from './with-peers.ts';

export function sendCommand(ground: HiveGround): AnyCommand {
  return defineCommand({
    name: 'peers send',
    summary: 'Write to a peer',
    surfaces: ['cli', 'chat'],
    positional: ['peer', 'message...'],
    input: z.object({
      peer: z.string('name a peer').min(1, 'name a peer').describe('Name or id of a peer'),
      message: z.array(z.string()).default([]).describe('What to say'),
    }),
    examples: ['talaria peers send hermes-of-carol "Can you audit our enclave next week?"'],
    async *run({ peer, message }, context) {
      const text = plainText(message.join(' ')).trim();
      if (text === '') {
        yield wrongUse('message-empty', 'there is no message', 'Type it last: talaria peers send PEER "…"');
        return;
      }
      yield* withPeers(ground, context, async function* ({ transport, signal }) {
        const peers = transport.peers();
        const known = findPeer(peers, peer);
        const { id, name } = known.peer;
        const { messageId } = await transport.send(id, text, signal);
        yield { type: 'line', text: `sent to ${plainName(id)}${known.isProtected ? ', encrypted' : ''}` };
        const called = plainName(callNames(peers)(known.peer));
        yield { type: 'line', text: `Its answer, when there is one: talaria peers messages ${called}` };
        yield { type: 'data', value: { sent: true, to: name, id, message_id: messageId } };
      });
    },
  });
}
