// Owns every text and number of a completion with its key, and whether it stands where gaps are listed. Invariant: nothing is left out,
// at any depth; order is that of the completion.
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

export function completionTexts(value: JsonValue | undefined, key = '', isGap = false): readonly CompletionText[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ key, text: String(value), isGap }];
  if (Array.isArray(value)) return value.flatMap((item) => completionTexts(item, key, isGap));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => completionTexts(item, name, isGap || GAP_KEY.test(name)));
}
