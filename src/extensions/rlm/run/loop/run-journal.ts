// Owns the order of a run's events and which event caused which. Knows the trace, no tree and no call.
// Invariant: a node's first event is caused by its parent's last, every other by the node's own last.
import type { JsonObject } from '#base/json.ts';
import type { RunEventType } from '../../trace/run-event.ts';
import type { RunTrace } from '../../trace/trace-store.ts';

export class RunJournal {
  readonly #trace: RunTrace;
  readonly #last = new Map<string | null, string>();
  readonly #ended = new Set<string>();

  constructor(trace: RunTrace) {
    this.#trace = trace;
  }

  /** `node`: null for the run itself. */
  emit(
    type: RunEventType,
    node: { readonly id: string; readonly parent_id: string | null } | null,
    data: JsonObject,
  ): string {
    const causal_parent_event_id = this.lastOf(node);
    const id = this.#trace.emit({ type, node_id: node?.id ?? null, causal_parent_event_id, data });
    this.#last.set(node?.id ?? null, id);
    if (type === 'rlm.node.terminal' && node !== null) this.#ended.add(node.id);
    return id;
  }

  hasEnded(node_id: string): boolean {
    return this.#ended.has(node_id);
  }

  lastOf(node: { readonly id: string; readonly parent_id: string | null } | null): string | null {
    const own = this.#last.get(node?.id ?? null);
    return own ?? this.#last.get(node?.parent_id ?? null) ?? this.#last.get(null) ?? null;
  }
}
