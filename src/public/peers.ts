// Owns the entry `talaria/peers`: agents that know each other, for programs that bring a network of their own or none.
export { createPeerHub, type PeerHub, type PeerHubOptions } from '#extensions/hive/hub/peer-hub.ts';
export type {
  Confidence,
  Peer,
  PeerMessage,
  PeerSummary,
  Spark,
  SparkStatus,
} from '#extensions/hive/peers/peer.ts';
export { PeerError, type PeerErrorCode } from '#extensions/hive/peers/peer-error.ts';
export type {
  Contact,
  Introduction,
  KnownPeer,
  PeerTraffic,
  PeerTransport,
  TransportReport,
} from '#extensions/hive/peers/peer-transport.ts';
export { createHivemindProvider, type HivemindParts } from '#extensions/hive/provider/hivemind-provider.ts';
export type { Infer, InferReply, InferRequest } from '#extensions/hive/sparks/infer.ts';
export { createSparkEngine, type SparkEngine } from '#extensions/hive/sparks/spark-engine.ts';
