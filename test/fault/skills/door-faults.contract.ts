/** The door for skill text while every file and database operation fails in turn, and while the process dies at every one of them. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { hashSkillFolder } from '#mind/skills/door/skill-tree.ts';
import { countCalls, createFaults, type Faults, failEachOperation } from '#testing/faults.ts';
import { type OpenDoor, openDoor } from '../../mind/skills/skill-bench.ts';
import { verifies } from '../../verifies.ts';
import { breakDisk, systemError } from '../failing-disk.ts';
import { assertAgreement, folderOf } from './agreement.ts';
import { type DoorScenario, doorScenarios, removeOutside } from './door-scenarios.ts';

const DATABASE: readonly (keyof Database & string)[] = ['transaction', 'run', 'get', 'all'];
const LIMIT = 600;

/** As the layers below raise it. */
function faultOf(operation: string): Error {
  if ((DATABASE as readonly string[]).includes(operation))
    return new TalariaError(`planned: ${operation}`, { code: 'disk-full' });
  return systemError('ENOSPC', operation);
}

/** After its planned fault nothing works any more: what is on disk is what a killed process leaves. */
function dying(faults: Faults): Faults {
  const step = (operation: string): void => {
    if (faults.failed !== undefined) throw new Error(`the process is dead (${operation})`);
    faults.step(operation);
  };
  return {
    step,
    wrap: (target, methods) => countCalls(target, methods, step),
    get failed() {
      return faults.failed;
    },
    get count() {
      return faults.count;
    },
  };
}

/** A prepared home, and what the skill is before and after an unharmed run. */
interface Template {
  readonly home: string;
  readonly before: string | null;
  readonly after: string | null;
}

interface Run {
  readonly home: string;
  readonly before: string | null;
  result: { readonly ok: boolean } | undefined;
}

/** Nothing here is about a real disk: where memory can be one, it is. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A home in the state before the action, made once and copied for every run. */
async function makeTemplate(scenario: DoorScenario): Promise<Template> {
  const home = mkdtempSync(join(PLACE, 'talaria-door-template-'));
  const opened = openDoor(home, { ...scenario.options, bare: true });
  await scenario.prepare(opened);
  opened.close();
  const before = hashSkillFolder(folderOf({ root: join(home, 'skills') }, scenario.skill));
  const unharmed = await runOnce(scenario, home, createFaults({ failAt: 0 }));
  const after = hashSkillFolder(folderOf({ root: join(unharmed.home, 'skills') }, scenario.skill));
  rmSync(unharmed.home, { recursive: true, force: true });
  assert.equal(after === before, scenario.refuses ?? false, `${scenario.name}: what it does when nothing fails`);
  return { home, before, after };
}

async function runOnce(scenario: DoorScenario, template: string, faults: Faults): Promise<Run> {
  const home = mkdtempSync(join(PLACE, 'talaria-door-'));
  cpSync(template, home, { recursive: true, verbatimSymlinks: true });
  const before = hashSkillFolder(folderOf({ root: join(home, 'skills') }, scenario.skill));
  const run: Run = { home, before, result: undefined };
  current = run;
  const opened = openDoor(home, {
    ...scenario.options,
    bare: true,
    wrap: (database) => faults.wrap(database, DATABASE),
  });
  const disk = breakDisk(home, faults);
  try {
    run.result = await scenario.act(opened);
  } finally {
    disk.mend();
    opened.close();
  }
  return run;
}

let current: Run | undefined;

/** The lock of a dead process is taken over; here the process lives on, so it is taken away. */
function dropLocks({ root }: OpenDoor): void {
  const locks = join(root, '.locks');
  for (const name of readdirSync(locks)) rmSync(join(locks, name));
}

interface Outcome {
  readonly thrown: unknown;
  readonly failed: string | undefined;
  readonly failAt: number;
}

async function checkAfter(
  scenario: DoorScenario,
  { thrown, failed, failAt }: Outcome,
  { mayBeNew, template }: { readonly mayBeNew: boolean; readonly template: Template },
): Promise<void> {
  assert.ok(current);
  const run = current;
  const when = `${scenario.name}, operation ${failAt} (${failed ?? 'none'})`;
  const opened = openDoor(run.home, { ...scenario.options, later: 3_600_000, bare: true });
  try {
    const now = hashSkillFolder(folderOf(opened, scenario.skill));
    if (thrown !== undefined && !mayBeNew) assert.equal(now, run.before, `${when}: it threw and the old state is gone`);
    if (failed === undefined) assert.equal(run.result?.ok, !scenario.refuses, `${when}: an unharmed run`);
    const mended = await mend(opened, scenario);
    assert.ok(mended === template.before || mended === template.after, `${when}: neither wholly old nor wholly new`);
    if (!scenario.verifies && !scenario.swaps) assert.equal(mended, now, `${when}: mending changed a whole state`);
    assertForeign(template, run, when);
    assertAgreement(opened, scenario.skill, when);
    // Not after each fault: these say little more the second time.
    if (failAt % 4 === 0) await goOn(opened, scenario, { when, isOld: mended === run.before });
    if (thrown !== undefined && !mayBeNew) assert.ok(thrown instanceof TalariaError, `${when}: ${String(thrown)}`);
  } finally {
    opened.close();
    rmSync(run.home, { recursive: true, force: true });
  }
}

/** As the next start does it. Gives what the skill is then. */
async function mend(opened: OpenDoor, { skill, strays = [] }: DoorScenario): Promise<string | null> {
  dropLocks(opened);
  await opened.door.reconcile();
  const folder = folderOf(opened, skill);
  for (const stray of strays) rmSync(join(folder, stray), { force: true });
  return hashSkillFolder(folder);
}

async function goOn(
  opened: OpenDoor,
  scenario: DoorScenario,
  { when, isOld }: { readonly when: string; readonly isOld: boolean },
): Promise<void> {
  assert.deepEqual(await opened.door.reconcile(), [], `${when}: mending twice`);
  if (!isOld) return;
  const again = await scenario.act(opened);
  assert.equal(again.ok, !scenario.refuses, `${when}: it does not work afterwards`);
  assertAgreement(opened, scenario.skill, `${when}, done again`);
}

/** Hidden files and links in the folder are nobody's version and stay. */
function assertForeign({ home }: Template, run: Run, when: string): void {
  const notes = 'skills/data/csv/.notes';
  if (!existsSync(join(home, notes))) return;
  assert.ok(existsSync(join(run.home, notes)), `${when}: a hidden file is gone`);
  assert.equal(readlinkSync(join(run.home, 'skills/data/csv/link.md')), '../csv/SKILL.md', `${when}: a link`);
}

/** `every`: 1 fails each operation, 4 every fourth. */
export function doorFaults(every: number): void {
  describe(`skill door: faults, every ${every}`, () => {
    after(removeOutside);
    for (const scenario of doorScenarios) {
      verifies(
        ['core:skills:atomic', 'curator:apply:atomic'],
        `${scenario.name}: every operation fails once; the old state stands, or the new one`,
        async (context) => {
          const template = await makeTemplate(scenario);
          context.after(() => rmSync(template.home, { recursive: true, force: true }));
          const tried = await failEachOperation({
            limit: LIMIT,
            every,
            error: faultOf,
            run: async (faults) => void (await runOnce(scenario, template.home, faults)),
            check: (outcome) => checkAfter(scenario, outcome, { mayBeNew: false, template }),
          });
          assert.ok(tried >= 40, `${tried} operations`);
        },
      );

      verifies(
        ['core:skills:atomic', 'curator:apply:atomic'],
        `${scenario.name}: the process dies at every operation; the next start mends`,
        async (context) => {
          const template = await makeTemplate(scenario);
          context.after(() => rmSync(template.home, { recursive: true, force: true }));
          const tried = await failEachOperation({
            limit: LIMIT,
            every,
            run: async (faults) => void (await runOnce(scenario, template.home, dying(faults))),
            check: (outcome) => checkAfter(scenario, outcome, { mayBeNew: true, template }),
          });
          assert.ok(tried >= 40, `${tried} operations`);
        },
      );
    }
  });
}
