// Owns the one way in which the spark engine asks a model: through the host, never with credentials of its own (seed 004, call_llm; R4.15).
// Knows no provider. The host's last tier answers by rule, and says so.
import type { JsonObject } from '#base/json.ts';

export interface InferRequest {
  readonly kind: 'summary' | 'spark';
  readonly system: string;
  /** Sent as JSON text, with `schema_version`; every word of a peer stands in it as a JSON string, never in `system`. */
  readonly input: JsonObject;
  readonly maxOutputTokens: number;
}

export interface InferReply {
  readonly text: string;
  /** No language model had a part in it. */
  readonly byRule: boolean;
}

export type Infer = (request: InferRequest, signal: AbortSignal) => Promise<InferReply>;
