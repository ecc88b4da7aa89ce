// Owns how a memory call's result is answered: a fixed text with the entry quoted under its file, or the refusal as the tool gave it.
import { type JsonValue, parseJsonObject } from '#base/json.ts';
import type { ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { texts } from './english.ts';
import { FILES, type Target } from './kept-entries.ts';

export function sayWritten(
  template: string,
  entry: { readonly target: Target; readonly text: string },
  result: ToolResultPart,
): ReflexStep {
  const refusal = refusalOf(result);
  if (refusal !== undefined)
    return { type: 'say', text: texts.notChanged, quotes: [{ source: 'memory', text: refusal }] };
  const file = FILES[entry.target];
  return { type: 'say', text: template.replace('{}', file), quotes: [{ source: file, text: entry.text }] };
}

/** What the tool said against it; undefined when it was done. */
function refusalOf(result: ToolResultPart): string | undefined {
  const parsed = parseJsonObject(result.text);
  const failed =
    result.isError || result.observed.refused !== undefined || (parsed.ok && parsed.value.success === false);
  if (!failed) return undefined;
  return parsed.ok && typeof parsed.value.error === 'string' ? parsed.value.error : result.text;
}

/** Entries that the tool named as candidates: several matches, or the nearest ones. */
export function candidatesOf(result: ToolResultPart): readonly string[] {
  const parsed = parseJsonObject(result.text);
  if (!parsed.ok) return [];
  return [...strings(parsed.value.matches), ...strings(parsed.value.nearest)].map((entry) => entry.replace(/…$/, ''));
}

export function isNotFound(result: ToolResultPart): boolean {
  return refusalOf(result) !== undefined && /not_found|no entry|not found|no match/i.test(result.text);
}

function strings(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
