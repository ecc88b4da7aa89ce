// Owns the commands that act: `peers introduce`, `dismiss`, `invite` and `send`. Invariants: nobody is introduced without a yes to exactly what
// both will read (R4.31); declining holds also for a pair that was not suggested yet; a message goes to the peer that is meant for sure, or to
// nobody, and nothing goes along that a terminal would not show; what somebody is told is what was typed, no more.

import { z } from 'zod';
import {
  type AnyCommand,
  type CommandOutput,
  defineCommand,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { dismissPair, draftIntroduction, findPair, introducePair, introductionLines } from '../introductions.ts';
import { findPeer, plainName, plainText } from '../peer-names.ts';
import { callNames } from '../provider/peers-view.ts';
import { readUser } from './find-server.ts';
import { agreed, namedPair, type PeerCommand, peerCommand, shownBlock, shownLine, withPeers } from './with-peers.ts';

const introduced = z.object({
  ...namedPair,
  reason: z.string().default('').describe('Why they should meet; both are told'),
  yes: z.boolean().default(false).describe('Do not ask'),
});

export function introduceCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'peers introduce',
    summary: 'Connect two peers, after showing what both will be told',
    input: introduced as z.ZodType<z.infer<typeof introduced>>,
    positional: ['peerA', 'peerB'],
    examples: ['talaria peers introduce hermes-of-bob hermes-of-carol --reason "Carol can audit what Bob builds"'],
  };
  return peerCommand(ground, spec, introduce);
}

async function* introduce(
  { transport, clock, warn, context, signal }: PeerCommand,
  { peerA, peerB, reason, yes }: z.infer<typeof introduced>,
): AsyncGenerator<CommandOutput> {
  const pair = findPair(transport.peers(), peerA, peerB);
  const told = draftIntroduction(pair, reason);
  yield line('Both will read:');
  yield line(shownBlock(introductionLines(told).join('\n'), '  | ', Number.POSITIVE_INFINITY));
  yield line('You stay in their conversation, and can read along.');
  const consent = await agreed(context, yes, 'Introduce them?');
  if (!consent.ok) return yield refused(consent.reason, consent.detail, 'Nobody was introduced.');
  await introducePair({ transport, clock, warn }, pair, told, signal);
  const [a, b] = [pair.a.peer, pair.b.peer];
  yield line(`introduced ${plainName(a.id)} and ${plainName(b.id)}`);
  yield line('Each learns of it at its next turn. They write to each other; you need do nothing.');
  const value = { introduced: true, peer_a: a.name, peer_b: b.name, ids: [a.id, b.id], reason: told.reason ?? '' };
  yield { type: 'data', value };
}

export function dismissCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'peers dismiss',
    summary: 'Decline a suggested introduction, for good',
    input: z.object(namedPair),
    positional: ['peerA', 'peerB'],
    examples: ['talaria peers dismiss hermes-of-carol hermes-of-dave'],
  };
  return peerCommand(ground, spec, async function* ({ transport, clock, warn, signal }, { peerA, peerB }) {
    const pair = findPair(transport.peers(), peerA, peerB);
    const { matched } = await dismissPair({ transport, clock, warn }, pair, signal);
    const [a, b] = [pair.a.peer, pair.b.peer];
    const was = matched > 0 ? 'dismissed the suggestion of' : 'it was not suggested; never will be:';
    yield line(`${was} ${plainName(a.id)} and ${plainName(b.id)}`);
    yield line('Introducing them stays possible: talaria peers introduce A B');
    yield { type: 'data', value: { dismissed: true, peer_a: a.name, peer_b: b.name, ids: [a.id, b.id], matched } };
  });
}

export function inviteCommand(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'peers invite',
    summary: 'Make contact with an agent that nobody introduced',
    surfaces: ['cli', 'chat'],
    positional: ['id'],
    input: z.object({
      id: z.string('type an id, NAME@SERVER').describe('NAME@SERVER, or @NAME:SERVER'),
      context: z.string().default('').describe('What you keep about the other, for yourself and for introductions'),
      about: z.string().default('').describe('What the other is told about you'),
    }),
    examples: [
      'talaria peers invite hermes-of-bob@example.org --context "Bob runs enclaves" --about "Alice, knows people"',
    ],
    async *run({ id: typed, context: kept, about }, context) {
      const user = readUser(typed);
      if (!user.ok || user.value.server === undefined) {
        const fix = 'Type the whole id: NAME@SERVER.';
        yield wrongUse('peer-id-invalid', `${shownLine(typed, 100) || 'nothing'} is no id of a peer`, fix);
        return;
      }
      const id = `${user.value.name}@${user.value.server}`;
      yield* withPeers(ground, context, async function* ({ transport, signal }) {
        if (id === transport.selfId) return yield wrongUse('peer-is-self', `${id} is you`, 'Name another agent.');
        await transport.contact({ id, context: plainText(kept).trim(), about: plainText(about).trim() }, signal);
        yield line(`invited ${shownLine(id, 200)}; it becomes active when it has accepted`);
        if (about.trim() === '') yield line('It was told nothing about you; --about "…" says it.');
        yield line('See whether it came: talaria peers list');
        yield { type: 'data', value: { invited: true, id } };
      });
    },
  });
}

export function sendCommand(ground: Ground): AnyCommand {
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
      if (text === '')
        return yield wrongUse('message-empty', 'there is no message', 'Type it last: talaria peers send PEER "…"');
      yield* withPeers(ground, context, async function* ({ transport, signal }) {
        const peers = transport.peers();
        const known = findPeer(peers, peer);
        const { id, name } = known.peer;
        const { messageId } = await transport.send(id, text, signal);
        yield line(`sent to ${plainName(id)}${known.isProtected ? ', encrypted' : ''}`);
        const called = plainName(callNames(peers)(known.peer));
        yield line(`Its answer, when there is one: talaria peers messages ${called}`);
        yield { type: 'data', value: { sent: true, to: name, id, message_id: messageId } };
      });
    },
  });
}
