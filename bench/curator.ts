/**
 * The curator: planning one run over a million events and 3,000 skills, against a bare GROUP BY on the same file; and what the events of a
 * turn cost in one commit, against one commit each. In process, clock fixed, warm.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { ledgerReader } from '#extensions/curator/report.ts';
import { planningEvidence } from '#extensions/curator/run/auto-run.ts';
import { planWrites } from '#extensions/curator/run/plan-auto-run.ts';
import type { PlanningSkill } from '#extensions/curator/run/plan-entry.ts';
import { insertToolEvent, type ToolEvent } from '#mind/evidence/ledger/event-rows.ts';
import { ledgerSchema } from '#mind/evidence/ledger/evidence-ledger.ts';
import { type BenchRow, median, spread } from './bench-row.ts';
import { seededRandom } from './skill-texts.ts';

const EVENTS = 1_000_000;
const SKILLS = 3_000;
const DAYS = 30;
const NOW = Date.parse('2026-05-21T00:00:00Z');
const BATCH = 20_000;
const WARM_UP = 2;
const ROUNDS = 9;
const CALLS_OF_TURN = 40;
const TURNS = 30;
const TOOLS = ['skill_view', 'terminal', 'read_file', 'write_file', 'patch', 'search_files', 'memory', 'todo'];
const BARE = 'SELECT skill_name, count(*), sum(is_error) FROM tool_events GROUP BY skill_name';

export async function benchCurator(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-bench-curator-'));
  const { database } = openDatabase(join(folder, 'evidence.sqlite'), { rooms: [ledgerSchema] });
  try {
    await fill(database);
    return [planRow(database), await commitRow(join(folder, 'commits.sqlite'))];
  } finally {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Half the calls belong to a tenth of the skills; a fifth name their skill, most others have one that is active. */
async function fill(database: Database): Promise<void> {
  const random = seededRandom(7);
  for (let from = 0; from < EVENTS; from += BATCH) {
    await database.lightTransaction(() => {
      for (let at = from; at < from + BATCH; at += 1) insertToolEvent(database, madeEvent(at, random));
    });
  }
}

function madeEvent(at: number, random: () => number): ToolEvent {
  const range = random() < 0.5 ? SKILLS / 10 : SKILLS;
  const skill = skillName(at < SKILLS * 2 ? at % SKILLS : Math.floor(random() * range));
  const tool = TOOLS[at % 5 === 0 ? 0 : 1 + Math.floor(random() * (TOOLS.length - 1))] ?? '';
  return {
    key: `["tool","s${at >> 6}",${at & 63},"call",0]`,
    at: NOW - Math.floor(((EVENTS - at) / EVENTS) * (DAYS - 1) * 86_400_000),
    sessionId: `s${at >> 6}`,
    taskId: `turn:${at & 63}:call`,
    tool,
    ms: 12,
    isError: random() < 0.1,
    isErrorUpstream: random() < 0.2,
    skill: tool === 'skill_view' ? skill : null,
    activeSkill: tool === 'skill_view' || random() < 0.8 ? skill : null,
    argsJson: `{"command":"make check-${at} in the folder of the work"}`,
    resultPreview: 'the build went on and on and said so. '.repeat(2 + Math.floor(random() * 8)),
  };
}

function skillName(at: number): string {
  return `skill-${String(at).padStart(4, '0')}`;
}

function madeSkills(): readonly PlanningSkill[] {
  const body = 'Read the file first, then change one thing and look at the result.\n'.repeat(30);
  return Array.from({ length: SKILLS }, (_, at) => ({
    name: skillName(at),
    path: `/home/skills/${skillName(at)}/SKILL.md`,
    text: `---\nname: ${skillName(at)}\ndescription: Skill number ${at}.\n---\n\n${body}`,
    source: 'local-agent-created',
  }));
}

function planRow(database: Database): BenchRow {
  const skills = madeSkills();
  const ratios: number[] = [];
  const plans: number[] = [];
  const bares: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const bare = timed(() => database.all(BARE));
    const plan = timed(() => planOnce(database, skills));
    if (round < WARM_UP) continue;
    ratios.push(plan / bare);
    plans.push(plan);
    bares.push(bare);
  }
  const value = median(ratios);
  const size = Math.round(statSync(database.path).size / 2 ** 20);
  const note =
    `${ROUNDS} rounds, ${spread(ratios)}: ${Math.round(median(plans))} ms against ${Math.round(median(bares))} ms; ` +
    `report of all skills, order, three texts with their own evidence; ${size} MiB`;
  return { metric: 'curator: plan', value, target: '≤ 5', unit: '× bare GROUP BY', ok: value <= 5, note };
}

/** As `auto-run` does it: every skill of the window is in the report, evidence is read for those that are looked at. */
function planOnce(database: Database, skills: readonly PlanningSkill[]): void {
  const evidence = planningEvidence(ledgerReader(database), database.path, DAYS, NOW);
  const { plan, writes } = planWrites({ ...evidence, skills, flags: { days: DAYS }, now: NOW });
  if (plan.selection.eligible_skill_count !== SKILLS || writes.length !== 3) throw new Error('the plan is not whole');
}

/** The same kind of commit on both sides; the ledger's own is lighter still, since the file can be filled again. */
async function commitRow(path: string): Promise<BenchRow> {
  const { database } = openDatabase(path, { rooms: [ledgerSchema] });
  const random = seededRandom(11);
  let next = 0;
  const turn = () => Array.from({ length: CALLS_OF_TURN }, () => madeEvent(next++, random));
  const write = (events: readonly ToolEvent[]) => () => {
    for (const event of events) insertToolEvent(database, event);
  };
  const times = { together: [] as number[], each: [] as number[], light: [] as number[] };
  try {
    for (let at = 0; at < TURNS; at += 1) {
      const [one, each, light] = [write(turn()), turn().map((event) => write([event])), write(turn())];
      times.together.push(await timedAsync(() => database.transaction(one)));
      times.each.push(await timedAsync(() => inTurn(each, (event) => database.transaction(event))));
      times.light.push(await timedAsync(() => database.lightTransaction(light)));
    }
  } finally {
    database.close();
  }
  const [together, each, light] = [median(times.together), median(times.each), median(times.light)];
  const value = each / together;
  const note =
    `${TURNS} turns of ${CALLS_OF_TURN} calls, durable on both sides: ${together.toFixed(2)} ms against ${each.toFixed(1)} ms; ` +
    `the ledger's light commit ${light.toFixed(2)} ms`;
  return { metric: 'curator: turn', value, target: '≥ 20', unit: '× a commit each', ok: value >= 20, note };
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await work(item);
}

function timed(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}

async function timedAsync(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
