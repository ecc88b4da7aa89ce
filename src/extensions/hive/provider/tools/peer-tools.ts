// Owns the list of the six tools of the peer layer (seed 004, layer 2; R4.12). Knows what none of them does.
import type { AnyTool } from '#core/agent/tool.ts';
import { checkMessagesTool } from './check-messages-tool.ts';
import { dismissSparkTool } from './dismiss-spark-tool.ts';
import { introducePeersTool } from './introduce-peers-tool.ts';
import { listPeersTool } from './list-peers-tool.ts';
import { peerInfoTool } from './peer-info-tool.ts';
import type { PeerToolParts } from './peer-tool.ts';
import { sendToPeerTool } from './send-to-peer-tool.ts';

export function createPeerTools(parts: PeerToolParts): readonly AnyTool[] {
  return [
    listPeersTool(parts),
    checkMessagesTool(parts),
    sendToPeerTool(parts),
    peerInfoTool(parts),
    introducePeersTool(parts),
    dismissSparkTool(parts),
  ];
}
