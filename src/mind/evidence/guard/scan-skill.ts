// Owns the scan of a skill given as texts, or as bytes as the door holds it: binaries, archives, sizes. Knows no file system and no policy.
// Invariant: pure; the same files give the same report; never throws on any text (core notes 2.8).
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { foldText } from '#base/text/fold.ts';
import { codeRules } from './code.rules.ts';
import { type Finding, type ScanReport, type Severity, type SkillText, scanReport } from './finding.ts';
import { machineRules } from './machine.rules.ts';
import type { Rule } from './rule.ts';
import { type RuleIndex, ruleIndex, type SkillContext, scanText } from './scan-text.ts';
import { wordRules } from './words.rules.ts';

const SKILL_FILE_LIMIT = 50;
export const SKILL_BYTES_LIMIT = 1_048_576;
const FILE_BYTES_LIMIT = 262_144;
/** Bytes or characters that are scanned of one file; what is longer is a finding by itself. */
export const SCANNED_BYTES = 4 * SKILL_BYTES_LIMIT;

/** All rules by which skills are judged. */
export function skillRules(): readonly Rule[] {
  return [...codeRules(), ...machineRules(), ...wordRules()];
}

let index: RuleIndex | undefined;

/** Sizes are counted in UTF-16 units here; `scanSkillFiles` counts bytes. */
export function scanSkill(files: readonly SkillText[]): ScanReport {
  if (!Array.isArray(files) || !files.every((one) => typeof one?.path === 'string' && typeof one.text === 'string'))
    throw new TypeError('scanSkill(files): files must be an array of { path: string, text: string }');
  return scanReport([
    ...textFindings(files),
    ...sizeFindings(files.map(({ path, text }) => ({ path, size: text.length }))),
  ]);
}

export interface SizedFile extends SkillBytes {
  /** Of the whole file, when `bytes` is only its beginning. */
  readonly size?: number;
}

/** `more`: findings that only the caller could make. What the folder scan finds in the same files is found here, links apart. */
export function scanSkillFiles(files: readonly SizedFile[], more: readonly Finding[] = []): ScanReport {
  const unpacked = files.map(({ path, bytes }) => unpackFile({ path, bytes: bytes.subarray(0, SCANNED_BYTES) }));
  const sizes = files.map(({ path, bytes, size = bytes.length }) => ({ path, size }));
  const texts = unpacked.flatMap((one) => one.texts);
  return scanReport([
    ...textFindings(texts),
    ...unpacked.flatMap((one) => one.findings),
    ...sizeFindings(sizes),
    ...more,
  ]);
}

function textFindings(files: readonly SkillText[]): readonly Finding[] {
  const context = skillContext(files);
  index ??= ruleIndex(skillRules());
  const known = index;
  const odd = files.filter(({ path }) => /(?:^|[/\\])\.\.(?:[/\\]|$)|^(?:[/\\~]|[a-z]:)|\0/i.test(path));
  return [
    ...files.flatMap(({ path, text }) => scanText(path, text.slice(0, SCANNED_BYTES), context, known)),
    ...odd.map(({ path }) => formFinding('traversal/file-name', 'critical', path, path.slice(0, 160))),
  ];
}

/** Name, description and title say what the skill is about; its own sites and its trade are judged by them. */
function skillContext(files: readonly SkillText[]): SkillContext {
  const main = files.find(({ path }) => /(?:^|\/)skill\.md$/i.test(path)) ?? files[0];
  const text = main?.text.slice(0, 20_000) ?? '';
  const front = /^---[a-z]*\r?\n([\s\S]{0,6000}?)\r?\n---/i.exec(text)?.[1] ?? text.slice(0, 600);
  const title = /^#\s+(.{1,200})$/m.exec(text)?.[1] ?? '';
  const header = foldText(`${front}\n${title}`, 'looks').replace(/\S{0,12}:\/\/\S+/g, ' ');
  const words = new Set(header.match(/[a-z0-9][a-z0-9]{2,}/g));
  for (const [whole] of header.matchAll(/[a-z0-9]+(?:-[a-z0-9]+){1,4}/g))
    words.add(whole).add(whole.replaceAll('-', ''));
  return { header, isSubject: (label) => words.has(label) || words.has(label.replaceAll('-', '')) };
}

/** Size says little of intent: medium, so that it shows and does not decide. */
function sizeFindings(files: readonly { readonly path: string; readonly size: number }[]): readonly Finding[] {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const note = (id: string, path: string, excerpt: string) => formFinding(`structure/${id}`, 'medium', path, excerpt);
  return [
    ...(files.length > SKILL_FILE_LIMIT ? [note('too-many-files', '', `${files.length} files`)] : []),
    ...(total > SKILL_BYTES_LIMIT ? [note('too-large', '', `${total} in all`)] : []),
    ...files.filter(({ size }) => size > FILE_BYTES_LIMIT).map(({ path, size }) => note('large-file', path, `${size}`)),
  ];
}

/** About a file as a whole; the capability stands before the stroke. */
export function formFinding(rule: string, severity: Finding['severity'], path: string, excerpt: string): Finding {
  return { rule, capability: rule.split('/')[0] as Finding['capability'], severity, path, line: 0, excerpt };
}

// What a file of a skill comes to: what its bytes are (text, a program, compiled code, an archive, a picture), texts to scan and
// findings about its form. Unpacks archives two layers deep. Knows no file system and no rule of text.
// Invariants: bounded by the limits of the archives; a kind is told by the first bytes and a sample; what cannot be told is `binary`.

interface SkillBytes {
  /** Relative to the skill's folder. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface Unpacked {
  readonly texts: readonly SkillText[];
  readonly findings: readonly Finding[];
}

const LAYERS = 2;
const NOTHING: Unpacked = { texts: [], findings: [] };

function unpackFile({ path, bytes }: SkillBytes, layer = 0): Unpacked {
  const kind = fileKind(bytes, path);
  switch (kind) {
    case 'text':
      return { texts: [{ path, text: bytesAsText(bytes) }], findings: [] };
    case 'program':
      return binary(path, bytes, ['program', 'critical', 'an executable program']);
    case 'compiled':
      return binary(path, bytes, ['compiled-code', 'critical', 'compiled code without its source']);
    case 'sealed':
      return binary(path, bytes, ['sealed-archive', 'high', 'an archive that is not opened here']);
    case 'binary':
      return binary(path, bytes, ['unknown-binary', 'high', 'binary data of an unknown kind']);
    case 'media':
      return media(path, bytes);
    case 'zip':
      return archive(path, zipEntries(bytes), layer);
    case 'tar':
      return archive(path, tarEntries(bytes), layer);
    case 'gzip':
      return packed(path, bytes, layer);
    default:
      return kind satisfies never;
  }
}

function note(id: string, severity: Severity, path: string, excerpt: string): Finding {
  return { rule: `structure/${id}`, capability: 'structure', severity, path, line: 0, excerpt };
}

function binary(path: string, bytes: Uint8Array, [id, severity, what]: readonly [string, Severity, string]): Unpacked {
  return { texts: [{ path, text: readableRuns(bytes) }], findings: [note(id, severity, path, what)] };
}

/** Pictures and documents are ordinary; code behind their end is not. */
function media(path: string, bytes: Uint8Array): Unpacked {
  const runs = readableRuns(bytes.subarray(Math.max(0, bytes.length - 65_536)));
  return /#!\/|\bcurl \S|\beval\(|\bexec\(|<\?php|powershell|\/bin\/(?:ba)?sh/.test(runs)
    ? {
        texts: [{ path, text: runs }],
        findings: [note('code-in-media', 'high', path, 'readable code inside a picture or document')],
      }
    : NOTHING;
}

function packed(path: string, bytes: Uint8Array, layer: number): Unpacked {
  const content = gunzipped(bytes);
  if (content.length === 0) return binary(path, bytes, ['sealed-archive', 'high', 'packed data that cannot be opened']);
  return layer >= LAYERS
    ? tooDeep(path)
    : unpackFile({ path: `${path}!${path.replace(/^.*\/|\.t?gz$/g, '')}`, bytes: content }, layer + 1);
}

function tooDeep(path: string): Unpacked {
  return { texts: [], findings: [note('nested-archive', 'high', path, 'archives within archives')] };
}

const OFFICE = /\.(?:docx|xlsx|pptx|dotx|potx|xltx|odt|ods|odp|epub|jar|whl|vsix|skill|sketch|3mf)$/i;

function archive(path: string, entries: readonly ArchiveEntry[], layer: number): Unpacked {
  if (layer >= LAYERS) return tooDeep(path);
  const findings: Finding[] = [];
  const texts: SkillText[] = [];
  if (!OFFICE.test(path)) findings.push(note('archive', 'medium', path, `an archive of ${entries.length} entries`));
  for (const { name, bytes, link, encrypted } of entries) {
    const inner = `${path}!${name}`;
    if (encrypted) findings.push(note('locked-archive', 'critical', inner, 'an entry under a password'));
    if (link) findings.push(note('archive-link', 'high', inner, 'a link inside an archive'));
    if (/(?:^|[/\\])\.\.(?:[/\\]|$)|^(?:[/\\]|[a-z]:)/i.test(name))
      findings.push({
        ...note('archive-escape', 'critical', inner, 'an entry that unpacks outside of the folder'),
        capability: 'traversal',
      });
    if (link || encrypted || bytes.length === 0 || name.endsWith('/')) continue;
    const unpacked = unpackFile({ path: inner, bytes }, layer + 1);
    texts.push(...unpacked.texts);
    findings.push(...unpacked.findings);
  }
  return { texts, findings };
}

type FileKind = 'text' | 'program' | 'compiled' | 'zip' | 'tar' | 'gzip' | 'sealed' | 'media' | 'binary';

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

function fileKind(bytes: Uint8Array, path: string): FileKind {
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

function bytesAsText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return buffer.subarray(2).toString('utf16le');
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return Buffer.from(buffer.subarray(2)).swap16().toString('utf16le');
  return buffer.toString('utf8');
}

/** Readable runs of a binary file, as `strings` shows them; at most 64 KiB. */
function readableRuns(bytes: Uint8Array): string {
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

// The listing and unpacking of zip, tar and gzip in memory. Knows no file system and no rule.
// Invariant: at most 200 entries and 4 MiB unpacked an archive, whatever it claims; broken archives give what could be read.

interface ArchiveEntry {
  readonly name: string;
  /** Empty for what was not unpacked: links, encrypted or oversized entries. */
  readonly bytes: Uint8Array;
  readonly link: boolean;
  readonly encrypted: boolean;
}

const ENTRY_LIMIT = 200;
const UNPACKED_LIMIT = 4 * 1_048_576;
const EMPTY = new Uint8Array();

function gunzipped(bytes: Uint8Array): Uint8Array {
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
function zipEntries(bytes: Uint8Array): readonly ArchiveEntry[] {
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

function tarEntries(bytes: Uint8Array): readonly ArchiveEntry[] {
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
