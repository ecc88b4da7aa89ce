// Owns reading a text file whole for a change: what kind of file it is, its encoding, byte order mark and line ends.
// Knows no tool. Invariant: what is not plain text is a refusal that names it, never a lossy string.
import { closeSync, readSync, type Stats, statSync } from 'node:fs';
import { errorCode, errorText } from '#base/errors.ts';
import { openRegular, readRegular } from '#base/paths/open-files.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { MOST_IMAGE_BYTES, readImage } from '#core/model/pictures.ts';

type OpenRefusal = 'missing' | 'folder' | 'special' | 'moved' | 'no-permission';
export type FileRefusal = OpenRefusal | 'binary' | 'encoding' | 'too-large';

export interface TextFile {
  /** Without the byte order mark; line ends as they are. */
  readonly text: string;
  readonly bom: boolean;
  /** What most lines end with. */
  readonly eol: '\n' | '\r\n';
  readonly mode: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
const SNIFF_BYTES = 8_192;

/** The whole file, for writing it back. `path` has no links. */
export function readTextFile(path: string): Result<TextFile, FileRefusal> {
  const kind = statFile(path);
  if (!kind.ok) return kind;
  if (kind.value.size > MAX_BYTES)
    return refuse('too-large', `it has ${kind.value.size} bytes; files over ${MAX_BYTES} are changed with a command`);
  const start = sniffFile(path);
  if (!start.ok) return start;
  const binary = describeBinary(start.value.bytes);
  if (binary !== undefined) return refuse('binary', `it is ${binary} (${kind.value.size} bytes), not text`);
  const whole = opened(() => readRegular(path, MAX_BYTES, 'link-free'));
  if (!whole.ok) return whole;
  const bytes = whole.value;
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = decodeStrictly(bytes);
  if (text === undefined)
    return refuse('encoding', `it is not valid UTF-8 ${firstBadByte(bytes)}; convert it first, e.g. with iconv`);
  return ok({ text, bom, eol: mainLineEnd(text), mode: kind.value.mode & 0o777 });
}

/** The bytes of a picture that a conversation may hold. */
export function readPicture(path: string): Result<Buffer, FileRefusal> {
  const kind = statFile(path);
  if (!kind.ok) return kind;
  if (kind.value.size > MOST_IMAGE_BYTES)
    return refuse('too-large', `it has ${kind.value.size} bytes; pictures may have ${MOST_IMAGE_BYTES}`);
  const bytes = opened(() => readRegular(path, MOST_IMAGE_BYTES));
  if (!bytes.ok || readImage(bytes.value)) return bytes;
  return refuse('binary', 'it is no PNG, JPEG, GIF or WebP picture');
}

function opened<T>(open: () => T): Result<T, FileRefusal> {
  try {
    return ok(open());
  } catch (error) {
    return refuse(...openRefusal(error));
  }
}

/** Refuses what cannot be read as a file: missing, a folder, a pipe or device, no permission. */
export function statFile(path: string): Result<Stats, FileRefusal> {
  const stats = opened(() => statSync(path));
  if (stats.ok && stats.value.isDirectory()) return refuse('folder', 'it is a folder');
  if (stats.ok && !stats.value.isFile()) return refuse('special', 'it is no ordinary file (a pipe, socket or device)');
  return stats;
}

/** What kept a file from being opened. */
export function openRefusal(error: unknown): [OpenRefusal, string] {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return ['missing', 'there is no such file'];
  if (code === 'EACCES' || code === 'EPERM') return ['no-permission', 'no permission to read it'];
  if (code === 'path-moved') return ['moved', 'a link was put in its way while it was being opened'];
  if (code === 'is-a-folder') return ['folder', 'it is a folder'];
  if (code === 'ELOOP') return ['special', 'its links lead in a circle'];
  if (code === 'ENAMETOOLONG') return ['missing', 'the name is too long for a file'];
  return ['special', errorText(error)];
}

/** First bytes of a file that was found to be readable. `path` has no links. */
export function sniffFile(path: string): Result<{ readonly bytes: Buffer; readonly size: number }, FileRefusal> {
  return opened(() => {
    const { fd, stats } = openRegular(path, 'link-free');
    try {
      const bytes = Buffer.alloc(SNIFF_BYTES);
      return { bytes: bytes.subarray(0, readSync(fd, bytes, 0, SNIFF_BYTES, 0)), size: stats.size };
    } finally {
      closeSync(fd);
    }
  });
}

const SIGNATURES: readonly (readonly [signature: string, what: string])[] = [
  ['89504e470d0a1a0a', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['474946383', 'a GIF image'],
  ['424d', 'a BMP image'],
  ['25504446', 'a PDF document'],
  ['504b0304', 'a ZIP archive (or an office document)'],
  ['1f8b', 'a gzip archive'],
  ['fd377a585a00', 'an xz archive'],
  ['28b52ffd', 'a zstd archive'],
  ['425a68', 'a bzip2 archive'],
  ['377abcaf271c', 'a 7-Zip archive'],
  ['7f454c46', 'a program (ELF)'],
  ['4d5a', 'a program (Windows)'],
  ['cafebabe', 'a Java class or program'],
  ['53514c69746520666f726d6174203300', 'an SQLite database'],
  ['4f676753', 'an Ogg recording'],
  ['494433', 'an MP3 recording'],
  ['664c6143', 'a FLAC recording'],
  ['0061736d', 'a WebAssembly module'],
  ['d0cf11e0', 'an old office document'],
];

/** `a PNG image`, `a binary file`, `UTF-16 text`; undefined for bytes that may be text. */
export function describeBinary(start: Buffer): string | undefined {
  const hex = start.subarray(0, 16).toString('hex');
  const known = SIGNATURES.find(([signature]) => hex.startsWith(signature))?.[1];
  const hasZero = start.includes(0);
  if (known !== undefined && (hasZero || /PDF|archive|JPEG|GIF|program/.test(known)) && !isPlainText(start))
    return known;
  if (hex.startsWith('fffe') || hex.startsWith('feff')) return 'UTF-16 text (convert it with iconv)';
  if (start.subarray(0, 4).toString('latin1') === 'RIFF') return 'a media file (RIFF)';
  return hasZero ? 'a binary file' : undefined;
}

/** A note that happens to begin with `BM` or `MZ` is a note. A PDF is never one. */
function isPlainText(start: Buffer): boolean {
  if (start.subarray(0, 4).toString('latin1') === '%PDF') return false;
  return (
    !start.includes(0) &&
    !start.some((byte) => (byte < 9 || (byte > 13 && byte < 32)) && byte !== 27) &&
    start.every((byte) => byte < 0x80)
  );
}

function decodeStrictly(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function firstBadByte(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  const at = Buffer.byteLength(text.slice(0, text.indexOf('\uFFFD')));
  return `(byte 0x${(bytes[at] ?? 0).toString(16).padStart(2, '0')} at ${at})`;
}

function mainLineEnd(text: string): '\n' | '\r\n' {
  const crlf = text.split('\r\n').length - 1;
  const all = text.split('\n').length - 1;
  return crlf * 2 > all ? '\r\n' : '\n';
}
