// Owns whether a value can hide a statement: an object with any key, or a list that holds a text or such an object at any depth.
// Invariant: never recursive, so that depth is no danger; a list is looked at once.

export function holdsText(value: unknown): boolean {
  if (!Array.isArray(value)) return isFilledObject(value);
  const lists = new Set<readonly unknown[]>([value]);
  for (const list of lists) {
    for (const item of list) {
      if (Array.isArray(item)) lists.add(item);
      else if (isFilledObject(item) || (typeof item === 'string' && item.trim() !== '')) return true;
    }
  }
  return false;
}

function isFilledObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
