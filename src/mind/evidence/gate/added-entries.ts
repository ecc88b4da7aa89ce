// Owns what a memory change adds to the entries that really stand there. Knows no check and no file.
// Invariants: only a whole sentence, line or clause of the entry that the door would replace is old; what the change itself calls old
// counts for nothing; what adds nothing has an empty text, so that there is one text for each operation.
import type { MemoryOperation } from '../memory-operation.ts';
import { foldText } from '../trace-guard/fold-text.ts';

export function addedEntries(operations: readonly MemoryOperation[], entries: readonly string[]): readonly string[] {
  return operations.map((operation) => {
    if (operation.action === 'remove') return '';
    if (operation.action === 'add') return operation.content;
    const old = meantEntry(entries, operation.oldText);
    return old === undefined ? operation.content : addedParts(operation.content, old);
  });
}

/** The entry that equals the text, else the only one that holds it, as the door finds it. */
function meantEntry(entries: readonly string[], text: string): string | undefined {
  if (entries.includes(text)) return text;
  const cut = text.replace(/(?:…|\.\.\.)$/, '');
  const direct = entries.filter((entry) => entry.includes(text));
  const holding = direct.length > 0 || cut === '' ? direct : entries.filter((entry) => entry.includes(cut));
  return holding.length === 1 ? holding[0] : undefined;
}

/** Parts that are no part of the old text. */
export function addedParts(after: string, before: string): string {
  const old = new Set(partsOf(before).map(keyOf));
  return partsOf(after)
    .filter((part) => keyOf(part) !== '' && !old.has(keyOf(part)))
    .join('\n');
}

function partsOf(text: string): readonly string[] {
  return text.split(/(?<=[.!?;])\s+|\n+/u);
}

function keyOf(part: string): string {
  return foldText(part).replace(/[.;!?]+$/, '');
}
