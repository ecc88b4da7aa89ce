// Owns reading a tree of acceptance criteria from JSON (notes 14, the round trip). Invariant: what is read has every link in both directions.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { AC_STATUSES, type AcNode, type AcTree, acNodeOf } from './ac-tree.ts';

const node = z.object({
  id: z.string().min(1),
  content: z.string(),
  depth: z.int().min(0),
  parent_id: z.string().nullable().default(null),
  status: z.enum(AC_STATUSES).default('pending'),
  is_atomic: z.boolean().default(false),
  children_ids: z.array(z.string()).default([]),
  execution_id: z.string().nullable().default(null),
  originating_subcall_trace_id: z.string().nullable().default(null),
  metadata: z.record(z.string(), z.custom<JsonValue>()).default({}),
});

const tree = z.object({ root_id: z.string().nullable(), max_depth: z.int().min(0), nodes: z.record(z.string(), node) });

export function readAcTree(value: unknown): Result<AcTree, 'ac-tree-invalid'> {
  const read = tree.safeParse(value);
  if (!read.success) return refuse('ac-tree-invalid', z.prettifyError(read.error));
  const fault = faultOf(read.data);
  return fault === null ? ok(read.data) : refuse('ac-tree-invalid', fault);
}

function faultOf(read: AcTree): string | null {
  if (read.root_id !== null && acNodeOf(read, read.root_id)?.depth !== 0)
    return 'the root is missing or not at depth 0';
  for (const [key, one] of Object.entries(read.nodes)) {
    const fault = nodeFault(read, key, one);
    if (fault !== null) return fault;
  }
  return null;
}

function nodeFault(read: AcTree, key: string, one: AcNode): string | null {
  if (one.id !== key) return `${key} stands under another id`;
  if (one.depth > read.max_depth) return `${key} is too deep`;
  if (one.depth === 0 && read.root_id !== key) return `${key} is a second root`;
  const parent = one.parent_id === null ? undefined : acNodeOf(read, one.parent_id);
  if (parent !== undefined && (parent.depth + 1 !== one.depth || !parent.children_ids.includes(key)))
    return `${key} does not hang on its parent`;
  return one.children_ids.every((id) => acNodeOf(read, id)?.parent_id === key)
    ? null
    : `${key} lists a child that is not its own`;
}
