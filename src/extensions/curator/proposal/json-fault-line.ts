// Owns finding the line at which a text stops being JSON: what the parser says names it only sometimes. Pure.
// Invariant: total; the line is within the text.
import { parseJson } from '#base/json.ts';

/** From 1. For a text that `parseJson` refuses. */
export function jsonFaultLine(text: string): number {
  let good = 0;
  let bad = text.length;
  while (good < bad) {
    const middle = Math.ceil((good + bad) / 2);
    if (canGoOn(text.slice(0, middle))) good = middle;
    else bad = middle - 1;
  }
  return text.slice(0, good).split('\n').length;
}

/** Whether more text could make it JSON: its only fault is that it ends. */
function canGoOn(start: string): boolean {
  const read = parseJson(start);
  if (read.ok || start.trim() === '') return true;
  const position = /\bat position (\d+)/.exec(read.detail)?.[1];
  if (position !== undefined) return Number(position) >= start.length;
  return /^Unexpected end of JSON/.test(read.detail);
}
