// Owns reading the reply of a decomposition into sub-questions, and growing the tree of questions by the rules of tree/ac (notes 14).
// Invariant: a refusal carries the original's code; the question itself is the root of the tree.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Asked } from '../../envelope/asked.ts';
import { readReply } from '../../envelope/read-output.ts';
import { acNode, addAcNode, newAcTree } from '../../tree/ac/ac-tree.ts';
import { type DecompositionError, decomposeAc, type ProposedChild } from '../../tree/ac/decompose-ac.ts';
import { problemTexts } from './problem-texts.ts';

export interface SubQuestion {
  readonly ac_node_id: string;
  readonly question: string;
}

export interface DecompositionTask {
  readonly asked: Asked;
  readonly question: string;
  readonly max_depth: number;
  readonly trace_id: string;
}

/** `atomic`: the reply says that the question is one. */
export type DecompositionRefusal = DecompositionError | 'parse_failure' | 'atomic';

export function readDecomposition(
  text: string,
  { asked, question, max_depth, trace_id }: DecompositionTask,
): Result<readonly SubQuestion[], DecompositionRefusal> {
  const read = readReply(text, asked, { level: 'lenient' });
  if (!read.ok) return refuse('parse_failure', problemTexts(read.problems).join('; '));
  const children = proposedChildren(read.raw);
  if (read.value.verdict === 'atomic' && children.length === 0) return refuse('atomic', 'the question is one');
  const tree = addAcNode(
    newAcTree(max_depth),
    acNode({ id: asked.ac_node_id, content: question, depth: 0, parent_id: null }),
  );
  if (!tree.ok) return refuse('processing_error', tree.detail);
  const grown = decomposeAc(tree.value.tree, { parent_id: asked.ac_node_id, children, trace_id });
  if (!grown.ok) return grown;
  const { nodes } = grown.value.tree;
  const ids = [...new Set(grown.value.child_ids)];
  return ok(ids.map((id) => ({ ac_node_id: id, question: nodes[id]?.content ?? '' })));
}

/** Of the plain list, else of the decomposition artifact. */
function proposedChildren(reply: JsonObject): readonly ProposedChild[] {
  const result = isJsonObject(reply.result) ? reply.result : {};
  const details = isJsonObject(result.details) ? result.details : {};
  const plain = listOf(result.sub_questions ?? details.sub_questions ?? reply.sub_questions);
  const artifacts = listOf(reply.artifacts).filter(isJsonObject);
  const proposed = plain.length > 0 ? plain : artifacts.flatMap((one) => listOf(one.proposed_child_acs));
  return proposed.map((item) => {
    if (!isJsonObject(item)) return { content: typeof item === 'string' ? item : '' };
    const content = [item.statement, item.question, item.title].find((value) => typeof value === 'string');
    const depends_on = listOf(item.depends_on).map((index) => (typeof index === 'number' ? index : -1));
    return { content: typeof content === 'string' ? content : '', depends_on };
  });
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
