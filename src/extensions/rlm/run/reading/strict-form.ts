// Owns what the strict reading of a reply asks beyond the lenient one: the form that the run asked for and nothing around it. Memory turns
// it on; it makes a call be asked again and refuses nothing for good. Pure. Seed 003, memory: prefer strict JSON schema.
import { isJsonObject, parseJson } from '#base/json.ts';
import { outputSchema } from '../../envelope/output-schema.ts';

/** `list`: where the facts are asked for. */
export function strictForm(text: string, list: 'observed_facts' | 'retained_facts'): readonly string[] {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return ['the reply is not one bare JSON object (invalid_json)'];
  const { result } = parsed.value;
  if (!isJsonObject(result)) return ['result: is not an object (field_type)'];
  const known: readonly string[] = Object.keys(outputSchema.shape);
  const asked: readonly string[] = ['summary', 'details', list];
  return [
    ...Object.keys(parsed.value).filter((key) => !known.includes(key)),
    ...Object.keys(result)
      .filter((key) => !asked.includes(key))
      .map((key) => `result.${key}`),
  ].map((key) => `${key.slice(0, 80)}: is not asked for (field_not_allowed)`);
}
