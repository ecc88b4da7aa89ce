// Owns turning a span into the chunk that a call gets (notes 6.1). Invariant: the content is the decoded bytes of the span and nothing else;
// bytes that are no UTF-8 show as U+FFFD and are named by `lossy`, a byte order mark stays.
import { isUtf8 } from 'node:buffer';
import { PROMPT_CHUNK_ID } from './chunk-id.ts';
import { countWords } from './count-words.ts';
import type { ChunkSpan } from './plan-chunks.ts';

export interface Chunk {
  readonly chunk_id: string;
  readonly source_path: string | null;
  readonly start_line: number;
  readonly end_line: number;
  readonly content: string;
  /** Words, at least 1: the original's measure, no count of model tokens. */
  readonly token_estimate: number;
  readonly truncated: boolean;
  /** The source holds bytes here that are no text. */
  readonly lossy: boolean;
}

export function readChunk(bytes: Uint8Array, span: ChunkSpan): Chunk {
  const { chunk_id, source_path, start_line, end_line, truncated } = span;
  const part = bytes.subarray(span.start_byte, span.end_byte);
  const content = decode(part);
  return {
    chunk_id,
    source_path,
    start_line,
    end_line,
    content,
    token_estimate: countWords(content),
    truncated,
    lossy: !isUtf8(part),
  };
}

/** Only what no earlier chunk holds: the cores of a source, joined, are the source. */
export function readCore(bytes: Uint8Array, span: ChunkSpan): string {
  return decode(bytes.subarray(span.core_start_byte, span.end_byte));
}

/** A target that is a text and no file is one chunk. */
export function promptChunk(content: string): Chunk {
  const end_line = Math.max(1, content.split(/\r\n|\n|\r/).length);
  const lines = { start_line: 1, end_line };
  return {
    chunk_id: PROMPT_CHUNK_ID,
    source_path: null,
    ...lines,
    content,
    token_estimate: countWords(content),
    truncated: false,
    lossy: false,
  };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
