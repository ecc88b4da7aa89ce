// Owns the verdict on a stored run: all that does not hold together, each with its code and place (notes 16, link verifier). Pure; it runs
// nothing again, replay does. Invariant: total on whatever a file holds; every problem is listed, not the first one.
import { isJsonObject } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { readOutcome } from '../../page/read-outcome.ts';
import type { RunRecord } from '../run-record.ts';
import { checkCalls } from './check-calls.ts';
import { checkClaims } from './check-claims.ts';
import { checkEvents } from './check-events.ts';
import { checkHandles, type HandleCheck } from './check-handles.ts';
import { checkLifecycle } from './check-lifecycle.ts';
import { checkNodes } from './check-nodes.ts';
import { checkOutcome } from './check-outcome.ts';
import { checkTexts } from './check-texts.ts';
import { type Problem, problem } from './problem.ts';

export interface VerifyOptions {
  /** For handles of `rlm ask`; absent: what they say of the source and of code is not looked at. */
  readonly handle?: HandleCheck;
}

export function verifyRun(record: RunRecord, { handle }: VerifyOptions = {}): readonly Problem[] {
  const { row, calls } = record;
  return [
    ...checkEvents(record),
    ...checkCalls({ calls, run_id: row.run_id, unasked: unaskedParents(record) }),
    ...checkLifecycle(record),
    ...checkNodes(record),
    ...checkTexts(record),
    ...checkOutcome(record),
    ...checkFindings(record, handle),
  ];
}

function checkFindings(record: RunRecord, handle: HandleCheck | undefined): readonly Problem[] {
  const { row, calls } = record;
  if (row.outcome === null) return [];
  const read = readOutcome(row.outcome);
  if (read.kind === 'run') return checkClaims(read.outcome, record);
  if (read.kind === 'ask') return checkHandles(read.outcome, { calls, check: handle });
  return row.kind === 'vanilla'
    ? []
    : [problem('outcome-shape', 'the outcome', `It is none of a run of the kind ${row.kind}.`)];
}

/** Of a run that was cut, all; else those whose node, as the outcome's tree tells, was never asked. */
function unaskedParents({ row, calls }: RunRecord): (call: CallRecord) => boolean {
  if (row.ended_at === null) return () => true;
  const tree = row.outcome?.tree;
  const nodes = isJsonObject(tree) && isJsonObject(tree.nodes) ? tree.nodes : {};
  const asked = new Set(calls.map(({ rlm_node_id }) => rlm_node_id));
  return ({ rlm_node_id }) => {
    const node = Object.hasOwn(nodes, rlm_node_id) ? nodes[rlm_node_id] : undefined;
    return isJsonObject(node) && typeof node.parent_id === 'string' && !asked.has(node.parent_id);
  };
}
