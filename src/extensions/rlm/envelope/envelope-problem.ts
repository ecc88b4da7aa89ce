// Owns the reason codes of envelopes that are not what they should be, and how a schema's complaints become them. Knows no schema.
// Invariant: the path says where, the detail never quotes more than a name.
import type { z } from 'zod';
import { isJsonObject } from '#base/json.ts';

export const PROBLEM_CODES = [
  'not_an_object',
  'reply_too_large',
  'prompt_echo',
  'schema_version_mismatch',
  'missing_field',
  'field_type',
  'field_not_allowed',
  'value_not_allowed',
  'out_of_range',
  'mode_not_allowed',
  'mode_mismatch',
  'node_id_mismatch',
  'depth_mismatch',
  'verdict_not_allowed',
  'confidence_out_of_range',
  'gaps_with_final_verdict',
  'evidence_outside_context',
  'child_outside_context',
  'duplicate_id',
  'child_order',
  'artifact_missing',
  'artifact_not_allowed',
  'decomposition_verdict_mismatch',
  'insufficient_children',
  'too_many_children',
  'depends_on_later_sibling',
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

export interface EnvelopeProblem {
  readonly code: ProblemCode;
  /** As `evidence_references.0.chunk_id`; empty: the whole. */
  readonly path: string;
  readonly detail: string;
}

export function problem(code: ProblemCode, path: string, detail: string): EnvelopeProblem {
  return { code, path, detail };
}

export function schemaProblems(error: z.core.$ZodError, value: unknown): readonly EnvelopeProblem[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.join('.');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) =>
        problem('field_not_allowed', join(path, key.slice(0, 80)), 'the field is not in the schema'),
      );
    }
    return [problem(codeOf(issue, value), path, issue.message)];
  });
}

function codeOf(issue: z.core.$ZodIssue, value: unknown): ProblemCode {
  if (at(value, issue.path) === undefined) return 'missing_field';
  const field = issue.path.at(-1);
  if (issue.code === 'invalid_value') return valueCode(field);
  if (issue.code === 'too_small' || issue.code === 'too_big')
    return field === 'confidence' ? 'confidence_out_of_range' : 'out_of_range';
  return 'field_type';
}

function valueCode(field: PropertyKey | undefined): ProblemCode {
  if (field === 'schema_version') return 'schema_version_mismatch';
  if (field === 'mode') return 'mode_not_allowed';
  return field === 'verdict' ? 'verdict_not_allowed' : 'value_not_allowed';
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (Array.isArray(found)) found = found[Number(key)];
    else if (isJsonObject(found) && Object.hasOwn(found, key)) found = found[String(key)];
    else return undefined;
  }
  return found;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
