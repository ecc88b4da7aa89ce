// Owns what the output and the code of something computed say: the output as lines of keys and values, the numbers that the code only
// carries, the emptiness that an output stands for. Knows no sentence. Invariant: total, linear in output and code.
import { type JsonValue, parseJson } from '#base/json.ts';

/** Canonical JSON as lines; what is no JSON as it is. */
export function outputText(output: string): string {
  const parsed = parseJson(output);
  if (!parsed.ok) return output;
  const lines: string[] = [];
  addLines(parsed.value, lines, 0);
  return lines.join('\n');
}

const DEEPEST = 50;

function addLines(value: JsonValue | undefined, lines: string[], depth: number): void {
  if (depth > DEEPEST) return;
  if (Array.isArray(value)) for (const item of value) addLines(item, lines, depth + 1);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      lines.push(key);
      addLines(item, lines, depth + 1);
    }
  else if (value !== undefined && value !== null) lines.push(String(value));
}

/** Does it say that nothing is there: 0, -1, false, null, an empty text, list or object, also as a value? */
export function saysNothingThere(output: string): boolean {
  return /(?:^|[[:,])(?:0|-1|false|null|""|\[\]|\{\})(?=$|[\],}])/.test(output);
}

/** Places where a number steers and cannot become the result by itself: index, comparison, arithmetic, bounds of a cut. */
const STEERING = [
  /(?<=[\w)\]])\[\s*-?\d{1,15}\s*\]/g,
  /(?:(?<!=)[<>]=?|[!=]==?|\*\*|[-+*/%]=?)\s{0,9}\d[\d_.]{0,20}/g,
  /\.(?:slice|lines?|substring|substr|at|charAt|toFixed|padStart|repeat)\(\s{0,9}(?:-?\d[\d_.]{0,20}\s{0,9},?\s{0,9}){1,4}\)/g,
];
/** Where counting begins. */
const PLAIN = new Set(['0', '1']);

/** What could be a number that the code states instead of computing it; a text to be read for numbers. */
export function statedNumbers(code: string): string {
  return STEERING.reduce((left, steering) => left.replace(steering, ' '), code);
}

export function isPlainNumber(value: string): boolean {
  return PLAIN.has(value);
}
