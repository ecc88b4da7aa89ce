/**
 * Owns the one door into operational memory: a record of fixed words, or a refusal with its reason (notes 5).
 * It does not know where records are kept. Invariant: a record that passed holds only listed words, short guarded text, a confidence
 * in 0..1 and no field that is not listed. Serves seed 003: memory never stores "this fixture's answer is X".
 */
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { forbiddenText } from './forbidden-text.ts';
import {
  MEMORY_FIELDS,
  MEMORY_KINDS,
  MEMORY_TASKS,
  type MemoryKind,
  type MemoryTask,
  RECOMMENDATIONS,
  type Recommendation,
} from './memory-words.ts';

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

export type CheckedRecord =
  | { readonly ok: true; readonly record: MemoryRecord }
  | { readonly ok: false; readonly reason: MemoryRefusal; readonly detail: string };

/** Longest text of one field, in UTF-16 units. */
const LONGEST_TEXT = 200;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

type Refused = { readonly ok: false; readonly reason: MemoryRefusal; readonly detail: string };
type Rule = (record: JsonObject) => Refused | null;

/** The rules in order; the first that fails gives the reason. */
const RULES: readonly Rule[] = [
  refuseOtherFields,
  refuseMissing,
  (record) => refuseWord(record, 'kind', MEMORY_KINDS),
  (record) => refuseWord(record, 'task', MEMORY_TASKS),
  (record) => refuseWord(record, 'recommendation', RECOMMENDATIONS),
  refuseValues,
  refuseText,
];

/** @param value any JSON value. The record comes back with every field, defaults filled in. */
export function validateMemoryRecord(value: unknown): CheckedRecord {
  if (!isJsonObject(value)) return refusal('record_not_object', 'a memory record is one JSON object');
  for (const rule of RULES) {
    const refused = rule(value);
    if (refused !== null) return refused;
  }
  return { ok: true, record: readRecord(value) };
}

function refuseOtherFields(record: JsonObject): Refused | null {
  const allowed: readonly string[] = MEMORY_FIELDS;
  const other = Object.keys(record)
    .filter((key) => !allowed.includes(key))
    .sort()[0];
  return other === undefined
    ? null
    : refusal('field_not_allowed', `the field ${JSON.stringify(other.slice(0, 80))} is not one of a memory record`);
}

function refuseMissing(record: JsonObject): Refused | null {
  const missing = (['kind', 'task', 'recommendation'] as const).find((key) => isAbsent(own(record, key)));
  return missing === undefined ? null : refusal('missing_required_field', `${missing} is missing`);
}

function refuseWord(
  record: JsonObject,
  field: 'kind' | 'task' | 'recommendation',
  words: readonly string[],
): Refused | null {
  const value = own(record, field);
  if (typeof value === 'string' && words.includes(value)) return null;
  return refusal(`${field}_not_allowed`, `${field} is not one of: ${words.join(', ')}`);
}

function refuseValues(record: JsonObject): Refused | null {
  for (const field of ['family_id', 'fixture_category', 'outcome'] as const) {
    const value = own(record, field) ?? null;
    if (value !== null && typeof value !== 'string')
      return refusal('field_value_not_allowed', `${field} is text or null`);
    if (value !== null && value.length > LONGEST_TEXT)
      return refusal('field_value_not_allowed', `${field} is longer than ${LONGEST_TEXT}`);
  }
  const at = own(record, 'created_at') ?? null;
  if (at === null || (typeof at === 'string' && ISO_TIME.test(at))) return null;
  return refusal('field_value_not_allowed', 'created_at is an ISO time');
}

function refuseText(record: JsonObject): Refused | null {
  for (const field of ['family_id', 'fixture_category', 'outcome'] as const) {
    const value = own(record, field);
    const why = typeof value === 'string' ? forbiddenText(value) : null;
    if (why !== null) return refusal('forbidden_or_injection_text', `${field} holds ${why}`);
  }
  return null;
}

function readRecord(record: JsonObject): MemoryRecord {
  return {
    kind: own(record, 'kind') as MemoryKind,
    task: own(record, 'task') as MemoryTask,
    recommendation: own(record, 'recommendation') as Recommendation,
    family_id: textOf(own(record, 'family_id')),
    fixture_category: textOf(own(record, 'fixture_category')),
    outcome: textOf(own(record, 'outcome')) ?? '',
    confidence: readConfidence(own(record, 'confidence')),
    created_at: textOf(own(record, 'created_at')),
  };
}

/** Clamped to 0..1; what is no number counts as 1. */
function readConfidence(value: JsonValue | undefined): number {
  if (typeof value !== 'number' || Number.isNaN(value)) return 1;
  return Math.min(1, Math.max(0, value));
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}

/** Inherited names (`constructor`) are no fields. */
function own(record: JsonObject, field: string): JsonValue | undefined {
  return Object.hasOwn(record, field) ? record[field] : undefined;
}

function refusal(reason: MemoryRefusal, detail: string): Refused {
  return { ok: false, reason, detail };
}
