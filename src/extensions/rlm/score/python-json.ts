// Owns JSON as the original's language prints it with sorted keys (notes 6.2): ", " and ": " between parts, all but ASCII escaped, numbers
// in its own spelling. Invariant: equal data gives equal text. A whole number given as data is an integer: its spelling is not known here.
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { comparePoints } from '#base/text/code-points.ts';

export function pythonJson(value: JsonValue | undefined): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[${value.map((item) => pythonJson(item)).join(', ')}]`;
  if (!isJsonObject(value)) return String(value ?? null);
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort(comparePoints)
    .map((key) => `${quoted(key)}: ${pythonJson(value[key])}`);
  return `{${members.join(', ')}}`;
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escapeUnit);
}

/** DEL is ASCII and stays; beyond the first plane the two halves of a character are escaped one by one. */
function escapeUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  return code === 0x7f ? unit : `\\u${code.toString(16).padStart(4, '0')}`;
}

function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return BigInt(value).toString();
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-4 && magnitude < 1e16) return String(value);
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const sign = exponent.startsWith('-') ? '-' : '+';
  return `${mantissa}e${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`;
}
