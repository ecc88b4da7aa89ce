// Owns which tier answers an inner call when no family is named: the deliberate one where an answer is made of evidence, the fast one for
// the rest (design 5). Reads the task from its prompt, as reflex does. Knows no provider.
import { parseJsonObject } from '#base/json.ts';
import type { Tier } from '#core/model/model-client.ts';

/** A baseline gets the same model as the synthesis that it is compared with. */
const DELIBERATE = new Set(['talaria.rlm.repl.v1', 'rlm.vanilla_baseline.input.v1']);

export function tierOf(prompt: string): Tier {
  const task = parseJsonObject(prompt);
  if (!task.ok) return 'T1';
  const { schema_version, mode } = task.value;
  if (typeof schema_version === 'string' && DELIBERATE.has(schema_version)) return 'T2';
  return mode === 'synthesize_parent' ? 'T2' : 'T1';
}
