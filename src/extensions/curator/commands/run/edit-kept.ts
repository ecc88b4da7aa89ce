// Owns the sentence about an edit that somebody made while a change was checked. Pure.

/** `archives`: absolute folders. */
export function editKept(archives: readonly string[]): string {
  return `The text from before the write stands again. What was edited while it was checked lies in ${archives.join(', ')}: take it from there.`;
}
