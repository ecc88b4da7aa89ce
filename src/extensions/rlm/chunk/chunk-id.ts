// Owns the spelling of chunk handles: `<path>:<first>-<last>`, 1-based and inclusive (notes 6.1), with `#n` for the n-th part of one line
// that is too long for a chunk. Invariant: parse after make gives the parts back, also for paths with colons.

export interface ChunkPlace {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  /** From 1; null: the lines are whole. */
  readonly part: number | null;
}

/** The handle of a target that is a text and no file. */
export const PROMPT_CHUNK_ID = 'prompt:target';

export function chunkId({ path, start_line, end_line, part }: ChunkPlace): string {
  return `${path}:${start_line}-${end_line}${part === null ? '' : `#${part}`}`;
}

/** The handle of a folder without files. */
export function fileListId(path: string): string {
  return `${path}:file-list`;
}

/** null: not the handle of lines. */
export function parseChunkId(id: string): ChunkPlace | null {
  const found = /^([\s\S]*):([1-9]\d{0,14})-([1-9]\d{0,14})(?:#([1-9]\d{0,14}))?$/.exec(id);
  if (found === null) return null;
  const [, path = '', start, end, part] = found;
  return { path, start_line: Number(start), end_line: Number(end), part: part === undefined ? null : Number(part) };
}
