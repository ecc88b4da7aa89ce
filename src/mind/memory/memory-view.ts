// Owns how entries are shown to a model: the same everywhere, so that what is blocked in the prompt is blocked in tool answers too.
// Knows no file. Invariant: an entry that the scan refuses is never shown; the file keeps it for the owner to see.
import { scanMemoryText } from '#mind/evidence/guard/scan-memory.ts';

export interface ShownEntry {
  readonly text: string;
  readonly blocked: boolean;
}

/** The entry, or `[BLOCKED: <handle> …]` when it may not be shown; `handle` such as `user:2`. */
export function showEntry(entry: string, handle: string): ShownEntry {
  const scan = scanMemoryText(entry);
  if (scan.ok) return { text: entry, blocked: false };
  const reason = scan.reason.replaceAll('_', ' ');
  return {
    text: `[BLOCKED: ${handle} holds ${reason} (${scan.rule}); only the owner can read or remove it]`,
    blocked: true,
  };
}

/** 1-based, as people count lines: `memory:1` is the first entry of MEMORY.md. */
export function entryHandle(target: string, index: number): string {
  return `${target}:${index + 1}`;
}
