// Owns the listing and unpacking of zip, tar and gzip in memory. Knows no file system and no rule.
// Invariant: at most 200 entries and 4 MiB unpacked an archive, whatever it claims; broken archives give what could be read.
import { gunzipSync, inflateRawSync } from 'node:zlib';

export interface ArchiveEntry {
  readonly name: string;
  /** Empty for what was not unpacked: links, encrypted or oversized entries. */
  readonly bytes: Uint8Array;
  readonly link: boolean;
  readonly encrypted: boolean;
}

const ENTRY_LIMIT = 200;
const UNPACKED_LIMIT = 4 * 1_048_576;
const EMPTY = new Uint8Array();

export function gunzipped(bytes: Uint8Array): Uint8Array {
  return attempt(() => gunzipSync(bytes, { maxOutputLength: UNPACKED_LIMIT }));
}

/** Broken or oversized data is told by its emptiness; the caller has the packed bytes. */
function attempt(unpack: () => Uint8Array): Uint8Array {
  try {
    return unpack();
  } catch (error) {
    if (error instanceof Error) return EMPTY;
    throw error;
  }
}

const LOCAL_HEADER = Buffer.from('PK\x03\x04', 'latin1');
const CENTRAL_HEADER = Buffer.from('PK\x01\x02', 'latin1');

/** By the central directory, so that sizes are known; names with a link bit are marked. */
export function zipEntries(bytes: Uint8Array): readonly ArchiveEntry[] {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: ArchiveEntry[] = [];
  let room = UNPACKED_LIMIT;
  let at = data.indexOf(CENTRAL_HEADER);
  while (at >= 0 && at + 46 <= data.length && entries.length < ENTRY_LIMIT) {
    const nameLength = data.readUInt16LE(at + 28);
    const name = data.subarray(at + 46, at + 46 + nameLength).toString('utf8');
    const entry = zipEntry(data, { at, name, room });
    room -= entry.bytes.length;
    entries.push(entry);
    at = data.indexOf(CENTRAL_HEADER, at + 46 + nameLength);
  }
  return entries;
}

function zipEntry(data: Buffer, { at, name, room }: { at: number; name: string; room: number }): ArchiveEntry {
  const encrypted = (data.readUInt16LE(at + 8) & 1) === 1;
  const link = ((data.readUInt32LE(at + 38) >>> 16) & 0o170000) === 0o120000;
  const bytes = encrypted || link ? EMPTY : zipContent(data, at, room);
  return { name, bytes, link, encrypted };
}

function zipContent(data: Buffer, at: number, room: number): Uint8Array {
  const local = data.readUInt32LE(at + 42);
  if (local + 30 > data.length || !data.subarray(local, local + 4).equals(LOCAL_HEADER) || room <= 0) return EMPTY;
  const start = local + 30 + data.readUInt16LE(local + 26) + data.readUInt16LE(local + 28);
  const packed = data.subarray(start, start + data.readUInt32LE(at + 20));
  const method = data.readUInt16LE(at + 10);
  if (method === 0) return packed.subarray(0, room);
  return method === 8 ? attempt(() => inflateRawSync(packed, { maxOutputLength: Math.max(1, room) })) : EMPTY;
}

export function tarEntries(bytes: Uint8Array): readonly ArchiveEntry[] {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: ArchiveEntry[] = [];
  let room = UNPACKED_LIMIT;
  let at = 0;
  while (at + 512 <= data.length && entries.length < ENTRY_LIMIT) {
    const name = tarField(data, at, 100);
    const size = Number.parseInt(tarField(data, at + 124, 12).trim() || '0', 8);
    if (name === '' || !(size >= 0)) break;
    const entry = tarEntry(data, { at, name, size: Math.min(size, room) });
    entries.push(entry);
    room -= entry.bytes.length;
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}

function tarField(data: Buffer, from: number, length: number): string {
  const text = data.subarray(from, from + length).toString('latin1');
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

function tarEntry(data: Buffer, { at, name, size }: { at: number; name: string; size: number }): ArchiveEntry {
  const prefix = tarField(data, at + 345, 155);
  const type = tarField(data, at + 156, 1);
  const link = type === '1' || type === '2';
  const bytes = link ? EMPTY : data.subarray(at + 512, at + 512 + size);
  return { name: prefix === '' ? name : `${prefix}/${name}`, bytes, link, encrypted: false };
}
