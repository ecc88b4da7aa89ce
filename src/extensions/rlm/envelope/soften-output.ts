/**
 * Owns the lenient reading of a reply: the six fields of the output contract must be there and readable, the rest is brought into the
 * schema's form (notes 15.1, output_contract). Each thing that was changed is a note. It does not judge.
 * Invariant: nothing is invented that counts as evidence: a reference without a chunk is left out, and said to be.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { artifact } from './artifact-schema.ts';
import type { Asked } from './asked.ts';
import { REQUIRED_OUTPUT_FIELDS, VERDICTS } from './call-mode.ts';
import { type EnvelopeProblem, problem } from './envelope-problem.ts';
import { OUTPUT_VERSION, outputSchema } from './output-schema.ts';

export interface Softened {
  /** In the form of the schema, not yet read by it. */
  readonly value: JsonObject;
  readonly notes: readonly EnvelopeProblem[];
}

/** Words in which models say a verdict. */
const VERDICT_WORDS: Readonly<Record<string, string>> = {
  pass: 'passed',
  ok: 'passed',
  success: 'passed',
  completed: 'passed',
  complete: 'passed',
  done: 'passed',
  fail: 'failed',
  error: 'failed',
  retry: 'retryable',
};

export function softenOutput(reply: JsonObject, asked: Asked): Softened {
  const notes: EnvelopeProblem[] = [];
  const known = Object.keys(outputSchema.shape);
  for (const key of Object.keys(reply))
    if (!known.includes(key)) notes.push(problem('field_not_allowed', key.slice(0, 80), 'left out'));
  for (const key of known) {
    const required: readonly string[] = REQUIRED_OUTPUT_FIELDS;
    if (!Object.hasOwn(reply, key) && !required.includes(key)) notes.push(problem('missing_field', key, 'filled in'));
  }
  const value = {
    schema_version: reply.schema_version ?? OUTPUT_VERSION,
    mode: reply.mode,
    rlm_node_id: reply.rlm_node_id ?? asked.rlm_node_id,
    ac_node_id: reply.ac_node_id ?? asked.ac_node_id,
    verdict: readVerdict(reply.verdict),
    confidence: reply.confidence,
    result: readResult(reply.result),
    evidence_references: readReferences(reply.evidence_references, notes),
    residual_gaps: readGaps(reply.residual_gaps),
    artifacts: readArtifacts(reply.artifacts, notes),
    control: readControl(reply.control),
  };
  return { value, notes };
}

function readVerdict(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string') return value;
  const word = value.trim().toLowerCase();
  if (VERDICTS.some((known) => known === word)) return word;
  return Object.hasOwn(VERDICT_WORDS, word) ? VERDICT_WORDS[word] : value;
}

function readResult(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') return { summary: value, details: {} };
  if (!isJsonObject(value)) return value;
  const { summary, details = {}, ...rest } = value;
  const kept = isJsonObject(details) || Object.keys(rest).length === 0 ? details : { details };
  return {
    summary: typeof summary === 'string' ? summary : '',
    details: isJsonObject(kept) ? { ...kept, ...rest } : kept,
  };
}

function readReferences(value: JsonValue | undefined, notes: EnvelopeProblem[]): JsonValue | undefined {
  const list: readonly JsonValue[] | undefined = isJsonObject(value) ? [value] : listOf(value);
  if (list === undefined) return value;
  const kept: JsonObject[] = [];
  for (const [at, item] of list.entries()) {
    const reference = isJsonObject(item) ? readReference(item) : null;
    if (reference === null) notes.push(problem('missing_field', `evidence_references.${at}.chunk_id`, 'left out'));
    else kept.push(reference);
  }
  return kept;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function readReference(item: JsonObject): JsonObject | null {
  const chunk_id = firstText(item.chunk_id, item.evidence_chunk_id, item.source_chunk_id);
  if (chunk_id === null) return null;
  const claim = firstText(item.claim, item.quoted_evidence, item.text, item.statement) ?? '';
  return {
    chunk_id,
    source_path: firstText(item.source_path),
    start_line: lineOf(item.start_line),
    end_line: lineOf(item.end_line),
    claim,
  };
}

function readGaps(value: JsonValue | undefined): JsonValue | undefined {
  const list = typeof value === 'string' || isJsonObject(value) ? [value] : value;
  if (!Array.isArray(list)) return value;
  return list.map((item: JsonValue) => {
    if (!isJsonObject(item))
      return { gap: typeof item === 'string' ? item : JSON.stringify(item), impact: '', suggested_next_step: '' };
    const gap = firstText(item.gap, item.text, item.description) ?? JSON.stringify(item);
    return {
      gap,
      impact: firstText(item.impact) ?? '',
      suggested_next_step: firstText(item.suggested_next_step) ?? '',
    };
  });
}

/** An artifact that cannot be read is no artifact. */
function readArtifacts(value: JsonValue | undefined, notes: EnvelopeProblem[]): JsonValue {
  const list = Array.isArray(value) ? value : isJsonObject(value) ? [value] : [];
  return list.filter((item: JsonValue, at) => {
    const fits = artifact.safeParse(item).success;
    if (!fits) notes.push(problem('artifact_not_allowed', `artifacts.${at}`, 'left out'));
    return fits;
  });
}

function readControl(value: JsonValue | undefined): JsonObject {
  const control = isJsonObject(value) ? value : {};
  return {
    requires_retry: control.requires_retry === true,
    suggested_next_mode: typeof control.suggested_next_mode === 'string' ? control.suggested_next_mode : 'none',
    must_not_recurse: control.must_not_recurse !== false,
  };
}

function firstText(...values: readonly (JsonValue | undefined)[]): string | null {
  const found = values.find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : null;
}

function lineOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : null;
}
