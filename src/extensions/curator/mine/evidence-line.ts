// Owns reading one evidence line as callers hand it over (curator notes 7): an object, its JSON text, or bare text. Pure.
// Invariant: total; a field of a wrong kind is absent.
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';

export interface EvidenceLine {
  readonly text: string;
  readonly refs: readonly string[];
  readonly targetSkill: string | null;
  readonly toolName: string | null;
  readonly isError: boolean;
  /** Bytes; 0: not given. */
  readonly skillMdSize: number;
}

export function readEvidenceLine(given: JsonValue): EvidenceLine {
  const fields = fieldsOf(given);
  const text = fields.text ?? '';
  return {
    text: typeof text === 'string' ? text : JSON.stringify(text),
    refs: [...refsOf(fields.evidence_refs), ...refsOf(fields.evidence_ref)].filter(
      (ref, at, all) => all.indexOf(ref) === at,
    ),
    targetSkill: named(fields.target_skill),
    toolName: named(fields.tool_name),
    isError: Boolean(fields.is_error),
    skillMdSize: sizeOf(fields.skill_md_size),
  };
}

function fieldsOf(given: JsonValue): JsonObject {
  if (isJsonObject(given)) return given;
  if (typeof given !== 'string') return { text: JSON.stringify(given ?? '') };
  const read = parseJson(given);
  const isLine = read.ok && isJsonObject(read.value) && 'text' in read.value;
  return isLine ? (read.value as JsonObject) : { text: given };
}

function refsOf(value: JsonValue | undefined): readonly string[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value ?? ''];
  return list.map((ref) => (typeof ref === 'object' ? JSON.stringify(ref) : String(ref))).filter((ref) => ref !== '');
}

function named(value: JsonValue | undefined): string | null {
  const name = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return name.trim() === '' ? null : name;
}

function sizeOf(value: JsonValue | undefined): number {
  const size = typeof value === 'number' || typeof value === 'string' ? Math.trunc(Number(value)) : 0;
  return Number.isFinite(size) && size > 0 ? size : 0;
}
