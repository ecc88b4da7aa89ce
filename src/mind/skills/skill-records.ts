// Owns the records beside skills: rows of `skill_records`, one store for the agent, the curator and the fleet (hierarchy notes D2), and
// `.usage.json`, what other tools of this kind read of them (core notes 2.7).

import { join, posix, relative, sep } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { type Clock, isoTime, systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, parseJsonObject } from '#base/json.ts';
import { readIfThere, withFileLock } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Actor } from '#mind/evidence/proposal.ts';
import { lastVersion } from './door/versions.ts';
import type { SkillRecord, SkillStatus } from './skill.ts';

/** Contract. Unknown names get a record on the first change: the skill is then the owner's. */
export interface SkillRecords {
  /** With the absolute `folder` of the skill that is meant: only when the record speaks of that folder. */
  get(name: string, folder?: string): SkillRecord | undefined;
  list(): readonly SkillRecord[];
  /** Takes a whole record over: from an import or from another store. */
  put(record: SkillRecord): Promise<void>;
  pin(name: string, pinned: boolean): Promise<void>;
  setStatus(name: string, status: SkillStatus): Promise<void>;
  viewed(name: string): Promise<void>;
  /** `late-failure`: a use that was counted as a success was none after all. */
  used(name: string, outcome: keyof typeof WORKED): Promise<void>;
  /** Brings `.usage.json` up to date. Refusal: it is not in a form that can be kept. */
  mirror(): Promise<Result<true, 'unreadable'>>;
}

/** As stored: what `.usage.json` wants besides. */
interface StoredRecord extends SkillRecord {
  readonly lastViewedAt?: number | undefined;
  readonly patchCount: number;
  readonly lastPatchedAt?: number | undefined;
  readonly archivedAt?: number | undefined;
}

/** `database`: state.db, opened with `skillSchema` among its rooms; `root`: the skills folder. */
export function createSkillRecords({
  database,
  root,
  clock = systemClock,
}: {
  readonly database: Database;
  readonly root: string;
  readonly clock?: Clock;
}): SkillRecords {
  const change = (name: string, next: (record: StoredRecord, now: number) => Partial<StoredRecord>): Promise<void> => {
    const now = clock.now();
    return database.transaction(() => {
      const record = findRecord(database, name) ?? newRecord(name, 'owner', now);
      putRecord(database, { ...record, updatedAt: now, ...next(record, now) });
    });
  };
  return {
    get: (name, folder) => {
      const place = folder === undefined ? undefined : { name, folder: folderBelow(root, folder) };
      const record = place ? recordOfFolder(database, place) : findRecord(database, name);
      return record && shown(record);
    },
    list: () => allRecords(database).map(shown),
    put: (record) =>
      change(record.name, () => ({
        derivedFrom: undefined,
        parentVersion: undefined,
        lastUsedAt: undefined,
        ...record,
      })),
    pin: (name, pinned) => change(name, () => ({ pinned })),
    setStatus: (name, status) =>
      change(name, ({ archivedAt }, now) => ({
        status,
        archivedAt: status === 'retired' ? (archivedAt ?? now) : undefined,
      })),
    viewed: (name) => change(name, ({ viewCount }, now) => ({ viewCount: viewCount + 1, lastViewedAt: now })),
    used: (name, outcome) => change(name, (record, now) => afterUse(record, outcome, now)),
    mirror: () =>
      withFileLock(join(root, '.locks', `${USAGE_FILE}.lock`), () => mirrorRecords(root, allRecords(database)), {
        clock,
      }),
  };
}

const WORKED = { success: 1, failure: 0, 'late-failure': -1 } as const;

/** Without a prior of its own, confidence is the mean of what its uses leave open: (successes + 1) / (uses + 2). */
function afterUse(record: StoredRecord, outcome: keyof typeof WORKED, now: number): Partial<StoredRecord> {
  const worked = WORKED[outcome];
  const successCount = Math.max(0, record.successCount + worked);
  const failureCount = record.failureCount + (outcome === 'success' ? 0 : 1);
  return {
    useCount: record.useCount + (outcome === 'late-failure' ? 0 : 1),
    successCount,
    failureCount,
    validatedCount: Math.max(0, record.validatedCount + worked),
    confidence:
      (record.priorConfidence * record.priorWeight + successCount) / (record.priorWeight + successCount + failureCount),
    lastUsedAt: now,
  };
}

/** Without what is for the side-car alone. */
function shown({ lastViewedAt, patchCount, lastPatchedAt, archivedAt, ...record }: StoredRecord): SkillRecord {
  return record;
}

export function findRecord(database: Database, name: string): StoredRecord | undefined {
  const row = database.get<Row>('SELECT * FROM skill_records WHERE name = ?', name);
  return row && recordOf(row);
}

function allRecords(database: Database): readonly StoredRecord[] {
  return database.all<Row>('SELECT * FROM skill_records ORDER BY name').map(recordOf);
}

type Row = Readonly<Record<string, string | number | null>>;

/** Only this file writes the rows, from a StoredRecord: its fields in snake case, absent ones as NULL. */
function recordOf(row: Row): StoredRecord {
  const fields = Object.entries(row).filter(([, value]) => value !== null);
  const list = (json: unknown) => {
    const read = parseJson(String(json));
    return read.ok && Array.isArray(read.value) ? read.value.map(String) : [];
  };
  return {
    ...Object.fromEntries(
      fields.map(([column, value]) => [column.replace(/_[a-z]/g, (part) => part.charAt(1).toUpperCase()), value]),
    ),
    pinned: row.pinned === 1,
    bloodstain: row.bloodstain === 1,
    lineage: list(row.lineage),
    categories: list(row.categories),
  } as unknown as StoredRecord;
}

function putRecord(database: Database, record: StoredRecord): void {
  const stored = [...Object.keys(newRecord('', 'owner', 0)), ...LATER];
  const fields = Object.entries(record).filter(([name, value]) => stored.includes(name) && value !== undefined);
  const columns = fields.map(([name]) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const values = fields.map(([, value]) =>
    typeof value === 'object' ? JSON.stringify(value) : typeof value === 'boolean' ? Number(value) : value,
  );
  const marks = columns.map(() => '?').join(', ');
  database.run(`INSERT OR REPLACE INTO skill_records(${columns.join(', ')}) VALUES(${marks})`, ...values);
}

/** Inside a transaction. Makes the record what it was: `record`, or none. */
export function restoreRecord(database: Database, name: string, record: StoredRecord | undefined): void {
  if (record === undefined) database.run('DELETE FROM skill_records WHERE name = ?', name);
  else putRecord(database, record);
}

function newRecord(name: string, createdBy: SkillRecord['createdBy'], now: number): StoredRecord {
  return {
    ...{ name, createdBy, status: 'active', pinned: false, confidence: 0.5, validatedCount: 0, improvedCount: 0 },
    ...{ viewCount: 0, useCount: 0, successCount: 0, failureCount: 0, attribution: 0, bloodstain: false, lineage: [] },
    ...{ priorConfidence: 0.5, priorWeight: 2, categories: [] },
    ...{ version: 0, createdAt: now, updatedAt: now, patchCount: 0 },
  };
}

/** What a record of another store may hold besides is left out. */
const LATER = ['derivedFrom', 'parentVersion', 'lastUsedAt', 'lastViewedAt', 'lastPatchedAt', 'archivedAt'];

/** Who a skill counts as made by: the licence of unattended writers hangs on it. */
function makerOf(actor: Actor): SkillRecord['createdBy'] {
  if (actor === 'owner' || actor === 'import' || actor === 'install') return actor;
  return actor === 'rollback' ? 'owner' : 'agent';
}

const IMPROVING: readonly Actor[] = ['agent', 'review', 'flush', 'curator', 'dream'];

function statusAfter(status: SkillStatus, isThere: boolean): SkillStatus {
  if (!isThere) return 'retired';
  return status === 'retired' ? 'active' : status;
}

/** Inside a transaction. */
export function recordChange(
  database: Database,
  change: {
    readonly name: string;
    readonly actor: Actor;
    readonly action: string;
    /** It was done in a folder that the record does not speak of: whoever made the recorded skill did not make this one. */
    readonly isElsewhere: boolean;
    readonly isThere: boolean;
    readonly version: number;
    readonly parent: number | null;
    readonly at: number;
  },
): void {
  const { name, action, isThere, at } = change;
  const made = action === 'create' || action === 'install';
  const known =
    (made ? undefined : findRecord(database, name)) ?? newRecord(name, made ? makerOf(change.actor) : 'owner', at);
  const isPatch = isThere && !made && action !== 'rollback';
  putRecord(database, {
    ...known,
    ...(change.isElsewhere && !made ? { createdBy: 'owner' as const } : {}),
    status: statusAfter(known.status, isThere),
    archivedAt: isThere ? undefined : at,
    improvedCount: known.improvedCount + Number(isPatch && IMPROVING.includes(change.actor)),
    ...(isPatch ? { patchCount: known.patchCount + 1, lastPatchedAt: at } : {}),
    version: change.version,
    parentVersion: change.parent ?? undefined,
    updatedAt: at,
  });
}

interface RecordedPlace {
  readonly name: string;
  /** Below the skills root, parted by `/`. */
  readonly folder: string;
}

/** Where a folder lies below the skills root, as versions know it. Both absolute. */
export function folderBelow(root: string, folder: string): string {
  return relative(root, folder).split(sep).join('/');
}

/** The record, when it speaks of the skill that stands in this folder now. */
export function recordOfFolder(database: Database, place: RecordedPlace): StoredRecord | undefined {
  const isDeleted = lastVersion(database, place.name)?.new_tree === null;
  return isDeleted || !isRecordedFolder(database, place) ? undefined : findRecord(database, place.name);
}

/** By the newest version, which is always one that stands; a record without versions is of the folder that bears its name. */
export function isRecordedFolder(database: Database, { name, folder }: RecordedPlace): boolean {
  const last = lastVersion(database, name);
  return last === undefined ? posix.basename(folder) === name : last.folder === folder;
}

const USAGE_FILE = '.usage.json';

/** Writes the records into the side-car; the caller holds its lock. */
function mirrorRecords(root: string, records: readonly StoredRecord[]): Result<true, 'unreadable'> {
  const path = join(root, USAGE_FILE);
  const old = parseJsonObject(readIfThere(path) ?? '{}');
  if (!old.ok) return refuse('unreadable', `${path} is no JSON object; it was left alone.`);
  const entries: Record<string, JsonValue | undefined> = { ...old.value };
  for (const record of records) {
    const known = entries[record.name];
    entries[record.name] = { ...(isJsonObject(known) ? known : {}), ...usageOf(record) };
  }
  const text = `${JSON.stringify(entries, null, 2)}\n`;
  if (JSON.stringify(entries) !== JSON.stringify(old.value)) atomicWrite(path, text);
  return ok(true);
}

const STATES: Readonly<Record<string, string>> = { flagged: 'stale', retired: 'archived' };

function usageOf(record: StoredRecord): JsonObject {
  const timeOf = (at: number | undefined) => (at === undefined ? null : isoTime(at));
  return {
    created_by: record.createdBy,
    use_count: record.useCount,
    view_count: record.viewCount,
    last_used_at: timeOf(record.lastUsedAt),
    last_viewed_at: timeOf(record.lastViewedAt),
    patch_count: record.patchCount,
    last_patched_at: timeOf(record.lastPatchedAt),
    created_at: timeOf(record.createdAt),
    state: STATES[record.status] ?? 'active',
    pinned: record.pinned,
    archived_at: timeOf(record.archivedAt),
  };
}
