// Owns what the six tools have in common: their ground, how arguments are read, how names, answers and failures look (hivemind notes 1).
// Knows no single tool. Invariants: an answer is JSON; a failure is data that speaks of peers alone, what server and variable have to do
// with it is said to the owner; nothing in it was ours to begin with, so its origin is foreign.
import { z } from 'zod';
import { throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool, type Tool, type ToolContext } from '#core/agent/tool.ts';
import { lenientInput } from '#core/tools/tool-cards.ts';
import { PeerError, type PeerTransport } from '../peer.ts';
import { plainText } from '../peer-names.ts';
import type { PeerLink } from './peer-link.ts';

export interface PeerToolParts {
  readonly link: PeerLink;
  /** Suggestions are shown. */
  readonly suggests: boolean;
  /** Ids to whom messages go unasked. */
  readonly allowSend: readonly string[];
  readonly clock: Clock;
  /** One sentence for the owner. */
  readonly warn: (problem: string) => void;
}

/** Names by which the docs page and models call our parameters; read, never advertised. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  peer: ['peer_name', 'name', 'to'],
  message: ['text', 'content'],
  peer_a: ['a'],
  peer_b: ['b'],
  reason: ['context'],
};

export function peerInput<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => {
    if (!isJsonObject(value)) return value;
    const found = Object.entries(OTHER_NAMES).flatMap(([name, others]) => {
      const other = others.find((key) => value[key] !== undefined);
      return name in shape && value[name] === undefined && other !== undefined ? [[name, value[other]]] : [];
    });
    return { ...value, ...Object.fromEntries(found) };
  }, lenientInput(shape));
}

const name = z.string().trim().min(1, 'name a peer').max(400);

export const peerName = name.describe('Name, or id where two share the name');
export const pairNames = { peer_a: peerName, peer_b: name.describe('The other one') };

type Work<Input> = (
  transport: PeerTransport,
  asked: Input,
  context: ToolContext,
  signal: AbortSignal,
) => Promise<JsonValue>;

/** `needs`: what is known, or what is new. What `work` gives is the answer; the tool rejects only with the signal's reason. */
export function peerTool<Input>(
  link: PeerLink,
  spec: Omit<Tool<Input>, 'toolset' | 'run'>,
  needs: 'ready' | 'fresh',
  work: Work<Input>,
): AnyTool {
  return defineTool<Input>({
    ...spec,
    toolset: 'peers',
    run: async (asked, context, signal) => {
      try {
        throwIfAborted(signal);
        return { text: JSON.stringify(await work(await link[needs](signal), asked, context, signal)) };
      } catch (error) {
        throwIfAborted(signal);
        const isOfPeers = error instanceof PeerError;
        // Of a wrong name the owner need not hear.
        if (!isOfPeers || !error.code.startsWith('peer-')) link.failed(error);
        return {
          text: JSON.stringify({ error: isOfPeers ? error.forModel : 'the peer network has a fault' }),
          isError: true,
        };
      }
    },
  });
}

export function shownName(called: string): string {
  return ellipsize(plainText(called), 300);
}
