// Owns snapshots for doubles: a deep copy that nobody can change afterwards. Knows no message type.

/** A structured clone of `value`, frozen at every depth. */
export function frozenSnapshot<T>(value: T): T {
  return deepFreeze(structuredClone(value));
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
