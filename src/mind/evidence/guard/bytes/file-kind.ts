// Owns the telling of what bytes are: text, a program, compiled code, an archive, a document or picture. Knows no path but the ending.
// Invariant: looks at the first bytes and a sample only; what cannot be told is `binary`.

export type FileKind = 'text' | 'program' | 'compiled' | 'zip' | 'tar' | 'gzip' | 'sealed' | 'media' | 'binary';

const HEADS: readonly (readonly [kind: FileKind, head: string])[] = [
  ['program', '\x7fELF'],
  ['program', 'MZ'],
  ['program', '\xcf\xfa\xed\xfe'],
  ['program', '\xce\xfa\xed\xfe'],
  ['program', '\xfe\xed\xfa\xcf'],
  ['program', '\xca\xfe\xba\xbe'],
  ['program', '!<arch>'],
  ['compiled', '\x00asm'],
  ['compiled', 'dex\n'],
  ['zip', 'PK\x03\x04'],
  ['zip', 'PK\x05\x06'],
  ['gzip', '\x1f\x8b'],
  ['sealed', 'BZh'],
  ['sealed', '\xfd7zXZ'],
  ['sealed', '7z\xbc\xaf'],
  ['sealed', 'Rar!'],
  ['sealed', '\x28\xb5\x2f\xfd'],
  ['sealed', 'MSCF'],
  ['media', '\x89PNG'],
  ['media', '\xff\xd8\xff'],
  ['media', 'GIF8'],
  ['media', 'RIFF'],
  ['media', '%PDF'],
  ['media', 'OggS'],
  ['media', 'ID3'],
  ['media', 'wOF'],
  ['media', '\x00\x01\x00\x00'],
  ['media', 'OTTO'],
  ['media', 'BM'],
  ['media', '\x00\x00\x01\x00'],
];

export function fileKind(bytes: Uint8Array, path: string): FileKind {
  const head = Buffer.from(bytes.subarray(0, 8)).toString('latin1');
  if (/\.py[co]$/i.test(path)) return 'compiled';
  if (isTar(bytes)) return 'tar';
  for (const [kind, start] of HEADS)
    if (head.startsWith(start) && (start.length > 2 || !looksLikeText(bytes))) return kind;
  return looksLikeText(bytes) ? 'text' : 'binary';
}

function isTar(bytes: Uint8Array): boolean {
  return bytes.length >= 512 && Buffer.from(bytes.subarray(257, 262)).toString('latin1') === 'ustar';
}

/** UTF-16 counts as text; so does anything without zero bytes whose sample is readable for the most part. */
function looksLikeText(bytes: Uint8Array): boolean {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) return true;
  const sample = bytes.subarray(0, 4096);
  if (sample.includes(0)) return false;
  const broken = Buffer.from(sample).toString('utf8').split('\uFFFD').length - 1;
  return broken <= 4 + sample.length / 20;
}

export function bytesAsText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return buffer.subarray(2).toString('utf16le');
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return Buffer.from(buffer.subarray(2)).swap16().toString('utf16le');
  return buffer.toString('utf8');
}

/** Readable runs of a binary file, as `strings` shows them; at most 64 KiB. */
export function readableRuns(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, 1_048_576)).toString('latin1');
  const runs: string[] = [];
  let size = 0;
  for (const [run] of text.matchAll(/[\t\x20-\x7e]{12,2000}/g)) {
    runs.push(run);
    size += run.length;
    if (size > 65_536) break;
  }
  return runs.join('\n');
}
