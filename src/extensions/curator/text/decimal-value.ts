// Owns the value of a number written in the digits of any script. Pure.

const DIGIT = /\p{Nd}/u;

/** `digits`: nothing else; the digits of every script stand in rows of ten from its zero on. */
export function decimalValue(digits: string): number {
  return Number(Array.from(digits, digitValue).join(''));
}

function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let below = 0;
  while (DIGIT.test(String.fromCodePoint(code - below - 1))) below += 1;
  return below % 10;
}
