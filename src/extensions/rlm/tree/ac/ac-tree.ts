/**
 * Owns the tree of acceptance criteria: what is asked, taken apart (notes 14). Immutable plain data in the notes' shape.
 * It does not know calls. Invariant: no node beyond the depth, one root, no two siblings that are the same question, and each child is
 * listed by its parent as soon as both are there. Serves seed 003: the scaffold owns ACTree recursion, max depth 5.
 */
import type { JsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';

export const AC_STATUSES = ['pending', 'atomic', 'decomposed', 'executing', 'completed', 'failed'] as const;
export type AcStatus = (typeof AC_STATUSES)[number];

export interface AcNode {
  readonly id: string;
  readonly content: string;
  readonly depth: number;
  readonly parent_id: string | null;
  readonly status: AcStatus;
  readonly is_atomic: boolean;
  readonly children_ids: readonly string[];
  readonly execution_id: string | null;
  readonly originating_subcall_trace_id: string | null;
  readonly metadata: JsonObject;
}

export interface AcTree {
  readonly root_id: string | null;
  readonly max_depth: number;
  readonly nodes: Readonly<Record<string, AcNode>>;
}

export type AcRefusal = 'max_depth_reached' | 'ac-node-exists' | 'ac-root-exists' | 'ac-depth-mismatch';

export interface AddedAc {
  readonly tree: AcTree;
  /** Of the node that now stands for it: the sibling's, when there was one already. */
  readonly id: string;
  readonly added: boolean;
}

export function newAcTree(max_depth = 5): AcTree {
  return { root_id: null, max_depth, nodes: {} };
}

export function acNode(part: Pick<AcNode, 'id' | 'content' | 'depth' | 'parent_id'> & Partial<AcNode>): AcNode {
  const open = { status: 'pending', is_atomic: false, children_ids: [], execution_id: null } as const;
  return { ...open, originating_subcall_trace_id: null, metadata: {}, ...part };
}

export function addAcNode(tree: AcTree, node: AcNode): Result<AddedAc, AcRefusal> {
  const refused = refuseNode(tree, node);
  if (refused !== null) return refuse(refused, `the node ${node.id} cannot stand at depth ${node.depth}`);
  const twin =
    node.parent_id === null ? undefined : siblingsOf(tree, node.parent_id).find((sibling) => isSame(sibling, node));
  if (twin !== undefined) return ok({ tree, id: twin.id, added: false });
  const waiting = Object.values(tree.nodes).filter((other) => other.parent_id === node.id);
  const children_ids = [...new Set([...node.children_ids, ...waiting.map((child) => child.id)])];
  const nodes = { ...tree.nodes, ...linkedParent(tree, node), [node.id]: { ...node, children_ids } };
  return ok({ tree: { ...tree, nodes, root_id: node.depth === 0 ? node.id : tree.root_id }, id: node.id, added: true });
}

function refuseNode(tree: AcTree, node: AcNode): AcRefusal | null {
  if (node.depth > tree.max_depth) return 'max_depth_reached';
  if (acNodeOf(tree, node.id) !== undefined) return 'ac-node-exists';
  if (!Number.isSafeInteger(node.depth) || node.depth < 0 || (node.depth === 0) !== (node.parent_id === null))
    return 'ac-depth-mismatch';
  if (node.depth === 0 && tree.root_id !== null) return 'ac-root-exists';
  const parent = node.parent_id === null ? undefined : acNodeOf(tree, node.parent_id);
  const early = Object.values(tree.nodes).filter((other) => other.parent_id === node.id);
  const fits =
    (parent?.depth ?? node.depth - 1) + 1 === node.depth && early.every((child) => child.depth === node.depth + 1);
  return fits ? null : 'ac-depth-mismatch';
}

function linkedParent(tree: AcTree, node: AcNode): Record<string, AcNode> {
  const parent = node.parent_id === null ? undefined : acNodeOf(tree, node.parent_id);
  if (parent === undefined || parent.children_ids.includes(node.id)) return {};
  return { [parent.id]: { ...parent, children_ids: [...parent.children_ids, node.id] } };
}

function siblingsOf(tree: AcTree, parentId: string): readonly AcNode[] {
  return Object.values(tree.nodes).filter((node) => node.parent_id === parentId);
}

/** Any shared identity is enough: the stable name, the content, the statement. */
function isSame(one: AcNode, other: AcNode): boolean {
  const keys = identityKeys(one);
  return identityKeys(other).some((key) => keys.includes(key));
}

function identityKeys({ content, metadata }: AcNode): readonly string[] {
  const keys: readonly (readonly [string, string])[] = [
    ['name', typeof metadata.stable_identity === 'string' ? metadata.stable_identity : ''],
    ['content', foldContent(content)],
    ['statement', typeof metadata.statement === 'string' ? foldContent(metadata.statement) : ''],
  ];
  return keys.flatMap(([kind, key]) => (key === '' ? [] : [`${kind}:${key}`]));
}

/** Case and white space do not tell questions apart. */
export function foldContent(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}

export function acNodeOf(tree: AcTree, id: string): AcNode | undefined {
  return Object.hasOwn(tree.nodes, id) ? tree.nodes[id] : undefined;
}
