// Owns the one thing that a source needs of its medium: bytes of a part, where they are wanted. Over a text here; over files in
// file-bytes.ts. Contract: `read` gives exactly the bytes asked for, which lie inside the part, or throws; the caller does not change them.

export interface ByteReader {
  read(part: number, start: number, end: number): Uint8Array;
  close(): void;
}

export function textReader(bytes: Uint8Array): ByteReader {
  return { read: (_part, start, end) => bytes.subarray(start, end), close: () => undefined };
}
