/**
 * Owns the rules by which a proposed decomposition becomes children (notes 14): two to five, none empty, none a question that an ancestor
 * asks already, each resting only on earlier ones. It does not ask for proposals. Invariant: total; a refusal leaves the tree as it was.
 */
import { sha256 } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { canDecompose, setAcStatus } from './ac-status.ts';
import { type AcNode, type AcTree, acNode, acNodeOf, addAcNode, foldContent } from './ac-tree.ts';

const FEWEST_CHILDREN = 2;
const MOST_CHILDREN = 5;

/** The codes of the original's decomposition that need no model. */
export type DecompositionError =
  | 'max_depth_reached'
  | 'insufficient_children'
  | 'too_many_children'
  | 'cyclic_decomposition'
  | 'empty_child'
  | 'invalid_child_ac_node_input'
  | 'processing_error';

export interface ProposedChild {
  readonly content: string;
  /** Indices of earlier siblings, from 0. */
  readonly depends_on?: readonly number[];
}

export interface ProposedDecomposition {
  readonly parent_id: string;
  readonly children: readonly ProposedChild[];
  readonly trace_id?: string | null;
}

export interface Decomposed {
  readonly tree: AcTree;
  /** One for each proposed child; a child that repeats a sibling has that sibling's id. */
  readonly child_ids: readonly string[];
}

export function decomposeAc(tree: AcTree, proposed: ProposedDecomposition): Result<Decomposed, DecompositionError> {
  const parent = acNodeOf(tree, proposed.parent_id);
  if (parent === undefined) return refuse('processing_error', `there is no node ${proposed.parent_id}`);
  const refused = refuseProposal(tree, parent, proposed.children);
  if (refused !== null) return refuse(refused, `${parent.id} cannot be decomposed like this`);
  const grown = addProposed(tree, parent, proposed);
  if (new Set(grown.child_ids).size < FEWEST_CHILDREN)
    return refuse('insufficient_children', 'the proposed children are the same question');
  const marked = setAcStatus(grown.tree, parent.id, 'decomposed');
  return marked.ok ? ok({ tree: marked.value, child_ids: grown.child_ids }) : refuse('processing_error', marked.detail);
}

function refuseProposal(tree: AcTree, parent: AcNode, children: readonly ProposedChild[]): DecompositionError | null {
  if (parent.depth >= tree.max_depth) return 'max_depth_reached';
  if (!canDecompose(tree, parent.id)) return 'processing_error';
  if (children.length < FEWEST_CHILDREN) return 'insufficient_children';
  if (children.length > MOST_CHILDREN) return 'too_many_children';
  if (children.some((child) => child.content.trim() === '')) return 'empty_child';
  const asked = new Set(lineOf(tree, parent).map((node) => foldContent(node.content)));
  if (children.some((child) => asked.has(foldContent(child.content)))) return 'cyclic_decomposition';
  return children.every((child, at) => dependsOnEarlier(child, at)) ? null : 'invalid_child_ac_node_input';
}

function dependsOnEarlier({ depends_on }: ProposedChild, at: number): boolean {
  return (depends_on ?? []).every((index) => Number.isSafeInteger(index) && index >= 0 && index < at);
}

/** The node and its ancestors; a parent named in a circle is met once. */
function lineOf(tree: AcTree, node: AcNode): readonly AcNode[] {
  const line = new Set<AcNode>();
  for (let next: AcNode | undefined = node; next !== undefined && !line.has(next); ) {
    line.add(next);
    next = next.parent_id === null ? undefined : acNodeOf(tree, next.parent_id);
  }
  return [...line];
}

function addProposed(tree: AcTree, parent: AcNode, { children, trace_id }: ProposedDecomposition): Decomposed {
  let grown = tree;
  const child_ids: string[] = [];
  for (const [at, { content, depends_on }] of children.entries()) {
    const id = childId(parent.id, at, content);
    const metadata = { depends_on: (depends_on ?? []).map((index) => child_ids[index] ?? '') };
    const place = { id, content: content.trim(), depth: parent.depth + 1, parent_id: parent.id, metadata };
    const added = addAcNode(grown, acNode({ ...place, originating_subcall_trace_id: trace_id ?? null }));
    if (added.ok) grown = added.value.tree;
    child_ids.push(added.ok ? added.value.id : id);
  }
  return { tree: grown, child_ids };
}

/** `ac_` and 12 hex of SHA-256 over parent, order and content: the same proposal gives the same ids. */
function childId(parentId: string, order: number, content: string): string {
  return `ac_${sha256(JSON.stringify([parentId, order, content])).slice(0, 12)}`;
}

const COMPRESSED_FROM = 3;
const COMPRESSED_TO = 500;

/** The context that a decomposition at this depth is given: whole at first, from depth 3 on its first 500 characters. */
export function decompositionContext(text: string, depth: number): string {
  return depth < COMPRESSED_FROM ? text : [...text.slice(0, 2 * COMPRESSED_TO)].slice(0, COMPRESSED_TO).join('');
}
