// Owns what a file of a skill comes to: what its bytes are (text, a program, compiled code, an archive, a picture), texts to scan and
// findings about its form. Unpacks archives two layers deep. Knows no file system and no rule of text.
// Invariants: bounded by the limits of the archives; a kind is told by the first bytes and a sample; what cannot be told is `binary`.
import type { Finding, Severity, SkillText } from '../finding.ts';
import { type ArchiveEntry, gunzipped, tarEntries, zipEntries } from './archive-entries.ts';

export interface SkillBytes {
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

export function unpackFile({ path, bytes }: SkillBytes, layer = 0): Unpacked {
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
