// Owns the one door into operational memory (notes 5): what may be remembered is chosen from fixed words, never written freely; a record, or a refusal
// with its reason. It does not know where records are kept. Invariant: a record that passed holds only listed words, short guarded text, a confidence
// in 0..1 and no field that is not listed; a text is read without invisible characters. What really keeps a prompt clean is that no free text of a
// record is ever sent (priors.ts). Serves seed 003: memory never stores "this fixture's answer is X".

import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import { foldText } from '#base/text/fold.ts';

/** Off unless one is chosen. */
export const MEMORY_MODES = ['off', 'read', 'write', 'read-write'] as const;

export type MemoryModeName = (typeof MEMORY_MODES)[number];

export function readsMemory(mode: MemoryModeName): boolean {
  return mode.startsWith('read');
}

export function writesMemory(mode: MemoryModeName): boolean {
  return mode.endsWith('write');
}

export const MEMORY_KINDS = [
  'provider_schema_stability',
  'missing_evidence_handle_seen',
  'repair_strategy_succeeded',
  'repair_strategy_failed',
  'latency_bucket',
  'schema_hint_needed',
] as const;

export type MemoryKind = (typeof MEMORY_KINDS)[number];

export const MEMORY_TASKS = [
  'extract_child_evidence',
  'synthesize_parent_answer_from_child_evidence',
  'repair_missing_evidence_handle',
  'parent_synthesis_retry',
] as const;

export type MemoryTask = (typeof MEMORY_TASKS)[number];

export const RECOMMENDATIONS = [
  'require_fact_id_and_evidence_chunk_id',
  'preserve_child_fact_identity',
  'prefer_strict_json_schema',
  'retry_once_after_missing_handle_repair',
  'route_synthesis_to_schema_stable_provider',
  'avoid_chunk_only_citations',
  'record_latency_without_quality_claim',
] as const;

export type Recommendation = (typeof RECOMMENDATIONS)[number];

export const MEMORY_FIELDS = [
  'kind',
  'task',
  'recommendation',
  'family_id',
  'fixture_category',
  'outcome',
  'confidence',
  'created_at',
] as const;

export interface MemoryRecord {
  readonly kind: MemoryKind;
  readonly task: MemoryTask;
  readonly recommendation: Recommendation;
  /** null: any family. */
  readonly family_id: string | null;
  /** null: any category. */
  readonly fixture_category: string | null;
  readonly outcome: string;
  readonly confidence: number;
  /** ISO time; null: not said. */
  readonly created_at: string | null;
}

export type MemoryRefusal =
  | 'record_not_object'
  | 'field_not_allowed'
  | 'missing_required_field'
  | 'kind_not_allowed'
  | 'task_not_allowed'
  | 'recommendation_not_allowed'
  | 'field_value_not_allowed'
  | 'forbidden_or_injection_text';

const WORDS = { kind: MEMORY_KINDS, task: MEMORY_TASKS, recommendation: RECOMMENDATIONS } as const;
const NAMES = ['kind', 'task', 'recommendation'] as const;
const TEXTS = ['family_id', 'fixture_category', 'outcome'] as const;
/** Longest text of one field, in UTF-16 units. */
const LONGEST_TEXT = 200;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** @param value any JSON value. The record comes back with every field, defaults filled in. The first rule that fails gives the reason. */
export function validateMemoryRecord(value: unknown): Result<MemoryRecord, MemoryRefusal> {
  if (!isJsonObject(value)) return refuse('record_not_object', 'a memory record is one JSON object');
  // Inherited fields are none.
  const own: JsonObject = { ...value };
  const refused = wrongNames(own) ?? wrongValues(own);
  if (refused !== null) return refused;
  const { confidence } = own;
  const text = (field: string) => (own[field] ?? null) as string | null;
  return ok({
    kind: own.kind as MemoryKind,
    task: own.task as MemoryTask,
    recommendation: own.recommendation as Recommendation,
    family_id: text('family_id'),
    fixture_category: text('fixture_category'),
    outcome: text('outcome') ?? '',
    // What is no number counts as 1.
    confidence: typeof confidence === 'number' && !Number.isNaN(confidence) ? Math.min(1, Math.max(0, confidence)) : 1,
    created_at: text('created_at'),
  });
}

function wrongNames(record: JsonObject): Refusal<MemoryRefusal> | null {
  const allowed: readonly string[] = MEMORY_FIELDS;
  const [other] = Object.keys(record)
    .sort()
    .filter((key) => !allowed.includes(key));
  if (other !== undefined)
    return refuse('field_not_allowed', `the field ${JSON.stringify(other.slice(0, 80))} is not one of a memory record`);
  const missing = NAMES.find((key) => (record[key] ?? '') === '');
  if (missing !== undefined) return refuse('missing_required_field', `${missing} is missing`);
  const wrong = NAMES.find((name) => !(WORDS[name] as readonly unknown[]).includes(record[name]));
  return wrong === undefined
    ? null
    : refuse(`${wrong}_not_allowed`, `${wrong} is not one of: ${WORDS[wrong].join(', ')}`);
}

function wrongValues(record: JsonObject): Refusal<MemoryRefusal> | null {
  for (const field of TEXTS) {
    const value = record[field] ?? '';
    if (typeof value !== 'string' || value.length > LONGEST_TEXT)
      return refuse('field_value_not_allowed', `${field} is null or a text of ${LONGEST_TEXT} characters at most`);
  }
  const at = record.created_at ?? null;
  if (at !== null && !(typeof at === 'string' && ISO_TIME.test(at)))
    return refuse('field_value_not_allowed', 'created_at is an ISO time');
  const field = TEXTS.find((name) => forbiddenText(String(record[name] ?? '')) !== null);
  if (field === undefined) return null;
  return refuse('forbidden_or_injection_text', `${field} holds ${forbiddenText(String(record[field]))}`);
}

const FORBIDDEN: readonly (readonly [form: RegExp, why: string])[] = [
  [/\bfacts?\s*[:#]\s*\S/i, 'a fact tag'],
  [/\bL[PC]-(?:\d{2,}-\d{2,}|\d{3,})/i, 'a fact id'],
  [/\b[A-Z]{2,}(?:-[A-Z]{2,})*-(?:\d{2,}-\d{2,}|\d{3,})\b/, 'a fact id'],
  [/\blive_portability\/\S/i, 'a path of a fixture'],
  [/[\w./-]:\d+-\d+/, 'a chunk handle'],
  [/\b\w+:\/\/\S/, 'a handle'],
  [/chunk_id\b[^:=\n]{0,80}[:=]/i, 'a chunk id'],
  [
    /\b(?:ignor|bypass|disabl|overrid|skip)\w*\s+(?:\w+\s+){0,3}(?:traceguard|evidence|validation|guards?|rules|instructions)\b/i,
    'an instruction',
  ],
  [/\btreat\s+(?:this\s+|the\s+)?memory\s+as\s+evidence\b/i, 'an instruction'],
  [/\bmemory\s+(?:is|counts\s+as)\s+evidence\b/i, 'an instruction'],
  [/\bclaim\s+L[PC]-/i, 'an instruction'],
  [/\banswers?\s*(?:is|was|are|=|:)/i, 'an answer'],
];

/** Secrets, facts, ids, handles, instructions: what is forbidden in the text, in two or three words, or null. */
function forbiddenText(text: string): string | null {
  if (findSecrets(text).length > 0) return 'a secret';
  const plain = foldText(text, 'seen');
  const spaced = plain.replace(/[_\s]+/g, ' ');
  return FORBIDDEN.find(([form]) => form.test(plain) || form.test(spaced))?.[1] ?? null;
}

export interface RejectedLine {
  /** 1-based; for candidates that were never in a file, their place in the list. */
  readonly line: number;
  readonly reason: MemoryRefusal | 'invalid_json';
  readonly detail: string;
}

export interface ReadMemory {
  readonly records: readonly MemoryRecord[];
  readonly rejected: readonly RejectedLine[];
}

export function judgeRecords(values: readonly unknown[]): ReadMemory {
  const all = values.map(validateMemoryRecord);
  const rejected = all.flatMap((one, at) => (one.ok ? [] : [{ line: at + 1, reason: one.reason, detail: one.detail }]));
  return { records: all.flatMap((one) => (one.ok ? [one.value] : [])), rejected };
}
