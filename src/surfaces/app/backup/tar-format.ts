// Owns one block of the tar format (POSIX ustar with pax paths): header bytes out, header fields in. Knows no file system.
// Invariant: what `tarHeader` writes, `readTarHeader` and every tar program reads back; a block with a wrong checksum is refused.
import { ok, type Result, refuse } from '#base/result.ts';

export const BLOCK = 512;

export type TarKind = 'file' | 'pax' | 'long-name' | 'folder' | 'other';

export interface TarEntry {
  /** Relative, with `/`. */
  readonly path: string;
  readonly size: number;
  readonly kind: TarKind;
  /** Epoch seconds. */
  readonly modifiedAt: number;
}

const KIND_FLAGS: Readonly<Record<string, TarKind>> = {
  '0': 'file',
  '\0': 'file',
  '5': 'folder',
  x: 'pax',
  L: 'long-name',
};
const MAX_OCTAL_SIZE = 0o77777777777;

/** All blocks before the content of a file: one header, or a pax entry and a header when path or size do not fit. */
export function tarHeader(path: string, size: number, modifiedAt: number): Buffer {
  if (Buffer.byteLength(path) <= 100 && size <= MAX_OCTAL_SIZE) return block(path, size, modifiedAt, '0');
  const records = [...paxRecord('path', path), ...paxRecord('size', String(size))];
  const pax = Buffer.from(records.join(''), 'utf8');
  return Buffer.concat([
    block('pax', pax.length, modifiedAt, 'x'),
    padded(pax),
    block(
      Buffer.from(path)
        .subarray(0, 90)
        .toString('latin1')
        .replace(/[^\x20-\x7e]/g, '_'),
      Math.min(size, MAX_OCTAL_SIZE),
      modifiedAt,
      '0',
    ),
  ]);
}

/** Zero bytes that fill the last block of a content of `size` bytes. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** The two empty blocks at the end of an archive. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

/** Undefined for an empty block. */
export function readTarHeader(bytes: Buffer): Result<TarEntry | undefined, 'not-a-tar'> {
  if (bytes.every((byte) => byte === 0)) return ok(undefined);
  if (octal(bytes, 148, 8) !== checksum(bytes)) return refuse('not-a-tar', 'a header of the archive is damaged');
  const prefix = bytes.toString('latin1', 257, 262) === 'ustar' ? text(bytes, 345, 155) : '';
  const name = text(bytes, 0, 100);
  return ok({
    path: prefix ? `${prefix}/${name}` : name,
    size: octal(bytes, 124, 12),
    modifiedAt: octal(bytes, 136, 12),
    kind: KIND_FLAGS[String.fromCharCode(bytes[156] ?? 0)] ?? 'other',
  });
}

/** `path` and `size` out of the content of a pax entry. */
export function readPax(content: Buffer): { readonly path?: string; readonly size?: number } {
  const found: { path?: string; size?: number } = {};
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.toString('latin1', at, space));
    if (space < 0 || !(length > space - at)) break;
    const [key, ...value] = content.toString('utf8', space + 1, at + length - 1).split('=');
    if (key === 'path') found.path = value.join('=');
    if (key === 'size') found.size = Number(value.join('='));
    at += length;
  }
  return found;
}

function block(name: string, size: number, modifiedAt: number, flag: string): Buffer {
  const bytes = Buffer.alloc(BLOCK);
  bytes.write(name, 0, 'utf8');
  bytes.write('0000600\0', 100);
  bytes.write('0000000\0', 108);
  bytes.write('0000000\0', 116);
  bytes.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  bytes.write(`${Math.max(0, Math.floor(modifiedAt)).toString(8).padStart(11, '0')}\0`, 136);
  bytes.write(flag, 156);
  bytes.write('ustar\x0000', 257);
  bytes.write(`${checksum(bytes).toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}

/** The length at the front counts itself. */
function paxRecord(key: string, value: string): readonly string[] {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  length += String(length + String(length).length).length;
  return [`${length}${rest}`];
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, tarPadding(content.length)]);
}

/** Sum of all bytes, the checksum field itself counted as blanks. */
function checksum(bytes: Buffer): number {
  let sum = 8 * 0x20;
  for (const [at, byte] of bytes.entries()) sum += at >= 148 && at < 156 ? 0 : byte;
  return sum;
}

function octal(bytes: Buffer, from: number, length: number): number {
  return Number.parseInt(text(bytes, from, length).trim() || '0', 8);
}

function text(bytes: Buffer, from: number, length: number): string {
  const field = bytes.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}
