// Owns the skills' front: the library that reads them, the one door that writes them, their tools, their place in the prompt, and what is
// noticed of their use. Invariant: nothing of it is loaded before it is needed, for most homes begin without a skill.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '#base/database/connection.ts';
import { ifThere } from '#base/errors.ts';
import { type Lazy, lazy } from '#base/lazy.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { refuse } from '#base/result.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { OpenRoom, Places, RoomGround } from '#core/agent/room.ts';
import { type AnyTool, lateTool } from '#core/agent/tool.ts';
import { allVersions, asSkillVersion } from './door/versions.ts';
import type { GuardedSkillDoor } from './guarded-apply.ts';
import type { SkillRanker } from './library/offer-skills.ts';
import type { OpenLibrary } from './library/skill-library.ts';
import type { OpenedReading } from './open-skills.ts';
import { skillDraft, skillManageCard, skillsListCard, skillViewCard } from './skill-cards.ts';
import { createSkillRecords, type SkillRecords } from './skill-records.ts';
import type { UseTrackerOptions } from './skill-uses.ts';

/** What the index may take of the prompt, and of a small window. */
const INDEX_TOKENS = 2_000;
const INDEX_SHARE = 0.05;

interface SkillSettings {
  readonly enabled: boolean;
  readonly write_approval: 'draft' | 'apply';
  readonly external_dirs: readonly string[];
}

export async function openRoom(ground: RoomGround, settings: SkillSettings): Promise<OpenRoom> {
  const { clock, places } = ground;
  const state = await ground.door('state');
  let made: SkillRecords | undefined;
  const records = () => {
    made ??= createSkillRecords({ database: state, root: places.skills, clock });
    return made;
  };
  const external = settings.external_dirs.map((folder) => typedPath(folder, { ...places, cwd: places.home }));
  const reading = lazy(async () =>
    (await import('./open-skills.ts')).openReading(ground, { records: records(), external }),
  );
  const library = lateLibrary(reading, records, places.skills, external);
  const door = await lateDoor(ground, library, state);
  const skills: OpenSkills = { settings, reading, library, door, records, state };
  if (!state.readOnly) {
    if (mayHaveLeftovers(state, places)) await door.reconcile();
    ground.later('skills', () => readAgain(skills, ground.background.signal));
  }
  await library.ready();
  return {
    doors: {
      ...{ skills: library, door, skillRecords: records, ranker: lateRanker(reading), externalSkills: external },
      uses: { count: async (use) => (await import('./skill-uses.ts')).countUse(useParts(ground, skills), use) },
    },
    forget: async (what) => (await import('./forget-skills.ts')).forgetSkills(library, door, what),
    close: () => library.close(),
    ...(settings.enabled ? await whatIsShown(ground, skills) : {}),
  };
}

interface OpenSkills {
  readonly settings: SkillSettings;
  readonly reading: Lazy<OpenedReading>;
  readonly library: OpenLibrary;
  readonly door: GuardedSkillDoor;
  readonly records: () => SkillRecords;
  readonly state: Database;
}

/** Until it is loaded it answers as an empty library does; `ready` loads it only where a folder could hold a skill. */
function lateLibrary(
  reading: OpenSkills['reading'],
  records: OpenSkills['records'],
  root: string,
  external: readonly string[],
): OpenLibrary {
  const isPossible = () => reading.now() !== undefined || external.length > 0 || existsSync(root);
  const now = () => reading.now()?.library;
  return {
    ready: async (signal) => (isPossible() ? (await reading()).library.ready(signal) : undefined),
    refresh: async (signal) => (await reading()).library.refresh(signal),
    list: () => now()?.list() ?? [],
    get: (name) => now()?.get(name),
    record: (name) => records().get(name),
    file: (name, path) =>
      now()?.file(name, path) ?? refuse('no-such-skill', `There is no skill ${JSON.stringify(name)}.`),
    offered: (conditions) => now()?.offered(conditions) ?? [],
    problems: () => now()?.problems() ?? [],
    note: (name) => now()?.note(name),
    categories: () => now()?.categories() ?? new Map(),
    linkedFiles: (name) => now()?.linkedFiles(name),
    close: () => now()?.close(),
  };
}

function lateRanker(reading: OpenSkills['reading']): Pick<SkillRanker, 'rank'> {
  return {
    rank: async (question, options, signal) => {
      const { library, ranker } = await reading();
      await library.ready(signal);
      return ranker.rank(question, options, signal);
    },
  };
}

async function lateDoor(ground: RoomGround, library: OpenLibrary, state: Database): Promise<GuardedSkillDoor> {
  const { clock, places } = ground;
  const ledger = await ground.door('proposals');
  const locate = async (name: string) => {
    await library.ready();
    return library.get(name);
  };
  const door = lazy(async () => {
    const { createSkillDoor } = await import('./guarded-apply.ts');
    const at = { root: places.skills, backups: places.skillBackups };
    return createSkillDoor({ places: at, database: state, ledger, locate, clock });
  });
  return {
    write: async (...asked) => (await door()).write(...asked),
    install: async (...asked) => (await door()).install(...asked),
    rollback: async (...asked) => (await door()).rollback(...asked),
    versions: (skill) => allVersions(state, skill).map((row) => asSkillVersion(row, places.skillBackups)),
    reconcile: async () => (await door()).reconcile(),
    diff: async (...asked) => (await door()).diff(...asked),
  };
}

/** After the first turn: what changed in the folders, the words to rank by, and an index with the present use. */
async function readAgain({ reading, library }: OpenSkills, signal: AbortSignal): Promise<void> {
  const open = reading.now();
  if (open === undefined) return;
  await library.refresh(signal);
  await open.ranker.prepare(signal);
  open.index.renew();
}

async function whatIsShown(ground: RoomGround, skills: OpenSkills) {
  const { reading } = skills;
  const index = (window: number): string => {
    const budget = Math.min(INDEX_TOKENS, Math.floor(window * INDEX_SHARE));
    return reading.now()?.index.render({ conditions: ground.seat.shown(), budget }).text ?? '';
  };
  return {
    tools: await skillTools(ground, skills),
    hooks: [await offers(ground, skills), watchUses(ground, skills)],
    prompt: (window: number) => ({ skills: index(window) }),
  };
}

function useParts(
  { clock, events, background }: RoomGround,
  { library, door, records, state }: OpenSkills,
): UseTrackerOptions {
  return {
    ...{ database: state, records: records(), door, clock, textOf: (name) => library.get(name)?.text },
    tell: ({ text }) => {
      events.emit({ event: { type: 'notice', text } });
      background.hold('look at skills again', library.refresh());
    },
  };
}

/** From the first skill that is viewed on. */
function watchUses(ground: RoomGround, skills: OpenSkills): Hooks {
  const uses = lazy(async () => (await import('./skill-uses.ts')).createUseTracker(useParts(ground, skills)));
  return {
    name: 'skill-use',
    beforeTurn: async (turn, signal) => (await uses.now()?.beforeTurn?.(turn, signal)) ?? [],
    afterTool: async (turn, call, result) => {
      if (uses.now() !== undefined || call.name === skillViewCard.name)
        await (await uses()).afterTool?.(turn, call, result);
    },
    afterTurn: async (turn, ended) => uses.now()?.afterTurn?.(turn, ended),
    sessionEnd: async (session) => uses.now()?.sessionEnd?.(session),
  };
}

async function skillTools(ground: RoomGround, { settings, library, door }: OpenSkills): Promise<readonly AnyTool[]> {
  const { seat, variables } = ground;
  const conditions = seat.shown;
  const [gate, citationsOf] = await Promise.all([ground.door('gate'), ground.door('citationsOf')]);
  const surroundings = { environment: (name: string) => variables[name], credentialFolder: ground.places.home };
  const tools = () => import('./skill-tools.ts');
  return [
    lateTool(skillsListCard, async () => (await tools()).createSkillsListTool({ library, conditions })),
    lateTool(skillViewCard, async () => (await tools()).createSkillViewTool({ library, conditions, ...surroundings })),
    lateTool(skillManageCard, async () =>
      (await tools()).createSkillManageTool({
        ...{ door, reader: library, gate, citationsOf },
        ownerSay: (sessionId) => (seat.isAttended(sessionId) ? 'ask' : settings.write_approval),
        draft: (write) => gate.draft(skillDraft(write)),
        written: async () => void (await library.refresh()),
      }),
    ),
  ];
}

/** What the session's frozen index has no room for, or did not know: it goes into the user message, for the prefix never changes. */
async function offers(ground: RoomGround, { library, reading }: OpenSkills): Promise<Hooks> {
  const store = await ground.door('sessions');
  return {
    name: 'skill-offers',
    beforeTurn: async ({ sessionId, source, text }, signal) => {
      const conditions = ground.seat.shown();
      const offered = library.offered(conditions);
      const ranker = reading.now()?.ranker;
      // A golem is shown what its mind chose.
      if (offered.length === 0 || ranker === undefined || source === 'golem') return [];
      const { system = '' } = (await store.loadPrompt(sessionId)) ?? {};
      const shown = new Set(offered.map(({ name }) => name).filter((name) => system.includes(`\n- ${name}: `)));
      const { offerSkills } = await import('./library/offer-skills.ts');
      const part = await offerSkills(text, { ranker, conditions, shown, total: offered.length }, signal);
      return part ? [part] : [];
    },
  };
}

/** As many of the newest as are mended. */
const LOOKED_AT = 50;

const OPEN = "SELECT 1 FROM proposals WHERE status IN ('writing', 'proposed') AND kind = 'skill' LIMIT 1";

function mayHaveLeftovers(database: Database, { skills, skillBackups }: Places): boolean {
  return (
    database.get(OPEN) !== undefined ||
    names(join(skills, '.staging')).length > 0 ||
    hasUntiedVersion(database) ||
    hasUnfinishedBackup(skillBackups)
  );
}

/** A version whose write ended just before its evidence was tied to it. */
function hasUntiedVersion(database: Database): boolean {
  const sql = `SELECT 1 FROM (SELECT skill, version, proposal_id FROM skill_versions ORDER BY id DESC LIMIT ?) v
    JOIN proposals p ON p.id = v.proposal_id
    WHERE NOT EXISTS (SELECT 1 FROM provenance t WHERE t.kind = 'skill' AND t.target = v.skill
      AND t.thing = CAST(v.version AS TEXT) AND t.proposal = p.key) LIMIT 1`;
  return database.get(sql, LOOKED_AT) !== undefined;
}

/** The manifest is the last file of a backup, and is put in place whole. */
function hasUnfinishedBackup(backups: string): boolean {
  return names(backups)
    .filter((name) => /^\d{8}T\d+Z$/.test(name))
    .sort()
    .slice(-LOOKED_AT)
    .some((stamp) => !existsSync(join(backups, stamp, 'manifest.json')));
}

function names(folder: string): readonly string[] {
  return ifThere(() => readdirSync(folder)) ?? [];
}
