// Owns recognising again which recorded calls a written note rests on: by time and tool, which stand in front of every quoted call
// (curator notes 10). Pure; knows no writer of notes. Invariant: found whatever became of the words behind it.

const MARKED =
  /^(?:- | {2}(?:last|worked afterwards): )(\d{4}-\d\d-\d\dT[\d:.]+(?:[+-]\d\d:\d\d|Z)) (.+?)(?: (?:ok|error)(?::.*)?)?$/gm;

/** `created_at` and `tool_name` as the ledger holds them; a name that no tool has is not found again. */
export function evidenceMark(row: { readonly created_at: string; readonly tool_name: string }): string {
  return `${row.created_at} ${row.tool_name}`;
}

export function evidenceMarks(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(MARKED)].map(([, time = '', tool = '']) => `${time} ${tool}`));
}
