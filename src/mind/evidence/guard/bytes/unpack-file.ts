// Owns what a file of a skill comes to: texts to scan and findings about its form. Unpacks archives two layers deep.
// Knows no file system and no rule of text. Invariant: bounded by the limits of the archives.
import type { Finding, Severity, SkillText } from '../finding.ts';
import { type ArchiveEntry, gunzipped, tarEntries, zipEntries } from './archive-entries.ts';
import { bytesAsText, fileKind, readableRuns } from './file-kind.ts';

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
