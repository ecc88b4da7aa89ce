// Owns the prose of a result that may state a fact (notes 6.2): each of three fields is a text by itself.
import { isJsonObject, type JsonObject } from '#base/json.ts';

const SUMMARY_FIELDS = ['summary', 'answer', 'final_answer'];

export function summaryTexts(completion: JsonObject): readonly string[] {
  const result = isJsonObject(completion.result) ? completion.result : {};
  return SUMMARY_FIELDS.map((key) => result[key]).filter((text): text is string => typeof text === 'string');
}
