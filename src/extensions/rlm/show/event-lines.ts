// Owns the events of a run as lines, in their order. Pure.
import { canonicalJson } from '#base/json.ts';
import type { RunEvent } from '../trace/run-event.ts';
import { oneLine } from './lines.ts';

export function eventLines(events: readonly RunEvent[]): readonly string[] {
  return events.map(({ seq, type, node_id, data }) => {
    const node = node_id === null ? '' : ` ${node_id.replace(/^rlm_node_/, '')}`;
    return `${String(seq).padStart(5)}  ${type.replace(/^rlm\./, '')}${node}  ${oneLine(canonicalJson(data), 160)}`;
  });
}
