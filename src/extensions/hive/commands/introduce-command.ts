// Owns `peers introduce`: connecting two peers. Invariant: nobody is introduced without a yes to exactly what both will read (R4.31).
import { z } from 'zod';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { HiveGround } from '../hive-ground.ts';
import { plainName } from '../peers/plain-text.ts';
import { draftIntroduction, findPair, introducePair, introductionText } from '../provider/introduce.ts';
import { agreed, namedPair, type PeerCommand, shownBlock, withPeers } from './with-peers.ts';

const input = z.object({
  ...namedPair,
  reason: z.string().default('').describe('Why they should meet; both are told'),
  yes: z.boolean().default(false).describe('Do not ask'),
});

type Asked = z.infer<typeof input>;

export function introduceCommand(ground: HiveGround): AnyCommand {
  return defineCommand<Asked>({
    name: 'peers introduce',
    summary: 'Connect two peers, after showing what both will be told',
    surfaces: ['cli', 'chat'],
    input: input as z.ZodType<Asked>,
    positional: ['peerA', 'peerB'],
    examples: ['talaria peers introduce hermes-of-bob hermes-of-carol --reason "Carol can audit what Bob builds"'],
    run: (asked, context) => withPeers(ground, context, (command) => introduce(command, asked, context)),
  });
}

async function* introduce(
  { transport, clock, warn, signal }: PeerCommand,
  { peerA, peerB, reason, yes }: Asked,
  context: CommandContext,
): AsyncGenerator<CommandOutput> {
  const pair = findPair(transport.peers(), peerA, peerB);
  const told = draftIntroduction(pair, reason);
  yield { type: 'line', text: 'Both will read:' };
  yield { type: 'line', text: shownBlock(introductionText(told), '  | ', Number.POSITIVE_INFINITY) };
  yield { type: 'line', text: 'You stay in their conversation, and can read along.' };
  const consent = await agreed(context, { yes, question: 'Introduce them?' });
  if (!consent.ok) {
    yield refused(consent.reason, consent.detail, 'Nobody was introduced.');
    return;
  }
  await introducePair({ transport, clock, warn }, pair, told, signal);
  const [a, b] = [pair.a.peer, pair.b.peer];
  yield { type: 'line', text: `introduced ${plainName(a.id)} and ${plainName(b.id)}` };
  yield { type: 'line', text: 'Each learns of it at its next turn. They write to each other; you need do nothing.' };
  yield {
    type: 'data',
    value: { introduced: true, peer_a: a.name, peer_b: b.name, ids: [a.id, b.id], reason: told.reason ?? '' },
  };
}
