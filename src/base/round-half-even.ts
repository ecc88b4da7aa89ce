// Owns rounding to decimals as the original's language does it: exactly, and an exact half to the even digit. Pure.

/** `digits`: decimals, 0 to 12. */
export function roundHalfEven(value: number, digits: number): number {
  if (!Number.isFinite(value)) return value;
  const exact = Math.abs(value).toFixed(60);
  const cut = exact.indexOf('.') + 1 + digits;
  const isHalf = /^50*$/.test(exact.slice(cut));
  const kept = Number(exact.slice(0, cut));
  const lastIsEven = /[02468]\.?$/.test(exact.slice(0, cut));
  const rounded = isHalf && lastIsEven ? kept : Number(Math.abs(value).toFixed(digits));
  return value < 0 ? -rounded : rounded;
}
