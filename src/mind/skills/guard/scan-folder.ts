// Owns the scan of a skill's folder as it lies on disk: texts, binaries, archives, links, sizes. Knows no policy.
// Invariant: never follows a link, never reads more than 16 MiB or 400 files, never writes (core notes 2.8).
import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Finding, ScanReport } from './finding.ts';
import { SCANNED_BYTES, type SizedFile, scanSkillFiles } from './scan-files.ts';
import { SKILL_BYTES_LIMIT, structure } from './scan-skill.ts';

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
  else
    walk.findings.push({
      ...structure('special-file', pathOf(walk, full), 'neither file nor folder'),
      severity: 'high',
    });
}

const pathOf = ({ root }: Walk, full: string): string => relative(root, full).split(sep).join('/');

function visitLink(walk: Walk, full: string): void {
  const target = resolve(dirname(full), readlinkSync(full));
  const inside = target === walk.root || target.startsWith(walk.root + sep);
  if (inside) return;
  const path = pathOf(walk, full);
  walk.findings.push({
    rule: 'path_traversal/link-out',
    threat: 'path_traversal',
    severity: 'critical',
    path,
    line: 0,
    excerpt: `leads to ${readlinkSync(full).slice(0, 120)}`,
  });
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
