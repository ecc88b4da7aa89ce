// Owns when two numbers are the same quantity: `1,024` and `1024`, `3.50` and `3.5`. Units are told apart by the house's number keys; this
// adds trailing zeros, the day and the time of a moment, and for what code computed, which tells no unit, the bare quantity. Pure.
const DECIMAL = /^(-?\d+)\.(\d+)([a-z%°$€£¥]{0,12})$/;
const THOUSANDS = 3;
const BARE = /^-?\d+(?:\.\d+)?/;

/** Of a key of a number; other keys stay as they are, and `1.000`, which is one or a thousand: only the same writing says it. */
export function numberValue(key: string): string {
  const [, whole = '', fraction = '', unit = ''] = DECIMAL.exec(key) ?? [];
  if (whole === '' || fraction.length === THOUSANDS) return key;
  const kept = fraction.replace(/0+$/, '');
  return kept === '' ? `${whole}${unit}` : `${whole}.${kept}${unit}`;
}

/** Without its unit; undefined: no number. */
export function bareNumber(key: string): string | undefined {
  const digits = BARE.exec(key)?.[0];
  const rest = digits === undefined ? '-' : key.slice(digits.length);
  return digits === undefined || !/^[a-z%°$€£¥]{0,12}$/.test(rest) ? undefined : numberValue(digits);
}
