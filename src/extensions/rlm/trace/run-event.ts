// Owns the nine events of a run (notes 16). An event is what the controller decided or was told, in order; its data is deterministic given
// the replies, so that a replay yields the same events byte for byte. Only `at` tells the time. Shapes only.
import type { JsonObject } from '#base/json.ts';

export const RUN_EVENT_TYPES = [
  'rlm.run.started',
  'rlm.node.scheduled',
  'rlm.context.bound',
  'rlm.hermes.call.started',
  'rlm.hermes.call.completed',
  'rlm.hermes.response.validated',
  'rlm.state.committed',
  'rlm.node.terminal',
  'rlm.run.finished',
] as const;
export type RunEventType = (typeof RUN_EVENT_TYPES)[number];

export interface NewRunEvent {
  readonly type: RunEventType;
  readonly node_id: string | null;
  readonly causal_parent_event_id: string | null;
  readonly data: JsonObject;
}

export interface RunEvent extends NewRunEvent {
  readonly run_id: string;
  /** From 1, without gap. */
  readonly seq: number;
  /** `<run_id>:<seq, six digits>`. */
  readonly event_id: string;
  /** Epoch ms. */
  readonly at: number;
}
