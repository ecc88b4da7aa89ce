// Owns the rows of `skill_records`. Knows no file and no door. Invariant: a row says what SkillRecord says (hierarchy notes D2), and
// what the side-car of other tools wants besides.
import type { Database, SqlValue } from '#base/database/connection.ts';
import { parseJson } from '#base/json.ts';
import type { Actor } from '#mind/evidence/proposal.ts';
import type { SkillRecord, SkillStatus } from '../skill.ts';

export interface RecordRow {
  readonly name: string;
  readonly created_by: string;
  readonly status: string;
  readonly pinned: number;
  readonly confidence: number;
  readonly validated_count: number;
  readonly improved_count: number;
  readonly view_count: number;
  readonly use_count: number;
  readonly success_count: number;
  readonly failure_count: number;
  readonly attribution: number;
  readonly bloodstain: number;
  readonly lineage: string;
  readonly version: number;
  readonly parent_version: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly last_used_at: number | null;
  readonly last_viewed_at: number | null;
  readonly patch_count: number;
  readonly last_patched_at: number | null;
  readonly archived_at: number | null;
}

const COLUMNS: readonly (keyof RecordRow)[] = [
  'name',
  'created_by',
  'status',
  'pinned',
  'confidence',
  'validated_count',
  'improved_count',
  'view_count',
  'use_count',
  'success_count',
  'failure_count',
  'attribution',
  'bloodstain',
  'lineage',
  'version',
  'parent_version',
  'created_at',
  'updated_at',
  'last_used_at',
  'last_viewed_at',
  'patch_count',
  'last_patched_at',
  'archived_at',
];

export function findRecord(database: Database, name: string): RecordRow | undefined {
  return database.get<RecordRow>('SELECT * FROM skill_records WHERE name = ?', name);
}

export function allRecords(database: Database): readonly RecordRow[] {
  return database.all<RecordRow>('SELECT * FROM skill_records ORDER BY name');
}

/** Inside a transaction. Puts the row in place of what stood there. */
export function putRecord(database: Database, row: RecordRow): void {
  const values: readonly SqlValue[] = COLUMNS.map((column) => row[column]);
  const marks = COLUMNS.map(() => '?').join(', ');
  database.run(`INSERT OR REPLACE INTO skill_records(${COLUMNS.join(', ')}) VALUES(${marks})`, ...values);
}

/** Inside a transaction. Makes the record what it was: `row`, or none. */
export function restoreRecord(database: Database, name: string, row: RecordRow | undefined): void {
  if (row === undefined) database.run('DELETE FROM skill_records WHERE name = ?', name);
  else putRecord(database, row);
}

export function newRecord(name: string, createdBy: SkillRecord['createdBy'], now: number): RecordRow {
  return {
    name,
    created_by: createdBy,
    status: 'active',
    pinned: 0,
    confidence: 0.5,
    validated_count: 0,
    improved_count: 0,
    view_count: 0,
    use_count: 0,
    success_count: 0,
    failure_count: 0,
    attribution: 0,
    bloodstain: 0,
    lineage: '[]',
    version: 0,
    parent_version: null,
    created_at: now,
    updated_at: now,
    last_used_at: null,
    last_viewed_at: null,
    patch_count: 0,
    last_patched_at: null,
    archived_at: null,
  };
}

/** What the door did, as far as a record tells it. */
export interface RecordedChange {
  readonly name: string;
  readonly actor: Actor;
  readonly action: string;
  /** It was done in a folder that the record does not speak of: whoever made the recorded skill did not make this one. */
  readonly isElsewhere: boolean;
  readonly isThere: boolean;
  readonly version: number;
  readonly parent: number | null;
  readonly at: number;
}

/** Who a skill counts as made by: the licence of unattended writers hangs on it. */
function makerOf(actor: Actor): SkillRecord['createdBy'] {
  if (actor === 'owner' || actor === 'import' || actor === 'install') return actor;
  return actor === 'rollback' ? 'owner' : 'agent';
}

const MAKING: readonly string[] = ['create', 'install'];
const IMPROVING: readonly Actor[] = ['agent', 'review', 'flush', 'curator', 'dream'];

function statusAfter({ status }: RecordRow, { isThere }: RecordedChange): string {
  if (!isThere) return 'retired';
  return status === 'retired' ? 'active' : status;
}

/** Inside a transaction. */
export function recordChange(database: Database, change: RecordedChange): void {
  const made = MAKING.includes(change.action);
  const old = made ? undefined : findRecord(database, change.name);
  const known = old ?? newRecord(change.name, made ? makerOf(change.actor) : 'owner', change.at);
  const base = change.isElsewhere && !made ? { ...known, created_by: 'owner' } : known;
  const isPatch = change.isThere && !made && change.action !== 'rollback';
  putRecord(database, {
    ...base,
    status: statusAfter(base, change),
    archived_at: change.isThere ? null : change.at,
    improved_count: base.improved_count + (isPatch && IMPROVING.includes(change.actor) ? 1 : 0),
    patch_count: base.patch_count + (isPatch ? 1 : 0),
    last_patched_at: isPatch ? change.at : base.last_patched_at,
    version: change.version,
    parent_version: change.parent,
    updated_at: change.at,
  });
}

export function asRecord(row: RecordRow): SkillRecord {
  const lineage = parseJson(row.lineage);
  return {
    name: row.name,
    createdBy: row.created_by as SkillRecord['createdBy'],
    status: row.status as SkillStatus,
    pinned: row.pinned === 1,
    confidence: row.confidence,
    validatedCount: row.validated_count,
    improvedCount: row.improved_count,
    viewCount: row.view_count,
    useCount: row.use_count,
    successCount: row.success_count,
    failureCount: row.failure_count,
    attribution: row.attribution,
    bloodstain: row.bloodstain === 1,
    lineage: lineage.ok && Array.isArray(lineage.value) ? lineage.value.map(String) : [],
    version: row.version,
    ...(row.parent_version === null ? {} : { parentVersion: row.parent_version }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
  };
}
