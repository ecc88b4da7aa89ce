/** Homes, doors and libraries for the tests of skills. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { absentAsker } from '#core/agent/approver.ts';
import { type Finding, guardDecision, scanReport } from '#mind/evidence/guard/finding.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { sessionSchema } from '#mind/sessions/session-schema.ts';
import type { LocatedSkill, SkillGuard } from '#mind/skills/door/door-parts.ts';
import { createSkillDoor, type GuardedSkillDoor } from '#mind/skills/guarded-apply.ts';
import { createSkillLibrary, type SkillLibrary } from '#mind/skills/library/skill-library.ts';
import { skillsCacheName } from '#mind/skills/library/skills-cache.ts';
import type { SkillChange, SkillRecord, SkillWrite, Verifier } from '#mind/skills/skill.ts';
import { skillSchema } from '#mind/skills/skill-schema.ts';
import type { ToolContext } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';

/** A home with skill folders, and the library and tools over it. */

interface SkillHome {
  readonly home: TempHome;
  readonly root: string;
  readonly warnings: string[];
  /** Writes `<root>/<path>/SKILL.md`; `header` defaults to a name and a description. */
  readonly skill: (path: string, header?: string, body?: string) => string;
  /** A library over the home's folders; closed when the test ends. */
  readonly open: (options?: Partial<Parameters<typeof createSkillLibrary>[0]>) => SkillLibrary;
}

export function createSkillHome(t: TestContext): SkillHome {
  const home = createTempHome(t);
  const root = join(home.path, 'skills');
  const warnings: string[] = [];
  let touched = 0;
  return {
    home,
    root,
    warnings,
    skill: (path, header, body = 'Body.') => {
      const name = path.split('/').at(-1) ?? path;
      const file = home.write(
        join('skills', path, 'SKILL.md'),
        `---\n${header ?? `name: ${name}\ndescription: Does ${name}`}\n---\n${body}`,
      );
      // Two writes within one tick of the file system's clock would look the same.
      touched += 1;
      utimesSync(file, 1_700_000_000 + touched, 1_700_000_000 + touched);
      return file;
    },
    open: (options) => {
      mkdirSync(root, { recursive: true });
      const cacheFile = join(home.path, 'cache', skillsCacheName);
      const library = createSkillLibrary({ root, cacheFile, warn: (message) => warnings.push(message), ...options });
      t.after(() => library.close());
      return library;
    },
  };
}

export const HERE = {
  platform: 'linux',
  tools: new Set(['terminal', 'read_file']),
  toolsets: new Set(['terminal', 'file']),
};

export function recordOf(name: string, fields: Partial<SkillRecord> = {}): SkillRecord {
  return {
    ...{ name, createdBy: 'agent', status: 'active', pinned: false, confidence: 0.5 },
    ...{ validatedCount: 0, improvedCount: 0, viewCount: 0, useCount: 0, successCount: 0, failureCount: 0 },
    ...{ priorConfidence: 0.5, priorWeight: 2, categories: [] },
    ...{ attribution: 0, bloodstain: false, lineage: [], version: 1, createdAt: 0, updatedAt: 0 },
    ...fields,
  };
}

export function toolContext(cwd: string): ToolContext {
  return {
    sessionId: 'session-1',
    callId: 'call-1',
    cwd,
    clock: createManualClock({ auto: true }),
    asker: absentAsker,
    spillFolder: cwd,
    history: () => [],
    redact: (text) => text,
    progress: () => undefined,
  };
}

/** A skill door on a throw-away home, with a real database and ledger and a guard that a word in the text sets off. */

/** `EVIL` is dangerous, `ODD` is caution. */
export const wordGuard: SkillGuard = {
  scan: (files) =>
    scanReport(
      files.flatMap(({ path, bytes }) => {
        const text = Buffer.from(bytes).toString('utf8');
        const finding = (severity: Finding['severity']): Finding => ({
          rule: 'test/word',
          capability: 'network',
          severity,
          path,
          line: 1,
          excerpt: severity,
        });
        if (text.includes('EVIL')) return [finding('critical')];
        return text.includes('ODD') ? [finding('high')] : [];
      }),
    ),
  decide: guardDecision,
};

export interface OpenDoor {
  readonly home: string;
  readonly root: string;
  readonly backups: string;
  readonly database: Database;
  readonly ledger: ProposalLedger;
  readonly door: GuardedSkillDoor;
  readonly clock: Clock;
  close(): void;
}

export interface OpenDoorOptions {
  readonly verifiers?: readonly Verifier[];
  readonly guard?: SkillGuard;
  /** Default: one whose waiting takes no time. */
  readonly clock?: Clock;
  /** Default: looks on the disk. */
  readonly locate?: (name: string) => LocatedSkill | undefined;
  /** Without the tables of sessions: opens faster. */
  readonly bare?: boolean;
  /** Opens it that much later, ms. */
  readonly later?: number;
  /** Stands before the real database, for planned failures. */
  readonly wrap?: (database: Database) => Database;
}

export function openDoor(home: string, options: OpenDoorOptions = {}): OpenDoor {
  const clock = options.clock ?? createManualClock({ auto: true, now: 1_768_478_400_000 + (options.later ?? 0) });
  const opened = openDatabase(join(home, 'state.db'), {
    rooms: [...(options.bare ? [] : [sessionSchema]), evidenceSchema, skillSchema],
    clock,
  });
  const real = opened.database;
  const database = options.wrap ? options.wrap(real) : real;
  const root = join(home, 'skills');
  const backups = join(home, 'backups/skills');
  const ledger = createProposalLedger({ database, clock });
  const door = createSkillDoor({
    places: { root, backups },
    database,
    ledger,
    locate: options.locate ?? ((name) => locate(root, name)),
    guard: options.guard ?? wordGuard,
    clock,
    ...(options.verifiers ? { verifiers: options.verifiers } : {}),
  });
  return { home, root, backups, database, ledger, door, clock, close: () => real.close() };
}

function locate(root: string, name: string): LocatedSkill | undefined {
  if (!existsSync(root)) return undefined;
  const visible = readdirSync(root).filter((one) => !one.startsWith('.'));
  const folders = [join(root, name), ...visible.map((category) => join(root, category, name))];
  const folder = folders.find((path) => existsSync(join(path, 'SKILL.md')));
  return folder === undefined ? undefined : { folder, source: 'agent', writable: !folder.includes('/locked/') };
}

/** A small skill that passes every check. */
export function skillText(name: string, body = 'Step one.\nStep two.\n', description = 'Does one thing'): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n${body}`;
}

/** Paths of every file below a folder; the side-car of the records is left out. */
export function listTree(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => path !== '.usage.json')
    .sort();
}

/** What tests of the skill door share: a door of their own, and a look at the trace that a refusal leaves. */

export function open(context: TestContext, options: Parameters<typeof openDoor>[1] = {}) {
  const opened = openDoor(createTempHome(context).path, options);
  context.after(() => opened.close());
  const write = (name: string, change: SkillChange, more: Partial<SkillWrite> = {}) =>
    opened.door.write({ name, change, actor: 'agent', approved: true, ...more });
  const create = async (name: string, body?: string, more: Partial<SkillWrite> = {}) => {
    const made = await write(name, { action: 'create', content: skillText(name, body), category: 'data' }, more);
    assert.ok(made.ok, made.ok ? '' : made.detail);
    return made.value;
  };
  const read = (path: string) => readFileSync(join(opened.root, path), 'utf8');
  return { ...opened, write, create, read };
}

type Opened = ReturnType<typeof open>;

/** The refusal, after a look at its trace: a decided proposal and nothing below the root. */
export async function refused(opened: Opened, work: ReturnType<Opened['write']>, reason: string): Promise<string> {
  const before = listTree(opened.root);
  const result = await work;
  assert.ok(!result.ok, 'it was written');
  assert.equal(result.reason, reason, result.detail);
  const proposal = opened.ledger.get(result.proposalId ?? '');
  assert.equal(proposal?.status, reason === 'guard-asks' ? 'pending' : 'refused');
  assert.equal(proposal?.reason, reason);
  assert.deepEqual(listTree(opened.root), before);
  return result.detail;
}
