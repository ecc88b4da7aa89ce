// Owns how an ask tells its trace what happens: one node for each step and each sub-call, nine types of events (notes 16). Decides nothing.
// Invariant: data follow from request, source and replies; a node that was scheduled ends once.
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { CallAsk } from '../../call/calls.ts';
import type { RunEventType } from '../../trace/run-event.ts';
import type { NodeState } from '../../tree/node-state.ts';
import { type AskPlace, type AskTrace, acNodeId, nodeId } from '../ask-parts.ts';

export interface AskNode {
  readonly node_id: string;
  readonly call_id: string;
}

export class AskEvents {
  readonly #trace: AskTrace;
  readonly #place: AskPlace;
  /** The last event of each node. */
  readonly #last = new Map<string, string>();
  readonly #open = new Map<string, AskNode>();

  constructor(trace: AskTrace, place: AskPlace) {
    this.#trace = trace;
    this.#place = place;
  }

  schedule(
    call_id: string,
    { parent, cause, depth }: { readonly parent: string | null; readonly cause: string | null; readonly depth: number },
  ): AskNode {
    const node = this.known(call_id);
    const data = { parent_node_id: parent, depth, level: this.#place.level };
    this.#emit('rlm.node.scheduled', node, data, cause);
    this.#open.set(node.node_id, node);
    return node;
  }

  known(call_id: string): AskNode {
    return { node_id: nodeId(call_id), call_id };
  }

  bind(node: AskNode, data: JsonObject): string {
    return this.#emit('rlm.context.bound', node, data);
  }

  /** Started and completed, when it is told at once. */
  called(node: AskNode, record: CallRecord): string {
    this.started(node, record);
    return this.completed(node, record);
  }

  started(node: AskNode, call: Pick<CallRecord, 'call_id' | 'mode' | 'depth' | 'prompt_hash'>): string {
    const { call_id, mode, depth, prompt_hash } = call;
    return this.#emit('rlm.hermes.call.started', node, { call_id, mode, depth, prompt_hash });
  }

  completed(node: AskNode, { call_id, mode, success, response_hash, adapter_error }: CallRecord): string {
    const error = adapter_error?.type ?? null;
    return this.#emit('rlm.hermes.call.completed', node, { call_id, mode, success, response_hash, error });
  }

  validate(node: AskNode, data: JsonObject): string {
    return this.#emit('rlm.hermes.response.validated', node, data);
  }

  commit(node: AskNode, data: JsonObject): string {
    return this.#emit('rlm.state.committed', node, data);
  }

  end(node: AskNode, state: NodeState, reason: string | null = null): string {
    this.#open.delete(node.node_id);
    return this.#emit('rlm.node.terminal', node, { state, reason });
  }

  /** What began and cannot go on, newest first. */
  endOpen(reason: string): void {
    for (const node of [...this.#open.values()].reverse()) this.end(node, 'failed', reason);
  }

  /** What every call of a node tells of itself. */
  callHead(
    node: AskNode,
    call_id: string,
    at: { readonly parent_call_id: string | null; readonly cause: string | null; readonly depth: number },
  ): Pick<CallAsk, 'call_id' | 'parent_call_id' | 'causal_parent_event_id' | 'rlm_node_id' | 'ac_node_id' | 'depth'> {
    return {
      call_id,
      parent_call_id: at.parent_call_id,
      causal_parent_event_id: at.cause,
      rlm_node_id: node.node_id,
      ac_node_id: acNodeId(node.call_id),
      depth: at.depth,
    };
  }

  #emit(type: RunEventType, { node_id }: AskNode, data: JsonObject, cause?: string | null): string {
    const causal_parent_event_id = cause === undefined ? (this.#last.get(node_id) ?? this.#place.cause) : cause;
    const id = this.#trace.emit({ type, node_id, causal_parent_event_id, data });
    this.#last.set(node_id, id);
    return id;
  }
}
