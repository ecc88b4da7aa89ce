// Owns where an ask stands among asks, what it is executed with, and how it tells its trace what happens: one node for each step and each sub-call,
// nine types of events (notes 16). Decides nothing. Invariant: data follow from request, source and replies; a node that was scheduled ends once.
import type { JsonObject } from '#base/json.ts';
import type { CallAsk, CallRecord, Calls } from '../call/call-record.ts';
import type { ContextSource } from '../repl/parted-source.ts';
import type { NodeState } from '../scaffold/run-tree.ts';
import type { RunTrace } from '../trace/live-trace.ts';
import type { RunEventType } from '../trace/run-record.ts';
import type { AskRequest } from './ask-request.ts';

export interface AskParts {
  readonly request: AskRequest;
  /** Stays open: who opened it closes it. */
  readonly source: ContextSource;
  readonly trace: RunTrace;
  readonly calls: Calls;
  readonly signal: AbortSignal;
  /** Aborts when the time of the run is over: code that runs then is ended. Absent: it has no end. */
  readonly late?: AbortSignal | undefined;
}

/** What events are told to. */
export type AskTrace = Pick<RunTrace, 'emit'>;

/** One ask among those within another: everything that its calls need. */
export interface AskScope {
  readonly ask: AskParts;
  readonly place: AskPlace;
  readonly question: string;
  /** Blocks that may run. */
  readonly steps: number;
  readonly trace: AskTrace;
  readonly events: AskEvents;
  /** Takes each record of a call that was made, in order. */
  readonly onRecord: (record: CallRecord) => void;
}

export interface AskPlace {
  /** Begin of its call ids: `ask:` or `ask:rlm:003:001/`. */
  readonly prefix: string;
  /** From 1. */
  readonly level: number;
  /** Of its root calls in records; a sub-call is one deeper. */
  readonly depth: number;
  readonly parent_call_id: string | null;
  readonly parent_node_id: string | null;
  /** Event from which it follows. */
  readonly cause: string | null;
}

/** `ask:root:003`, `ask:sub:003:002`, `ask:rlm:003:001`; an id of a call, and the name of its node. */
export function callId(
  { prefix }: AskPlace,
  kind: 'root' | 'sub' | 'rlm' | 'judge',
  numbers: readonly (number | string)[],
): string {
  return `${prefix}${[kind, ...numbers.map((one) => String(one).padStart(3, '0'))].join(':')}`;
}

export interface AskNode {
  readonly node_id: string;
  readonly call_id: string;
}

/** What a call of a node has above it. */
interface Above {
  readonly parent_call_id: string | null;
  readonly cause: string | null;
  readonly depth: number;
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
    this.emit('rlm.node.scheduled', node, { parent_node_id: parent, depth, level: this.#place.level }, cause);
    this.#open.set(node.node_id, node);
    return node;
  }

  known(call_id: string): AskNode {
    return { node_id: `rlm_node_${plainId(call_id)}`, call_id };
  }

  started(node: AskNode, call: Pick<CallRecord, 'call_id' | 'mode' | 'depth' | 'prompt_hash'>): string {
    const { call_id, mode, depth, prompt_hash } = call;
    return this.emit('rlm.hermes.call.started', node, { call_id, mode, depth, prompt_hash });
  }

  completed(node: AskNode, { call_id, mode, success, response_hash, adapter_error }: CallRecord): string {
    const error = adapter_error?.type ?? null;
    return this.emit('rlm.hermes.call.completed', node, { call_id, mode, success, response_hash, error });
  }

  end(node: AskNode, state: NodeState, reason: string | null = null): string {
    this.#open.delete(node.node_id);
    return this.emit('rlm.node.terminal', node, { state, reason });
  }

  /** What began and cannot go on, newest first. */
  endOpen(reason: string): void {
    for (const node of [...this.#open.values()].reverse()) this.end(node, 'failed', reason);
  }

  /** What every call of a node tells of itself. */
  callHead(node: AskNode, call_id: string, { parent_call_id, cause, depth }: Above) {
    const ids = { rlm_node_id: node.node_id, ac_node_id: `rlm_ac_${plainId(node.call_id)}` };
    return { call_id, parent_call_id, causal_parent_event_id: cause, ...ids, depth } satisfies Partial<CallAsk>;
  }

  emit(type: RunEventType, { node_id }: AskNode, data: JsonObject, cause?: string | null): string {
    const causal_parent_event_id = cause === undefined ? (this.#last.get(node_id) ?? this.#place.cause) : cause;
    const id = this.#trace.emit({ type, node_id, causal_parent_event_id, data });
    this.#last.set(node_id, id);
    return id;
  }
}

function plainId(call_id: string): string {
  return call_id.replace(/[^a-z0-9]+/g, '_');
}
