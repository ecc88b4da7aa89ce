// Owns noticing how skills fare: hooks that see which skill a turn used and what came of it, the uses as rows, their counts by version, and the
// rollback that follows.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import { type Message, startsTurn, type ToolCallPart, toolCalls } from '#core/model/message.ts';
import { hasFailed } from '#mind/evidence/ledger/turn-calls.ts';
import { allVersions, countedVersions, lastVersion } from './door/versions.ts';
import { stepOf } from './format/skill-text.ts';
import type { SkillDoor } from './skill.ts';
import type { SkillRecords } from './skill-records.ts';

export interface UseTrackerOptions {
  /** state.db, opened with `skillSchema` among its rooms. */
  readonly database: Database;
  readonly records: SkillRecords;
  readonly door: Pick<SkillDoor, 'rollback'>;
  /** SKILL.md as it stands now. */
  readonly textOf: (skill: string) => string | undefined;
  readonly clock: Clock;
  readonly tell: (event: {
    readonly type: 'skill-rolled-back' | 'skill-rollback-failed';
    readonly skill: string;
    /** The version that did worse, and the one whose text stands again. */
    readonly worse: number;
    readonly better: number;
    readonly uses: { readonly worse: UseCounts; readonly better: UseCounts };
    readonly probability: number;
    /** One sentence for the owner. */
    readonly text: string;
  }) => void;
}

type PendingUse = Omit<SkillUse, 'outcome' | 'reason' | 'at'>;
type Reason = 'command-failed' | 'failed' | 'aborted' | 'next-turn' | 'session-end';

/** Of one session: skills seen in the turn under way by version, uses that wait for the next line, and skills used in earlier turns. */
interface Seen {
  readonly viewed: Map<string, number>;
  /** Seen in this turn, and a command of theirs failed since. */
  readonly broken: Set<string>;
  pending: readonly PendingUse[];
  readonly counted: Set<string>;
}

function nothingSeen(): Seen {
  return { viewed: new Map(), broken: new Set(), pending: [], counted: new Set() };
}

export function createUseTracker(options: UseTrackerOptions): Hooks {
  const { clock } = options;
  const sessions = new Map<string, Seen>();
  /** Counts what waits, by what became known. */
  const settle = async (sessionId: string, reason: Reason) => {
    const seen = sessions.get(sessionId);
    const pending = seen?.pending ?? [];
    if (seen === undefined || pending.length === 0) return;
    seen.pending = [];
    const outcome = reason === 'next-turn' || reason === 'session-end' ? 'success' : 'failure';
    const at = clock.now();
    for (const use of pending) {
      seen.counted.add(use.skill);
      await countUse(options, { ...use, outcome, reason, at });
    }
  };
  return {
    name: 'skill-use',
    beforeTurn: async ({ sessionId }) => {
      await settle(sessionId, 'next-turn');
      return [];
    },
    afterTool: async ({ sessionId, source }, call, result) => {
      if (source === 'golem') return;
      const known = sessions.get(sessionId);
      if (known && hasFailed(result)) await commandFailed(options, known, sessionId, call);
      const skill = result.isError ? undefined : skillViewed(call);
      if (skill === undefined) return;
      const seen = known ?? nothingSeen();
      sessions.set(sessionId, seen);
      await noteView(options, seen, skill, call);
    },
    afterTurn: async ({ sessionId, turn }, { outcome, messages }) => {
      const seen = sessions.get(sessionId);
      if (seen === undefined) return;
      const uses = usesIn(seen, messages).map(([skill, version]): PendingUse => ({ skill, version, sessionId, turn }));
      const broken = new Set(seen.broken);
      for (const told of [seen.viewed, seen.broken]) told.clear();
      // A turn that was stopped by a limit says nothing of its skills.
      if (outcome === 'stopped') return;
      seen.pending = uses.filter(({ skill }) => broken.has(skill));
      await settle(sessionId, 'command-failed');
      seen.pending = uses.filter(({ skill }) => !broken.has(skill));
      if (outcome === 'failed' || outcome === 'aborted') await settle(sessionId, outcome);
    },
    sessionEnd: async ({ sessionId }) => {
      await settle(sessionId, 'session-end');
      sessions.delete(sessionId);
    },
  };
}

/** Once for each turn and skill: false when it was counted before. A version that did worse is rolled back. */
export async function countUse(options: UseTrackerOptions, use: SkillUse): Promise<boolean> {
  if (!(await insertUse(options.database, use))) return false;
  await options.records.used(use.skill, use.outcome);
  await judge(options, use.skill, use.version);
  await options.records.mirror();
  return true;
}

async function noteView({ database, records }: UseTrackerOptions, seen: Seen, skill: string, call: ToolCallPart) {
  if (!seen.viewed.has(skill)) seen.viewed.set(skill, lastVersion(database, skill)?.version ?? 0);
  if (call.arguments.file_path === undefined) await records.viewed(skill);
}

/** A command that stands in a skill ends its last use: that of this turn, else one that was counted already. */
async function commandFailed(
  options: UseTrackerOptions,
  seen: Seen,
  sessionId: string,
  { arguments: { command } }: ToolCallPart,
): Promise<void> {
  const { database, records, textOf } = options;
  if (typeof command !== 'string') return;
  for (const skill of new Set([...seen.viewed.keys(), ...seen.counted])) {
    if (stepOf(textOf(skill) ?? '', command) === undefined) continue;
    if (seen.viewed.has(skill)) {
      seen.broken.add(skill);
      continue;
    }
    const version = await failUse(database, { skill, sessionId, reason: 'command-failed' });
    if (version === undefined) continue;
    await records.used(skill, 'late-failure');
    await records.mirror();
    await judge(options, skill, version);
  }
}

/** Only the text that stands is judged, whatever was noted beside it since, and no rollback is. */
async function judge({ database, clock, door, tell }: UseTrackerOptions, skill: string, used: number): Promise<void> {
  const rows = allVersions(database, skill);
  const counted = countedVersions(rows);
  const version = counted.get(used);
  const row = rows.find((one) => one.version === version);
  if (version === undefined || row === undefined || counted.get(rows.at(-1)?.version ?? 0) !== version) return;
  if (row.parent === null || row.undoes !== null || row.original_tree === null || row.new_tree === null) return;
  const parent = counted.get(row.parent) ?? row.parent;
  const uses = { better: countUses(database, skill, parent), worse: countUses(database, skill, version) };
  const judged = judgeVersion(uses.better, uses.worse);
  const pair = { skill, better: row.original_tree, worse: row.new_tree };
  if (!judged.rollBack || wasRolledBack(database, pair)) return;
  const notes = rows.filter((one) => one.version > version && one.undoes === null && one.rolled_back_at === null);
  const done = await rollBackAll(door, skill, [...notes.map((one) => one.version).reverse(), version]);
  await keepPair(database, pair, clock.now());
  const rates = `${uses.worse.successes} of ${usesOf(uses.worse)} uses went well, ${uses.better.successes} of ${usesOf(uses.better)} before`;
  tell({
    ...{ type: done.ok ? 'skill-rolled-back' : 'skill-rollback-failed', skill, worse: version, better: parent, uses },
    probability: judged.probability,
    text: done.ok
      ? `${skill}: version ${version} did worse and was rolled back (${rates}); talaria skills log ${skill}`
      : `${skill}: version ${version} does worse (${rates}) and could not be rolled back: ${done.detail}`,
  });
}

/** Newest first: what was noted in the text goes with it. */
async function rollBackAll(
  door: Pick<SkillDoor, 'rollback'>,
  skill: string,
  [version = 0, ...older]: readonly number[],
): ReturnType<SkillDoor['rollback']> {
  const done = await door.rollback({ skill, version }, { actor: 'rollback' });
  return done.ok && older.length > 0 ? rollBackAll(door, skill, older) : done;
}

const ABOUT_SKILLS: readonly string[] = ['skills_list', 'skill_view', 'skill_manage'];

function skillViewed({ name, arguments: given }: ToolCallPart): string | undefined {
  return name === 'skill_view' && typeof given.name === 'string' ? given.name.trim() : undefined;
}

/** Skills that were seen in one step and followed by work in a later one, with the version that was seen. `messages` may begin long before. */
function usesIn({ viewed }: Seen, messages: readonly Message[]): readonly (readonly [string, number])[] {
  const turn = messages.slice(messages.findLastIndex(startsTurn) + 1);
  const working = (message: Message) => toolCalls(message).some(({ name }) => !ABOUT_SKILLS.includes(name));
  const views = (message: Message, skill: string) => toolCalls(message).some((call) => skillViewed(call) === skill);
  const lastWork = turn.findLastIndex(working);
  return [...viewed].filter(([skill]) => {
    const at = turn.findIndex((message) => views(message, skill));
    return at >= 0 && at < lastWork;
  });
}

export interface SkillUse {
  readonly skill: string;
  readonly version: number;
  readonly sessionId: string;
  readonly turn: number;
  readonly outcome: 'success' | 'failure';
  /** `command-failed`, `failed`, `aborted`, `next-turn`, `session-end`, or of who verified it. */
  readonly reason: string;
  /** Epoch ms. */
  readonly at: number;
}

/** False when this turn's use of the skill is counted already. */
export function insertUse(database: Database, use: SkillUse): Promise<boolean> {
  return database.transaction(() => {
    const done = database.run(
      `INSERT OR IGNORE INTO skill_uses(skill, version, session_id, turn, outcome, reason, at) VALUES(?, ?, ?, ?, ?, ?, ?)`,
      ...[use.skill, use.version, use.sessionId, use.turn, use.outcome, use.reason, use.at],
    );
    return done.changes > 0;
  });
}

/** A use that counted as a success was none after all: the skill's last one of the session. Gives its version; undefined: there is none. */
function failUse(database: Database, { skill, sessionId, reason }: Pick<SkillUse, 'skill' | 'sessionId' | 'reason'>) {
  return database.transaction(() => {
    const row = database.get<{ version: number }>(
      `UPDATE skill_uses SET outcome = 'failure', reason = ? WHERE outcome = 'success' AND id =
         (SELECT max(id) FROM skill_uses WHERE skill = ? AND session_id = ?) RETURNING version`,
      reason,
      skill,
      sessionId,
    );
    return row?.version;
  });
}

/** Two states of a skill by the hashes of their folders: the same text under another number is the same pair. */
interface RollbackPair {
  readonly skill: string;
  readonly better: string;
  readonly worse: string;
}

function wasRolledBack(database: Database, { skill, better, worse }: RollbackPair): boolean {
  const sql = 'SELECT 1 FROM skill_rollback_pairs WHERE skill = ? AND better = ? AND worse = ?';
  return database.get(sql, skill, better, worse) !== undefined;
}

function keepPair(database: Database, { skill, better, worse }: RollbackPair, at: number): Promise<void> {
  return database.transaction(() => {
    database.run('INSERT OR IGNORE INTO skill_rollback_pairs VALUES(?, ?, ?, ?)', skill, better, worse, at);
  });
}

export interface VersionUses extends UseCounts {
  /** 0: what stood there before the first write that is known. */
  readonly version: number;
}

/** By the version that they count for, the oldest first; versions without a use are left out. */
export function usesByVersion(database: Database, skill: string): readonly VersionUses[] {
  const rows = database.all<{ version: number; successes: number; uses: number }>(
    `SELECT version, sum(outcome = 'success') AS successes, count(*) AS uses FROM skill_uses
     WHERE skill = ? GROUP BY version ORDER BY version`,
    skill,
  );
  const counted = countedVersions(allVersions(database, skill));
  const sums = new Map<number, VersionUses>();
  for (const { version: own, successes, uses } of rows) {
    const version = counted.get(own) ?? own;
    const sum = sums.get(version) ?? { version, successes: 0, failures: 0 };
    sums.set(version, { version, successes: sum.successes + successes, failures: sum.failures + uses - successes });
  }
  return [...sums.values()].sort((a, b) => a.version - b.version);
}

/** What counts for `version`. */
export function countUses(database: Database, skill: string, version: number): UseCounts {
  const { successes = 0, failures = 0 } = usesByVersion(database, skill).find((row) => row.version === version) ?? {};
  return { successes, failures };
}

interface UsedTurn {
  readonly sessionId: string;
  readonly turn: number;
}

/** Those that count for `version`, in the order in which they were counted. Leave no loop over it unfinished inside a transaction. */
export function usedTurns(database: Database, skill: string, version: number): Generator<UsedTurn, void, undefined> {
  const counted = countedVersions(allVersions(database, skill));
  const versions = [version, ...[...counted].flatMap(([own, counts]) => (counts === version ? [own] : []))];
  return database.iterate<UsedTurn>(
    `SELECT session_id AS sessionId, turn FROM skill_uses WHERE skill = ?
       AND version IN (SELECT value FROM json_each(?)) ORDER BY id`,
    skill,
    JSON.stringify(versions),
  );
}

/** Uses of the new version at which it is judged. */
export const LOOKS: readonly number[] = [5, 10, 20, 40, 80];

const MIN_USES = 5;
const MIN_DIFFERENCE = 0.15;
/** One failure decides nothing: a version that nearly always works has one in its first five uses now and then. */
const MIN_FAILURES = 2;
/**
 * The level of one look; over all of them it keeps the promise of 0.95. Found by summing over every course of uses, for rates from 0.05
 * to 0.995 and parents with 5 to 1,000 uses: 4.4 of 100 at worst. With 0.95 at each look it would be 14, at each use 21.
 */
export const LOOK_LEVEL = 0.9925;

/** `difference`: rate of the older minus rate of the newer. `isLook`: it is time to judge; who adds up what others counted says when. */
export function judgeVersion(older: UseCounts, newer: UseCounts, isLook = LOOKS.includes(usesOf(newer))) {
  const uses = usesOf(newer);
  const difference = rateOf(older) - rateOf(newer);
  const probability = worseProbability(older, newer);
  const said = (reason: 'too-few-uses' | 'between-looks' | 'not-lower' | 'not-certain' | 'worse') => {
    return { rollBack: reason === 'worse', reason, difference, probability };
  };
  if (usesOf(older) < MIN_USES || uses < MIN_USES) return said('too-few-uses');
  if (!isLook) return said('between-looks');
  if (difference <= MIN_DIFFERENCE || newer.failures < MIN_FAILURES) return said('not-lower');
  return said(probability < LOOK_LEVEL ? 'not-certain' : 'worse');
}

export function usesOf({ successes, failures }: UseCounts): number {
  return successes + failures;
}

function rateOf(counts: UseCounts): number {
  const uses = usesOf(counts);
  return uses === 0 ? 0 : counts.successes / uses;
}

/** How often something went well and how often not. */
export interface UseCounts {
  readonly successes: number;
  readonly failures: number;
}

/**
 * P(rate of `newer` < rate of `older`) when each rate is Beta(1 + successes, 1 + failures). A finite sum for whole counts: the older
 * rate's parameter steps from 1 to its value, each step adding what the integral over it adds.
 */
export function worseProbability(older: UseCounts, newer: UseCounts): number {
  const a = 1 + newer.successes;
  const b = 1 + newer.failures;
  const c = 1 + older.successes;
  const d = 1 + older.failures;
  let sum = 0;
  for (let i = 0; i < c; i += 1)
    sum += Math.exp(logBeta(a + i, b + d) - Math.log(d + i) - logBeta(1 + i, d) - logBeta(a, b));
  return Math.min(1, Math.max(0, sum));
}

function logBeta(a: number, b: number): number {
  return logFactorial(a - 1) + logFactorial(b - 1) - logFactorial(a + b - 1);
}

const known: number[] = [0, 0];

function logFactorial(n: number): number {
  for (let next = known.length; next <= n; next += 1) known[next] = (known[next - 1] ?? 0) + Math.log(next);
  return known[n] ?? 0;
}
