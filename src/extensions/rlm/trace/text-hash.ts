// Owns how a text and an outcome are named by their content. Invariant: equal data, equal name; keys of an outcome have no order.
import { sha256 } from '#base/ids.ts';
import { canonicalJson, type JsonValue } from '#base/json.ts';

/** `sha256:` and hex, of the UTF-8 of the text. */
export function textHash(text: string): string {
  return `sha256:${sha256(text)}`;
}

/** Of the canonical JSON: the state hash of a run is that of its outcome. */
export function jsonHash(value: JsonValue): string {
  return textHash(canonicalJson(value));
}
