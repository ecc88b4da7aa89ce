// Owns writing a home into one .tar.gz. Databases go in as consistent copies, secrets only when asked for.
// Knows no table. Invariant: the file at the target is whole or not there; other processes may go on working meanwhile.
import {
  createReadStream,
  createWriteStream,
  type Dirent,
  lstatSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { throwIfAborted } from '#base/abort.ts';
import { isDatabaseFile } from '#base/database/damage.ts';
import { openDatabase } from '#base/database.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { plural } from '#base/text.ts';
import type { Home } from '../home/home.ts';
import { tarEnd, tarHeader, tarPadding } from './tar-format.ts';

export interface BackupReport {
  readonly file: string;
  readonly files: readonly string[];
  /** Top-level names that were left out, with the reason in words. */
  readonly leftOut: readonly string[];
  readonly bytes: number;
}

/** Heavy or made again by themselves. */
const LEFT_OUT_FOLDERS = new Set(['cache', 'engines', 'models', 'worktree']);
const LEFT_OUT_FILES = /(?:-wal|-shm|-journal|\.lock|\.suspect|\.partial)$|^\.tmp_|^\.mem_/;

export interface BackupOptions {
  readonly file: string;
  readonly withSecrets: boolean;
  /** Bytes of the versions of skills that are taken along, the newest first; default 256 MiB. */
  readonly versionBytes?: number;
}

/** Throws TalariaError `file-exists`, `no-folder`, `disk-full`, `backup-failed`. */
export async function writeBackup(home: Home, options: BackupOptions, signal: AbortSignal): Promise<BackupReport> {
  if (lstatSync(options.file, { throwIfNoEntry: false })) {
    throw new TalariaError(`${options.file} exists already`, { code: 'file-exists', fix: 'Name another file.' });
  }
  const folder = dirname(options.file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new TalariaError(`there is no folder ${folder}`, { code: 'no-folder', fix: 'Name another file.' });
  const { files, leftOut } = listFiles(home.root, options);
  const staging = mkdtempSync(join(tmpdir(), 'talaria-backup-'));
  const partial = `${options.file}.partial`;
  try {
    const source = archive(home.root, files, { staging, signal });
    await pipeline(source, createGzip(), createWriteStream(partial, { mode: 0o600, flags: 'w' }), { signal });
    renameSync(partial, options.file);
  } catch (error) {
    rmSync(partial, { force: true });
    throwIfAborted(signal);
    if (error instanceof TalariaError) throw error;
    const full = errorCode(error) === 'ENOSPC';
    throw new TalariaError(`the backup could not be written: ${errorText(error).replaceAll(partial, options.file)}`, {
      code: full ? 'disk-full' : 'backup-failed',
      cause: error,
      fix: full ? 'Free some space, or name a file on another disk.' : 'Check the folder and its permissions.',
    });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return { file: options.file, files, leftOut, bytes: lstatSync(options.file).size };
}

interface Walk {
  readonly files: string[];
  readonly leftOut: string[];
}

function listFiles(root: string, { withSecrets, versionBytes }: BackupOptions): Walk {
  const walk: Walk = { files: [], leftOut: [] };
  visitFolder(root, '', (path, entry) => {
    const reason = verdict(path, entry, withSecrets);
    if (reason === undefined && entry.isFile()) walk.files.push(path);
    if (reason) walk.leftOut.push(`${path} (${reason})`);
    return reason === undefined;
  });
  const old = oldestVersions(root, walk.files, versionBytes);
  if (old.size === 0) return walk;
  return {
    files: walk.files.filter((path) => !old.has(versionFolder(path) ?? '')),
    leftOut: [...walk.leftOut, `${plural(old.size, 'version')} of skills (the oldest: all together are too large)`],
  };
}

/** Calls `take` for every entry, in order of names; folders are entered when it says so. */
function visitFolder(root: string, folder: string, take: (path: string, entry: Dirent) => boolean): void {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (take(path, entry) && entry.isDirectory()) visitFolder(root, path, take);
  }
}

/** Undefined: it goes in. Empty: it is left out without a word. */
function verdict(whole: string, entry: Dirent, withSecrets: boolean): string | undefined {
  // Homes of golems, of the library and of Meta are as this one is.
  const path = whole.replace(/^(?:golems\/[^/]+|library|meta)\//, '');
  if (isSecret(path) && !withSecrets) return 'secrets; --with-secrets takes it along';
  if (path === 'checkpoints') return 'copies of your files for `talaria undo`';
  if (path === 'backups/daily') return ''; // copies of what is taken along
  if (LEFT_OUT_FOLDERS.has(path)) return 'large, or made again by itself';
  if (LEFT_OUT_FILES.test(entry.name) && !isOfSkill(path)) return '';
  return entry.isFile() || entry.isDirectory() ? undefined : 'no plain file';
}

/** `.env`, the key files of extensions, and what signs in to MCP servers. */
function isSecret(path: string): boolean {
  return path === '.env' || path === 'mcp-tokens' || (path.endsWith('.key') && !isOfSkill(path));
}

/** Inside a skill, or a copy of one, every name is its author's. */
function isOfSkill(path: string): boolean {
  return /^(?:backups\/)?skills\/(?:[^./][^/]*\/)+[^./][^/]*$/.test(path);
}

async function* archive(
  root: string,
  files: readonly string[],
  place: { readonly staging: string; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  for (const path of files) {
    throwIfAborted(place.signal);
    const original = join(root, ...path.split('/'));
    const file = isDatabaseFile(original) ? copyDatabase(original, place.staging) : original;
    const { size, mtimeMs } = lstatSync(file);
    yield tarHeader(path, size, mtimeMs / 1000);
    yield* contentOf(file, size);
    yield tarPadding(size);
    if (file !== original) rmSync(file, { force: true });
  }
  yield tarEnd();
}

/** Exactly `size` bytes, also when the file grows or shrinks meanwhile: the header is already out. */
async function* contentOf(file: string, size: number): AsyncGenerator<Buffer> {
  let left = size;
  if (size > 0) {
    for await (const chunk of createReadStream(file, { end: size - 1 }) as AsyncIterable<Buffer>) {
      left -= chunk.length;
      yield chunk;
    }
  }
  if (left > 0) yield Buffer.alloc(left);
}

/** A damaged database is copied as it is: its bytes may be all that is left. */
function copyDatabase(path: string, staging: string): string {
  const copy = join(staging, 'copy.db');
  rmSync(copy, { force: true });
  try {
    const { database } = openDatabase(path, { rooms: [], readOnly: true, onCorrupt: 'throw' });
    try {
      database.copyTo(copy);
    } finally {
      database.close();
    }
    return copy;
  } catch (error) {
    if (errorCode(error) === 'database-corrupt') return path;
    throw error;
  }
}

// Which versions of skills a backup of the home takes along: what `skills rollback` needs, in whole versions. Knows no manifest.
// Invariant: the newest ones, as many as there is room for; a version is in with all of its files, or not at all.

const MOST_BYTES = 256 * 1024 * 1024;

/** `backups/skills/<stamp>` for a file below it. */
function versionFolder(path: string): string | undefined {
  return /^backups\/skills\/[^/]+(?=\/)/.exec(path)?.[0];
}

/** Folders of the versions that there is no room for. Their names are times, so the order of names is that of their making. */
function oldestVersions(root: string, files: readonly string[], bound = MOST_BYTES): ReadonlySet<string> {
  const sizes = new Map<string, number>();
  for (const path of files) {
    const version = versionFolder(path);
    if (version) sizes.set(version, (sizes.get(version) ?? 0) + lstatSync(join(root, path)).size);
  }
  const old = new Set<string>();
  let room = bound;
  for (const [version, size] of [...sizes].sort(([a], [b]) => (a < b ? 1 : -1))) {
    room -= size;
    if (room < 0) old.add(version);
  }
  return old;
}
