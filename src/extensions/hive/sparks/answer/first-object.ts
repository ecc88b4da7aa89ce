// Owns finding the JSON object in what a model wrote: fences and talk around it are skipped. Knows no schema.
// Invariant: total, and bounded whatever the text; nothing is repaired. Notes on seed 004, B11.
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';

/** Characters that are looked at; a reply within its token cap is far shorter. */
const LONGEST = 20_000;
/** Braces at which an object may begin. */
const MOST_STARTS = 20;

/** The first text in braces that is a JSON object, or undefined. */
export function firstObject(reply: string): JsonObject | undefined {
  const text = reply.slice(0, LONGEST);
  let from = text.indexOf('{');
  for (let tried = 0; from !== -1 && tried < MOST_STARTS; tried += 1) {
    const parsed = parseJson(text.slice(from, endOfObject(text, from)));
    if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
    from = text.indexOf('{', from + 1);
  }
  return undefined;
}

/** Index after the brace that closes the one at `from`; the text's end when none does. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  const marks = /\\.|["{}]/gs;
  marks.lastIndex = from;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') inString = !inString;
    else if (!inString) depth += DEPTH.get(mark[0]) ?? 0;
    if (depth === 0) return marks.lastIndex;
  }
  return text.length;
}

const DEPTH: ReadonlyMap<string, number> = new Map([
  ['{', 1],
  ['}', -1],
]);
