// Owns recognising again which recorded calls a written note rests on: by time and tool, which stand in front of every quoted preview.
// Pure. Invariant: a mark is found in the block and in the reference file beside it, whatever became of the words behind it.
import { type BlockRow, safeName } from './evidence-lines.ts';

const MARKED = /^- (\d{4}-\d\d-\d\dT[\d:.]+(?:[+-]\d\d:\d\d|Z)) (.+?)(?: (?:ok|error)(?::.*)?)?$/gm;

export function evidenceMark({ created_at, tool_name }: BlockRow): string {
  return `${safeName(created_at)} ${safeName(tool_name)}`;
}

export function evidenceMarks(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(MARKED)].map(([, time = '', tool = '']) => `${time} ${tool}`));
}
