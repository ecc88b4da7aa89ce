// Owns the records beside skills for everybody but the door: reading, pinning, status, what views and uses add. One store for the
// agent, the curator and the fleet (hierarchy notes D2). Knows no text of a skill. Invariant: a change is durable when its promise
// resolves; `.usage.json` follows by `mirror` and never leads.
import { join } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { withFileLock } from '#base/platform.ts';
import type { Result } from '#base/result.ts';
import type { SkillRecord, SkillStatus } from '../skill.ts';
import { folderBelow, recordOfFolder } from './record-of-folder.ts';
import { allRecords, asRecord, findRecord, newRecord, putRecord, type RecordRow } from './record-rows.ts';
import { mirrorRecords, USAGE_FILE } from './usage-file.ts';

export type UseOutcome = 'success' | 'failure' | 'late-failure';

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
  used(name: string, outcome: UseOutcome): Promise<void>;
  /** Brings `.usage.json` up to date. Refusal: it is not in a form that can be kept. */
  mirror(): Promise<Result<true, 'unreadable'>>;
}

export interface SkillRecordsOptions {
  /** state.db, opened with `skillSchema` among its rooms. */
  readonly database: Database;
  /** The skills folder. */
  readonly root: string;
  readonly clock?: Clock;
}

export function createSkillRecords({ database, root, clock = systemClock }: SkillRecordsOptions): SkillRecords {
  const change = (name: string, next: (row: RecordRow, now: number) => Partial<RecordRow>): Promise<void> => {
    const now = clock.now();
    return database.transaction(() => {
      const row = findRecord(database, name) ?? newRecord(name, 'owner', now);
      putRecord(database, { ...row, updated_at: now, ...next(row, now) });
    });
  };
  return {
    get: (name, folder) => {
      const place = folder === undefined ? undefined : { name, folder: folderBelow(root, folder) };
      const row = place ? recordOfFolder(database, place) : findRecord(database, name);
      return row && asRecord(row);
    },
    list: () => allRecords(database).map(asRecord),
    put: (record) => change(record.name, () => rowOf(record)),
    pin: (name, pinned) => change(name, () => ({ pinned: pinned ? 1 : 0 })),
    setStatus: (name, status) =>
      change(name, (row, now) => ({ status, archived_at: status === 'retired' ? (row.archived_at ?? now) : null })),
    viewed: (name) => change(name, (row, now) => ({ view_count: row.view_count + 1, last_viewed_at: now })),
    used: (name, outcome) => change(name, (row, now) => afterUse(row, outcome, now)),
    mirror: () =>
      withFileLock(join(root, '.locks', `${USAGE_FILE}.lock`), () => mirrorRecords(root, allRecords(database)), {
        clock,
      }),
  };
}

/** Confidence is the mean of what its uses leave open: (successes + 1) / (uses + 2). */
function afterUse(row: RecordRow, outcome: UseOutcome, now: number): Partial<RecordRow> {
  const worked = { success: 1, failure: 0, 'late-failure': -1 }[outcome];
  const successes = Math.max(0, row.success_count + worked);
  const failures = row.failure_count + (outcome === 'success' ? 0 : 1);
  return {
    use_count: row.use_count + (outcome === 'late-failure' ? 0 : 1),
    success_count: successes,
    failure_count: failures,
    validated_count: Math.max(0, row.validated_count + worked),
    confidence: (successes + 1) / (successes + failures + 2),
    last_used_at: now,
  };
}

function rowOf(record: SkillRecord): Partial<RecordRow> {
  return {
    created_by: record.createdBy,
    status: record.status,
    pinned: record.pinned ? 1 : 0,
    confidence: record.confidence,
    validated_count: record.validatedCount,
    improved_count: record.improvedCount,
    view_count: record.viewCount,
    use_count: record.useCount,
    success_count: record.successCount,
    failure_count: record.failureCount,
    attribution: record.attribution,
    bloodstain: record.bloodstain ? 1 : 0,
    lineage: JSON.stringify(record.lineage),
    version: record.version,
    parent_version: record.parentVersion ?? null,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    last_used_at: record.lastUsedAt ?? null,
  };
}
