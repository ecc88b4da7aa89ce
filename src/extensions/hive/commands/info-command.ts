// Owns `peers info`: everything that is known of one peer. Invariant: words of others stand in marked lines.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { HiveGround } from '../hive-ground.ts';
import { findPeer } from '../peers/find-peer.ts';
import type { PeerSummary } from '../peers/peer.ts';
import type { KnownPeer } from '../peers/peer-transport.ts';
import { plainName } from '../peers/plain-text.ts';
import { callNames, type Introducer, introducers, peersKnown } from '../provider/peers-known.ts';
import { renderPeers } from '../provider/peers-view.ts';
import { type PeerCommand, shownBlock, shownLine, withPeers } from './with-peers.ts';

export function infoCommand(ground: HiveGround): AnyCommand {
  return defineCommand({
    name: 'peers info',
    summary: 'Show what is known of a peer: introduction, needs and offers, suggestions',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['peer'],
    input: z.object({ peer: z.string('name a peer').min(1, 'name a peer').describe('Name or id of a peer') }),
    examples: ['talaria peers info hermes-of-carol'],
    run: ({ peer }, context) => withPeers(ground, context, (command) => show(command, peer)),
  });
}

async function* show({ transport, reached, notes }: PeerCommand, asked: string): AsyncGenerator<CommandOutput> {
  const all = peersKnown(transport);
  const known = findPeer(all.peers, asked);
  const { peer, summary } = known;
  for (const text of [...factLines(known, introducers(all.selfId, all.peers)(known)), ...summaryLines(summary)])
    yield { type: 'line', text };
  const sparks = all.sparks.filter((spark) => [spark.peer_a_id, spark.peer_b_id].includes(peer.id));
  if (sparks.length > 0) yield { type: 'line', text: renderPeers(all, { peers: [], sparks }) };
  yield { type: 'line', text: `Write: talaria peers send ${plainName(callNames(all.peers)(peer))} "…"` };
  const data = {
    ...peer,
    ...(summary ? { summary } : {}),
    suggestions: sparks,
    unread: known.traffic.unread,
    encrypted: known.isProtected,
    reached,
    notes,
  };
  yield { type: 'data', value: data as unknown as JsonValue };
}

const STATUS = { active: 'active', invited: 'invited, has not come yet', left: 'has left' } as const;

function factLines({ peer, traffic, isProtected }: KnownPeer, introducer: Introducer): readonly string[] {
  const context = shownBlock(peer.context);
  return [
    plainName(peer.id),
    `  status      ${STATUS[peer.status]}`,
    `  introduced  ${introducedBy(introducer)}, ${peer.introduced_at.slice(0, 10)}`,
    `  messages    ${traffic.unread === 0 ? 'none new' : `${traffic.unread}${traffic.atLeast ? ' or more' : ''} new`}`,
    `  encrypted   ${isProtected ? 'yes' : 'no'}`,
    ...(context === '' ? ['  nothing was said about it'] : ['  what was said about it:', context]),
  ];
}

function introducedBy(introducer: Introducer): string {
  if (introducer.kind === 'peer') return 'nobody: it made contact';
  return introducer.kind === 'self' ? 'nobody: you made contact' : `by ${plainName(introducer.called)}`;
}

function summaryLines(summary: PeerSummary | undefined): readonly string[] {
  if (!summary || ![summary.summary_text, ...summary.needs, ...summary.offers, ...summary.expertise].some(Boolean))
    return [];
  const list = (name: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`  ${name}:`, ...items.map((item) => `  | ${shownLine(item)}`)];
  return [
    `  summary (by ${summary.by}, ${summary.last_updated.slice(0, 10)}):`,
    ...(summary.summary_text === '' ? [] : [shownBlock(summary.summary_text)]),
    ...list('needs', summary.needs),
    ...list('offers', summary.offers),
    ...list('expertise', summary.expertise),
  ];
}
