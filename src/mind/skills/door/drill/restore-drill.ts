// Owns the restore drill (seed 002; curator notes 12): proving that a manifest can be restored, in a folder apart. Works on our manifests
// and on the original's. Knows no door, no state file, no gate. Invariants: no live file is written, moved or locked; a manifest that lies
// or was edited gives a reason and reads nothing outside its own folder; a folder with something in it is never drilled into.
import { existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { atomicWrite, makeFolders } from '#base/atomic-write.ts';
import { type Clock, isoTime } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { canonicalJson, type JsonObject, parseJson } from '#base/json.ts';
import { objectAt, readDrillManifest, textAt } from './drill-manifest.ts';
import { type DrillCheck, type DrillCompat, type DrillReport, drillVerdict, reasonsOf } from './drill-report.ts';
import { lookAtDatabase } from './evidence-check.ts';
import { REPORT_FILE, recoverSupportFiles, recoverTarget } from './recover-files.ts';
import { isAtOrBelow, resolvedPath } from './resolved-path.ts';

export interface DrillOptions extends DrillCompat {
  readonly manifestPath: string;
  /** An empty folder, or one that is made; default: a fresh temporary one, which is kept. */
  readonly targetDir?: string;
  readonly clock: Clock;
  /** Default: the system's folder for temporary files. */
  readonly tempRoot?: string;
  /** Does the manifest at this absolute path still say what was recorded with its version? Default, and in `compat`: not asked. */
  readonly recorded?: (manifestPath: string) => boolean;
}

const PREFIX = 'hermes-curator-evolver-drill-';

/** Throws TalariaError when the drill folder cannot be written; every fault of the manifest and its backup is in the report. */
export async function runRestoreDrill(options: DrillOptions): Promise<DrillReport> {
  const started = isoTime(options.clock.now());
  const manifestPath = resolvedPath(options.manifestPath);
  const report = { schema_version: '0.1' as const, manifest_path: manifestPath, drill_started_at: started };
  const manifest = readDrillManifest(manifestPath);
  const refusal = manifest.ok ? targetFault(options, manifestPath, manifest.value) : manifest.reason;
  if (!manifest.ok || refusal !== undefined)
    return {
      ...report,
      drill_finished_at: isoTime(options.clock.now()),
      drill_target: null,
      restored_target: null,
      status: 'fail',
      checks: [],
      warnings: [],
      errors: refusal === undefined ? [] : [refusal],
      report_path: null,
    };
  const target = makeTarget(options);
  const { checks, restored } = runChecks(manifest.value, { options, target, backup: dirname(manifestPath) });
  const done: DrillReport = {
    ...report,
    drill_finished_at: isoTime(options.clock.now()),
    drill_target: target,
    restored_target: restored ?? null,
    status: drillVerdict(checks, options),
    checks,
    warnings: reasonsOf(checks, 'warn'),
    errors: reasonsOf(checks, 'fail'),
    report_path: join(target, REPORT_FILE),
  };
  atomicWrite(join(target, REPORT_FILE), textOf(done));
  return done;
}

interface DrillPlaces {
  readonly options: DrillOptions;
  readonly target: string;
  readonly backup: string;
}

function runChecks(
  manifest: JsonObject,
  { options, target, backup }: DrillPlaces,
): { readonly checks: readonly DrillCheck[]; readonly restored: string | undefined } {
  const recovery = { manifest, backup, target, ...(options.compat ? { compat: options.compat } : {}) };
  const { restored, ...main } = recoverTarget(recovery);
  const isChanged = options.compat !== 'upstream' && options.recorded?.(resolvedPath(options.manifestPath)) === false;
  const checks = [
    isChanged && main.status !== 'fail' ? { ...main, status: 'fail' as const, reason: 'manifest-changed' } : main,
    recoverSupportFiles(recovery),
    checkEvidence(manifest, target),
    checkProvenance(manifest),
    checkScheduler(manifest),
  ];
  return { checks, restored: isChanged ? undefined : restored };
}

function checkEvidence(manifest: JsonObject, target: string): DrillCheck {
  const name = 'evidence-references' as const;
  const evidence = objectAt(manifest, 'evidence');
  if (evidence === undefined) return { name, status: 'skipped', reason: null };
  const path = textAt(evidence, 'db_path');
  if (path === undefined) return { name, status: 'warn', reason: 'no-db-path' };
  if (!isThere(path)) return { name, status: 'warn', reason: 'db-path-missing' };
  const look = lookAtDatabase(path, target);
  return look.ok ? { name, status: 'pass', reason: null } : { name, status: 'fail', reason: look.reason };
}

function checkProvenance(manifest: JsonObject): DrillCheck {
  const name = 'provenance-metadata' as const;
  const provenance = objectAt(manifest, 'provenance');
  if (provenance === undefined) return { name, status: 'skipped', reason: null };
  if (textAt(provenance, 'source') === undefined) return { name, status: 'warn', reason: 'missing-source' };
  return { name, status: 'pass', reason: null };
}

const UNITS = ['service_path', 'timer_path', 'plist_path', 'cron_path'] as const;

function checkScheduler(manifest: JsonObject): DrillCheck {
  const name = 'scheduler-references' as const;
  const scheduler = objectAt(manifest, 'scheduler');
  if (scheduler === undefined) return { name, status: 'skipped', reason: null };
  const paths = UNITS.flatMap((key) => textAt(scheduler, key) ?? []);
  if (paths.length === 0) return { name, status: 'warn', reason: 'no-scheduler-paths' };
  if (!paths.every(isThere)) return { name, status: 'warn', reason: 'scheduler-paths-missing' };
  return { name, status: 'pass', reason: null };
}

function isThere(path: string): boolean {
  return !path.includes('\0') && existsSync(path);
}

/** Why nothing may be restored into the folder that was asked for. */
function targetFault({ targetDir }: DrillOptions, manifestPath: string, manifest: JsonObject): string | undefined {
  if (targetDir === undefined) return undefined;
  const target = resolvedPath(targetDir);
  const live = textAt(manifest, 'target_path');
  const kept = [dirname(manifestPath), ...(live === undefined ? [] : [dirname(resolvedPath(live))])];
  if (kept.some((folder) => isAtOrBelow(target, folder))) return 'drill-target-is-live';
  if (!existsSync(target)) return undefined;
  const isEmpty = statSync(target).isDirectory() && readdirSync(target).length === 0;
  return isEmpty ? undefined : 'drill-target-not-empty';
}

function makeTarget({ targetDir, tempRoot = tmpdir() }: DrillOptions): string {
  try {
    makeFolders(targetDir ?? tempRoot);
    return resolvedPath(targetDir ?? mkdtempSync(join(tempRoot, PREFIX)));
  } catch (error) {
    const where = targetDir ?? tempRoot;
    throw new TalariaError(`cannot drill in ${where}: ${errorText(error)}`, { code: 'write-failed', cause: error });
  }
}

function textOf(report: DrillReport): string {
  const sorted = parseJson(canonicalJson(report));
  return `${JSON.stringify(sorted.ok ? sorted.value : report, null, 2)}\n`;
}
