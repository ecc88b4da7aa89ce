// Owns reading one evidence line as callers hand it over (curator notes 7): an object, its JSON text, or bare text. Pure.
// Invariant: total; a field of a wrong kind is absent, one that nests deeper than anything can write down too. The original keeps a
// reference as often as it was given.
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { isTruthy } from '#mind/evidence/ledger/upstream-value.ts';

export interface EvidenceLine {
  readonly text: string;
  readonly refs: readonly string[];
  readonly targetSkill: string | null;
  readonly toolName: string | null;
  readonly isError: boolean;
  /** Bytes; 0: not given. */
  readonly skillMdSize: number;
}

export function readEvidenceLine(given: JsonValue, options: CompatOptions = {}): EvidenceLine {
  const fields = fieldsOf(given);
  const refs = [...refsOf(fields.evidence_refs), ...refsOf(fields.evidence_ref)];
  return {
    text: textOf(fields.text),
    refs: options.compat === 'upstream' ? refs : [...new Set(refs)],
    targetSkill: named(fields.target_skill),
    toolName: named(fields.tool_name),
    isError: isTruthy(fields.is_error),
    skillMdSize: sizeOf(fields.skill_md_size),
  };
}

function fieldsOf(given: JsonValue): JsonObject {
  if (isJsonObject(given)) return given;
  if (typeof given !== 'string') return { text: textOf(given) };
  const read = parseJson(given);
  const isLine = read.ok && isJsonObject(read.value) && 'text' in read.value;
  return isLine ? (read.value as JsonObject) : { text: given };
}

function refsOf(value: JsonValue | undefined): readonly string[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value ?? ''];
  return list.map((ref) => (typeof ref === 'object' ? textOf(ref) : String(ref))).filter((ref) => ref !== '');
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return '';
    throw error;
  }
}

function named(value: JsonValue | undefined): string | null {
  const name = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return name.trim() === '' ? null : name;
}

function sizeOf(value: JsonValue | undefined): number {
  const size = typeof value === 'number' || typeof value === 'string' ? Math.trunc(Number(value)) : 0;
  return Number.isFinite(size) && size > 0 ? size : 0;
}
