// Owns every text and number of a completion with its key, and whether it stands where gaps are listed. Invariant: nothing is left out,
// at any depth, keys that may be ids included; order is that of the completion.
import { isJsonObject, type JsonValue } from '#base/json.ts';

export interface CompletionText {
  /** The nearest key above; empty at the top. */
  readonly key: string;
  /** A number is given in digits. */
  readonly text: string;
  /** It stands under a key that lists what was not read: naming a fact there states nothing. */
  readonly isGap: boolean;
}

const GAP_KEY = /^(?:residual_gaps?|truncation_report|truncation_boundary|omitted_\w+)$/;
const FIELD_NAME = /^[a-z_]*$/;

export function completionTexts(value: JsonValue | undefined, key = '', isGap = false): readonly CompletionText[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ key, text: String(value), isGap }];
  if (Array.isArray(value)) return value.flatMap((item) => completionTexts(item, key, isGap));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const inGap = isGap || GAP_KEY.test(name);
    return [...keyTexts(name, item, inGap), ...completionTexts(item, name, inGap)];
  });
}

/** A key that is no field name may be an id: with its value it is a sentence, before a list or an object a heading. */
function keyTexts(name: string, value: JsonValue | undefined, isGap: boolean): readonly CompletionText[] {
  if (FIELD_NAME.test(name) || !value) return [];
  return [{ key: name, text: typeof value === 'string' ? `${name}: ${value}` : name, isGap }];
}
