// Owns the restore drill (seed 002; curator notes 12): proving that a manifest, ours or the original's, can be restored, in a folder apart.
// Invariants: no live file is written, moved or locked; a manifest that lies or was edited gives a reason and reads nothing outside its own
// folder, wherever links lead; a folder with something in it is never drilled into; one failed check fails the drill. Reasons are the original's.
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { atomicWrite, makeFolders } from '#base/atomic-write.ts';
import { type Clock, isoTime } from '#base/clock.ts';
import { isDatabaseFile } from '#base/database/damage.ts';
import { openDatabase } from '#base/database.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { isIn } from '#base/paths/typed-path.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { SKILL_FILE } from '../format/skill-text.ts';
import { MANIFEST_FILE, sortedJson } from './backup.ts';
import { utf8Text } from './skill-tree.ts';

const CHECKS = [
  ...(['target-recovery', 'support-files-recovery', 'evidence-references'] as const),
  ...(['provenance-metadata', 'scheduler-references'] as const),
];

/** A type, so that it counts as JSON. */
type DrillCheck = {
  readonly name: (typeof CHECKS)[number];
  readonly status: 'pass' | 'warn' | 'fail' | 'skipped';
  /** Reason code of a warning or failure; null otherwise. */
  readonly reason: string | null;
};

export type DrillReport = {
  readonly schema_version: '0.1';
  /** Absolute, links resolved: two ways to one manifest give one path. */
  readonly manifest_path: string;
  readonly drill_started_at: string;
  readonly drill_finished_at: string;
  /** Folder that was restored into; null: it did not come to that. */
  readonly drill_target: string | null;
  /** The SKILL.md in it; null: it could not be restored. */
  readonly restored_target: string | null;
  readonly status: 'pass' | 'partial' | 'fail';
  readonly checks: readonly DrillCheck[];
  /** `check:reason` */
  readonly warnings: readonly string[];
  /** Why it could not begin, or `check:reason`. */
  readonly errors: readonly string[];
  readonly report_path: string | null;
};

export interface DrillOptions {
  readonly manifestPath: string;
  /** An empty folder, or one that is made; default: a fresh temporary one, which is kept. */
  readonly targetDir?: string;
  readonly clock: Clock;
  /** Default: the system's folder for temporary files. */
  readonly tempRoot?: string;
  /** Does the manifest at this absolute path still say what was recorded with its version? Default: not asked. */
  readonly recorded?: (manifestPath: string) => boolean;
}

const REPORT_FILE = 'restore-drill-report.json';
const PREFIX = 'hermes-curator-evolver-drill-';

/** Throws TalariaError when the drill folder cannot be written; every fault of the manifest and its backup is in the report. */
export async function runRestoreDrill(options: DrillOptions): Promise<DrillReport> {
  const { clock } = options;
  const path = resolvedPath(options.manifestPath);
  const report = { schema_version: '0.1' as const, manifest_path: path, drill_started_at: isoTime(clock.now()) };
  const read = readManifest(path);
  const refusal = read.ok ? targetFault(options.targetDir, path, read.value) : read.reason;
  if (!read.ok || refusal !== undefined)
    return {
      ...report,
      ...{ drill_finished_at: isoTime(clock.now()), drill_target: null, restored_target: null, status: 'fail' },
      ...{ checks: [], warnings: [], errors: refusal === undefined ? [] : [refusal], report_path: null },
    };
  const target = makeTarget(options);
  const drill: Drill = { manifest: read.value, backup: dirname(path), target };
  const restored = join(target, targetName(drill.manifest));
  const recovered = recoverTarget(drill, restored);
  const isChanged = options.recorded?.(path) === false;
  const verdicts: Readonly<Record<DrillCheck['name'], Verdict>> = {
    'target-recovery': isChanged && recovered[0] !== 'fail' ? ['fail', 'manifest-changed'] : recovered,
    'support-files-recovery': recoverSupportFiles(drill),
    'evidence-references': checkEvidence(drill),
    'provenance-metadata': checkProvenance(drill),
    'scheduler-references': checkScheduler(drill),
  };
  const checks = CHECKS.map((name): DrillCheck => {
    const [status, reason = null] = verdicts[name];
    return { name, status, reason };
  });
  const done: DrillReport = {
    ...report,
    drill_finished_at: isoTime(clock.now()),
    drill_target: target,
    restored_target: !isChanged && recovered[0] === 'pass' ? restored : null,
    status: verdictOf(checks),
    checks,
    warnings: reasonsOf(checks, 'warn'),
    errors: reasonsOf(checks, 'fail'),
    report_path: join(target, REPORT_FILE),
  };
  atomicWrite(join(target, REPORT_FILE), sortedJson(done));
  return done;
}

interface Drill {
  readonly manifest: JsonObject;
  /** Folders, both resolved. */
  readonly backup: string;
  readonly target: string;
}

type Verdict = readonly [status: DrillCheck['status'], reason?: string];

/**
 * The original calls a drill `partial` as long as any check warns. A timer that was removed after the write stays removed, so that writing
 * would be blocked for ever; it says nothing of the restore, and here it is shown as a warning of a drill that passes.
 */
function verdictOf(checks: readonly DrillCheck[]): DrillReport['status'] {
  if (checks.some(({ status }) => status === 'fail')) return 'fail';
  return checks.some(({ name, status }) => status === 'warn' && name !== 'scheduler-references') ? 'partial' : 'pass';
}

function reasonsOf(checks: readonly DrillCheck[], wanted: 'warn' | 'fail'): readonly string[] {
  return checks.filter(({ status }) => status === wanted).map(({ name, reason }) => `${name}:${reason ?? ''}`);
}

/** Why nothing may be restored into the folder that was asked for. */
function targetFault(targetDir: string | undefined, manifestPath: string, manifest: JsonObject): string | undefined {
  if (targetDir === undefined) return undefined;
  const target = resolvedPath(targetDir);
  const live = textAt(manifest, 'target_path');
  const kept = [dirname(manifestPath), ...(live === undefined ? [] : [dirname(resolvedPath(live))])];
  if (kept.some((folder) => isIn(target, folder))) return 'drill-target-is-live';
  if (!existsSync(target)) return undefined;
  const isEmpty = statSync(target).isDirectory() && readdirSync(target).length === 0;
  return isEmpty ? undefined : 'drill-target-not-empty';
}

function makeTarget({ targetDir, tempRoot = tmpdir() }: DrillOptions): string {
  const where = targetDir ?? tempRoot;
  try {
    makeFolders(where);
    return resolvedPath(targetDir ?? mkdtempSync(join(tempRoot, PREFIX)));
  } catch (error) {
    throw new TalariaError(`cannot drill in ${where}: ${errorText(error)}`, { code: 'write-failed', cause: error });
  }
}

/** Nothing in it is trusted: what has not the form that it should have is absent. A manifest lists at most a thousand files. */
function readManifest(path: string): Result<JsonObject> {
  const unreadable = (why: string) => refuse(`manifest-not-readable:${why}`, 'The manifest cannot be read.');
  let text: string | undefined;
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return unreadable('IsADirectoryError');
    if (!stats.isFile()) return unreadable('OSError');
    if (stats.size > 16 * 1_048_576) return unreadable('TooLarge');
    text = utf8Text(readFileSync(path));
  } catch (error) {
    const code = errorCode(error);
    if (isGone(code)) return refuse('manifest-not-found', `There is no ${path}.`);
    return unreadable(code === 'EACCES' || code === 'EPERM' ? 'PermissionError' : 'OSError');
  }
  if (text === undefined) return unreadable('UnicodeDecodeError');
  const read = parseJson(text.replace(/^\uFEFF/, ''));
  if (!read.ok) return unreadable('JSONDecodeError');
  return isJsonObject(read.value) ? ok(read.value) : unreadable('ValueError');
}

function textAt(value: JsonObject, key: string): string | undefined {
  const found = value[key];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** Undefined: nothing was recorded. */
function objectAt(value: JsonObject, key: string): JsonObject | undefined {
  const found = value[key];
  return isJsonObject(found) && Object.keys(found).length > 0 ? found : undefined;
}

function isGone(code: string | undefined): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** `restored`: where the copy goes. */
function recoverTarget({ manifest, backup }: Drill, restored: string): Verdict {
  const expected = manifest.original_sha256;
  // A first version took nothing away: undoing it removes the skill.
  if (manifest.backup_path === null && expected === null) return ['skipped'];
  const recorded = textAt(manifest, 'backup_path');
  if (recorded === undefined) return ['fail', 'manifest-missing-backup-path'];
  const copy = readCopy(backup, recorded);
  if (typeof copy === 'string') return ['fail', `backup-${copy}`];
  atomicWrite(restored, copy);
  return sha256(copy) === expected ? ['pass'] : ['fail', 'sha256-mismatch'];
}

/** Plain: the manifest may say anything. */
function targetName(manifest: JsonObject): string {
  const name = basename(textAt(manifest, 'target_path') ?? SKILL_FILE);
  return isPlainPath(name) && name !== REPORT_FILE ? name : SKILL_FILE;
}

function recoverSupportFiles(drill: Drill): Verdict {
  const { support_files: entries } = drill.manifest;
  if (entries === undefined || entries === null) return ['skipped'];
  if (!Array.isArray(entries)) return ['warn', 'warned-entries:1'];
  const list: readonly (JsonValue | undefined)[] = entries;
  if (list.length === 0) return ['skipped'];
  // As many files as a skill may have.
  if (list.length > 1_000) return ['fail', `failed-entries:${list.length}`];
  const outcomes = list.map((entry) => recoverEntry(entry, drill));
  const [failed, warned] = (['failed', 'warned'] as const).map((one) => outcomes.filter((it) => it === one).length);
  if (failed) return ['fail', `failed-entries:${failed}`];
  return warned ? ['warn', `warned-entries:${warned}`] : ['pass'];
}

function recoverEntry(entry: JsonValue | undefined, { manifest, backup, target }: Drill): 'ok' | 'warned' | 'failed' {
  const kept = [REPORT_FILE, MANIFEST_FILE, targetName(manifest)];
  const path = isJsonObject(entry) ? textAt(entry, 'path') : undefined;
  if (!isJsonObject(entry) || path === undefined || !isPlainPath(path) || kept.includes(path)) return 'warned';
  // Ours says what was there before, null for nothing; the original's copy is of what was written, and `sha256` is its hash.
  const expected = 'original_sha256' in entry ? entry.original_sha256 : entry.sha256;
  const recorded = textAt(entry, 'backup_path');
  if (recorded === undefined) return expected === null ? 'ok' : 'warned';
  const copy = readCopy(backup, recorded);
  if (typeof copy === 'string' || sha256(copy) !== expected) return 'failed';
  try {
    atomicWrite(join(target, path), copy);
    return 'ok';
  } catch (error) {
    // Two entries may want one place as a file and as a folder; that is the manifest's fault, a full disk is not.
    if (errorCode(error) !== 'write-failed') throw error;
    return 'failed';
  }
}

/** Relative, without parent components and empty ones. */
function isPlainPath(path: string): boolean {
  const parts = path.split(/[\\/]/);
  return !path.includes('\0') && parts.every((part) => part !== '' && part !== '.' && part !== '..');
}

const UNREADABLE: readonly string[] = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ENAMETOOLONG', 'ELOOP', 'EISDIR'];

/** One file of a backup as the manifest names it; pipes and devices are never opened. */
function readCopy(backup: string, recorded: string): Uint8Array | 'missing' | 'outside-folder' | 'too-large' {
  const place = placeOf(backup, recorded);
  if (place === undefined) return 'outside-folder';
  try {
    const stats = statSync(place);
    if (!stats.isFile()) return 'missing';
    return stats.size > COPIED_BYTES ? 'too-large' : readFileSync(place);
  } catch (error) {
    if (UNREADABLE.includes(errorCode(error) ?? '')) return 'missing';
    throw error;
  }
}

/** Where it was recorded or, the home having been moved, at the same place below the manifest's folder. */
function placeOf(backup: string, recorded: string): string | undefined {
  if (recorded.includes('\0') || recorded.split(/[\\/]/).includes('..')) return undefined;
  const direct = resolvedPath(recorded);
  if (isIn(direct, backup)) return direct;
  const parts = recorded.split(sep);
  const at = parts.lastIndexOf(basename(backup));
  const moved = at < 0 ? backup : resolvedPath(join(backup, ...parts.slice(at + 1)));
  return moved !== backup && isIn(moved, backup) ? moved : undefined;
}

function checkEvidence({ manifest, target }: Drill): Verdict {
  const evidence = objectAt(manifest, 'evidence');
  if (evidence === undefined) return ['skipped'];
  const path = textAt(evidence, 'db_path');
  if (path === undefined) return ['warn', 'no-db-path'];
  if (!isThere(path)) return ['warn', 'db-path-missing'];
  const fault = databaseFault(path, target);
  return fault === null ? ['pass'] : ['fail', fault];
}

/** Larger ones are neither copied nor restored; a database is judged by its first bytes then. */
const COPIED_BYTES = 64 * 1_048_576;
const BROKEN = 'db-not-readable:DatabaseError';
const CLOSED = 'db-not-readable:OperationalError';

/** Nothing is made beside it: a reader of a database with a write-ahead log would make that log again. `scratch`: a folder for a copy. */
function databaseFault(path: string, scratch: string): string | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return CLOSED;
    if (stats.size === 0) return null;
    if (!isDatabaseFile(path)) return BROKEN;
    if (!hasLog(path) || existsSync(`${path}-shm`)) open(path);
    else if (stats.size <= COPIED_BYTES) openCopy(path, join(scratch, '.evidence-copy'));
    return null;
  } catch (error) {
    const code = errorCode(error);
    if (isGone(code)) return 'db-path-missing';
    return code === 'database-corrupt' ? BROKEN : CLOSED;
  }
}

/** File format version 2: it is read through a write-ahead log. */
function hasLog(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(20);
    readSync(file, head);
    return head[19] === 2;
  } finally {
    closeSync(file);
  }
}

function open(path: string): void {
  openDatabase(path, { rooms: [], readOnly: true }).database.abandon();
}

function openCopy(path: string, copy: string): void {
  try {
    copyFileSync(path, copy);
    open(copy);
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  }
}

function checkProvenance({ manifest }: Drill): Verdict {
  const provenance = objectAt(manifest, 'provenance');
  if (provenance === undefined) return ['skipped'];
  return textAt(provenance, 'source') === undefined ? ['warn', 'missing-source'] : ['pass'];
}

const UNITS = ['service_path', 'timer_path', 'plist_path', 'cron_path'] as const;

function checkScheduler({ manifest }: Drill): Verdict {
  const scheduler = objectAt(manifest, 'scheduler');
  if (scheduler === undefined) return ['skipped'];
  const paths = UNITS.flatMap((key) => textAt(scheduler, key) ?? []);
  if (paths.length === 0) return ['warn', 'no-scheduler-paths'];
  return paths.every(isThere) ? ['pass'] : ['warn', 'scheduler-paths-missing'];
}

function isThere(path: string): boolean {
  return !path.includes('\0') && existsSync(path);
}

/** The one spelling by which paths are compared: absolute, links followed as far as it exists. Never throws. */
function resolvedPath(path: string): string {
  const plain = resolve(path);
  if (plain.includes('\0')) return plain;
  try {
    return realpathSync(plain);
  } catch (error) {
    const above = dirname(plain);
    return isGone(errorCode(error)) && above !== plain ? join(resolvedPath(above), basename(plain)) : plain;
  }
}
