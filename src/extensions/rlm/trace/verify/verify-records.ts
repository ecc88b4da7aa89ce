// Owns the check of a recursive run of the original: its `rlm.trace.v1` records and its AC tree (notes 14, 16, link verifier). There is no
// event list: the cause of a call is its parent's call. Pure. Invariant: every problem is listed.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { AcTree } from '../../tree/ac/ac-tree.ts';
import { readAcTree } from '../../tree/ac/read-ac-tree.ts';
import { callShape } from '../export/read-export.ts';
import { checkCalls } from './check-calls.ts';
import { type Problem, problem } from './problem.ts';

const shape = z.looseObject({
  generation_id: z.string(),
  trace_records: z.array(callShape).min(1),
  ac_tree: z.json().optional(),
});

export interface VerifiedRecords {
  readonly records: number;
  readonly problems: readonly Problem[];
}

export function verifyRecords(value: JsonValue): Result<VerifiedRecords, 'no-records'> {
  const read = shape.safeParse(value);
  if (!read.success) return refuse('no-records', 'It holds no `rlm.trace.v1` records under trace_records.');
  const { generation_id, ac_tree } = read.data;
  const records = read.data.trace_records as unknown as readonly CallRecord[];
  const tree = ac_tree === undefined ? [] : checkTree(ac_tree, records);
  return ok({ records: records.length, problems: [...checkRecords(records, generation_id), ...tree] });
}

/** Hashes, parents, causes and children. */
export function checkRecords(records: readonly CallRecord[], run_id: string): readonly Problem[] {
  return [
    ...checkCalls({ calls: records, run_id }),
    ...records.flatMap((record) => checkCause(record)),
    ...records.flatMap((record) => checkChildren(record, records)),
  ];
}

function checkCause({ call_id, parent_call_id, causal_parent_event_id }: CallRecord): readonly Problem[] {
  if (causal_parent_event_id === parent_call_id) return [];
  return [problem('causal-parent-missing', `call ${call_id}`, `Its cause is not the call ${parent_call_id} above it.`)];
}

/** Each child that a call made has a record of its own below it. */
function checkChildren(parent: CallRecord, records: readonly CallRecord[]): readonly Problem[] {
  return parent.generated_child_ac_node_ids.flatMap((child) => {
    const found = records.filter(({ ac_node_id }) => ac_node_id === child);
    const where = `call ${parent.call_id}`;
    if (found.length === 0)
      return [problem('child-record-missing', where, `Nothing is recorded of its child ${child}.`)];
    return found
      .filter(({ parent_call_id }) => parent_call_id !== parent.call_id)
      .map(({ call_id }) =>
        problem('child-record-missing', where, `Its child's call ${call_id} names another parent.`),
      );
  });
}

function checkTree(value: JsonValue, records: readonly CallRecord[]): readonly Problem[] {
  const tree = readAcTree(value);
  if (!tree.ok) return [problem('child-tree', 'the AC tree', tree.detail)];
  return records.flatMap((record) => checkNode(record, tree.value));
}

function checkNode({ call_id, ac_node_id, parent_trace_id, ...record }: CallRecord, tree: AcTree): readonly Problem[] {
  const where = `call ${call_id}`;
  const node = Object.hasOwn(tree.nodes, ac_node_id) ? tree.nodes[ac_node_id] : undefined;
  if (node === undefined) return [problem('child-tree', where, `The AC tree has no node ${ac_node_id}.`)];
  const wrong = (detail: string) => problem('child-tree', where, detail);
  const listed = JSON.stringify(node.children_ids) === JSON.stringify(record.generated_child_ac_node_ids);
  return [
    ...(listed ? [] : [wrong('Its children in the AC tree are not those that it made.')]),
    ...(node.depth === record.depth ? [] : [wrong(`Its depth is ${record.depth}, in the AC tree ${node.depth}.`)]),
    ...(node.originating_subcall_trace_id === parent_trace_id ? [] : [wrong('The AC tree names another origin.')]),
  ];
}
