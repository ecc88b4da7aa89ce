// Owns HivemindProvider: peers as a MemoryProvider (seed 004, layer 2). The guide stands in the prompt, peers and suggestions come with the
// owner's line, six tools reach them. Knows no backend: a PeerTransport is behind it. Invariants: no network before the first line; a turn
// waits a bounded time and goes on with what is known; between turns nothing runs; nobody is introduced by it (R4.31).
import { isAborted } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { ok, type Result } from '#base/result.ts';
import type { Message, TextPart } from '#core/model/message.ts';
import type { MemoryAudience, MemoryProvider } from '#mind/memory/memory-provider.ts';
import { SOCIAL_AWARENESS } from '../guide/social-awareness.ts';
import type { PeerTransport } from '../peers/peer-transport.ts';
import { dismissSparkTool, introducePeersTool, sendToPeerTool } from './acting-tools.ts';
import { createPeerLink, type LinkParts, type PeerLink, settledWithin } from './peer-link.ts';
import { type PeersKnown, peersKnown } from './peers-known.ts';
import { createShownPeers } from './peers-view.ts';
import { checkMessagesTool, listPeersTool, peerInfoTool } from './reading-tools.ts';

export interface HivemindParts extends Pick<LinkParts, 'open' | 'engine'> {
  /** Default: the machine's. */
  readonly clock?: LinkParts['clock'];
  /** One sentence for the owner. Default: nobody hears it. */
  readonly warn?: LinkParts['warn'];
  /** Ids of peers to whom messages go without asking. Default: none. */
  readonly allowSend?: readonly string[];
  /** What is missing and how to mend it; reads settings only. Default: nothing. */
  readonly available?: () => Result<true>;
}

/** The host gives a prefetch 3 s; most of it may go into the refresh, ms. */
const PREFETCH_MS = 2_500;
const ENGINE_MS = 1_500;
/** How long the end of a turn waits for summaries and suggestions that are under way, ms. */
const TURN_END_MS = 3_000;

export function createHivemindProvider(given: HivemindParts): MemoryProvider {
  const parts = { clock: systemClock, warn: () => undefined, ...given };
  const link = createPeerLink(parts);
  const shown = createShownPeers();
  const suggests = parts.engine !== undefined;
  const ground = { link, suggests, allowSend: given.allowSend ?? [], clock: parts.clock, warn: parts.warn };
  const tools = [
    listPeersTool(ground),
    checkMessagesTool(ground),
    sendToPeerTool(ground),
    peerInfoTool(ground),
    introducePeersTool(ground),
    dismissSparkTool(ground),
  ];
  let audience: MemoryAudience = 'primary';
  return {
    name: 'hivemind',
    available: () => given.available?.() ?? ok(true),
    start: async (session) => {
      audience = session.audience;
      shown.forget();
    },
    promptBlock: () => SOCIAL_AWARENESS.trim(),
    prefetch: async (_query, signal) => {
      if (!speaksForOwner(audience)) return [];
      await bringNews(link, parts, signal);
      return asParts(view(link, suggests, (known) => shown.next(known)));
    },
    tools: () => tools,
    turnEnded: async (_session, messages) => link.endTurn(wasStopped(messages) ? 0 : TURN_END_MS),
    beforeCompress: async () => view(link, suggests, (known) => shown.all(known)),
    sessionSwitched: async () => shown.forget(),
    stop: async () => {
      await link.close();
      shown.forget();
    },
  };
}

/** Neither a sub-agent's task nor a flush is a matter of peers. */
function speaksForOwner(audience: MemoryAudience): boolean {
  return audience === 'primary' || audience === 'schedule';
}

/** Waits for the refresh and, a while, for the engine; both go on in the turn when they take longer. */
async function bringNews(link: PeerLink, { clock, engine }: LinkParts, signal: AbortSignal): Promise<void> {
  const turn = link.beginTurn();
  const from = clock.monotonic();
  try {
    await settledWithin(turn.refreshed, { clock, ms: PREFETCH_MS }, signal);
    const left = PREFETCH_MS - (clock.monotonic() - from);
    if (engine !== undefined && left > 0)
      await settledWithin(turn.done, { clock, ms: Math.min(ENGINE_MS, left) }, signal);
  } catch (error) {
    if (error instanceof Error && isAborted(error)) turn.stop(error);
    throw error;
  }
}

function view(link: PeerLink, suggests: boolean, render: (known: PeersKnown) => string): string {
  const { opened } = link;
  return opened === undefined ? '' : render(knownTo(opened, suggests));
}

function knownTo(transport: PeerTransport, suggests: boolean): PeersKnown {
  const known = peersKnown(transport);
  return suggests ? known : { ...known, sparks: [] };
}

function asParts(text: string): readonly TextPart[] {
  return text === '' ? [] : [{ type: 'text', text, origin: 'foreign', label: 'context' }];
}

/** The owner ended the turn and waits for the prompt. */
function wasStopped(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.cut === 'aborted';
}
