// Owns the scan of a skill's folder as it lies on disk: texts, binaries, archives, links, sizes. Knows no policy.
// Invariant: never follows a link, never reads more than 16 MiB or 400 files, never writes (core notes 2.8).
import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Finding, ScanReport } from './finding.ts';
import { formFinding, SCANNED_BYTES, type SizedFile, SKILL_BYTES_LIMIT, scanSkillFiles } from './scan-skill.ts';

const READ_LIMIT = 16 * SKILL_BYTES_LIMIT;
const WALK_LIMIT = 400;
const SKIPPED = new Set(['.git', 'node_modules', '__pycache__', '.venv', '.DS_Store']);

interface Walk {
  readonly root: string;
  readonly files: SizedFile[];
  readonly findings: Finding[];
  bytes: number;
}

/** Throws what the file system throws when `folder` is not a readable folder. */
export function scanSkillFolder(folder: string): ScanReport {
  const root = realpathSync(folder);
  const walk: Walk = { root, files: [], findings: [], bytes: 0 };
  visit(walk, root);
  return scanSkillFiles(walk.files, walk.findings);
}

function visit(walk: Walk, folder: string): void {
  for (const name of readdirSync(folder).sort()) {
    if (walk.files.length >= WALK_LIMIT || walk.bytes > READ_LIMIT) return;
    if (!SKIPPED.has(name)) visitEntry(walk, join(folder, name));
  }
}

function visitEntry(walk: Walk, full: string): void {
  const stat = lstatSync(full);
  if (stat.isSymbolicLink()) visitLink(walk, full);
  else if (stat.isDirectory()) visit(walk, full);
  else if (stat.isFile()) visitFile(walk, full, stat.size);
  else walk.findings.push(formFinding('structure/special-file', 'high', pathOf(walk, full), 'neither file nor folder'));
}

const pathOf = ({ root }: Walk, full: string): string => relative(root, full).split(sep).join('/');

function visitLink(walk: Walk, full: string): void {
  const target = resolve(dirname(full), readlinkSync(full));
  const inside = target === walk.root || target.startsWith(walk.root + sep);
  if (inside) return;
  const excerpt = `leads to ${readlinkSync(full).slice(0, 120)}`;
  walk.findings.push(formFinding('traversal/link-out', 'critical', pathOf(walk, full), excerpt));
}

function visitFile(walk: Walk, full: string, size: number): void {
  walk.bytes += size;
  walk.files.push({ path: pathOf(walk, full), bytes: readSome(full, Math.min(size, SCANNED_BYTES)), size });
}

function readSome(full: string, size: number): Uint8Array {
  const buffer = Buffer.alloc(size);
  const file = openSync(full, 'r');
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, size, 0));
  } finally {
    closeSync(file);
  }
}
