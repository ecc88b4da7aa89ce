// Owns the entry `talaria/peers`: agents that know each other, for programs that bring a network of their own or none.

export type {
  Confidence,
  Contact,
  Introduction,
  KnownPeer,
  Peer,
  PeerMessage,
  PeerSummary,
  PeerTraffic,
  PeerTransport,
  Spark,
  SparkStatus,
  TransportReport,
} from '#extensions/hive/peer.ts';
export { PeerError, type PeerErrorCode } from '#extensions/hive/peer.ts';
export { createPeerHub, type PeerHub, type PeerHubOptions } from '#extensions/hive/peer-hub.ts';
export { createHivemindProvider, type HivemindParts } from '#extensions/hive/provider/hivemind-provider.ts';
export { createSparkEngine, type SparkEngine } from '#extensions/hive/provider/spark-engine.ts';
export type { Infer, InferReply, InferRequest } from '#extensions/hive/provider/spark-questions.ts';
