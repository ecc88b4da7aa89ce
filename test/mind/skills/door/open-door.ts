/** A skill door on a throw-away home, with a real database and ledger and a guard that a word in the text sets off. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { type Finding, guardDecision, scanReport } from '#mind/evidence/guard/finding.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { sessionSchema } from '#mind/sessions/session-schema.ts';
import type { LocatedSkill, SkillGuard } from '#mind/skills/door/door-parts.ts';
import type { Verifier } from '#mind/skills/door/verify/verifier.ts';
import { createSkillDoor, type GuardedSkillDoor } from '#mind/skills/guarded-apply.ts';
import { skillSchema } from '#mind/skills/skill-schema.ts';
import { createManualClock } from '#testing/manual-clock.ts';

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
