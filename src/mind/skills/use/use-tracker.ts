// Owns noticing how skills fare: hooks that see which skill a turn used and what came of it, the counts, and the rollback that follows.
// Knows no surface: what it did is told as an event. Invariants: a use is counted once, with the version that was seen; it worked when no
// command of the skill failed after it in its session, by what was recorded and by no word that was said; what is not known is not counted;
// a version is rolled back once for one pair of texts, and always with an event.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { Hooks, SessionInfo, TurnInfo } from '#core/agent/hooks.ts';
import type { TurnOutcome } from '#core/agent/turn-event.ts';
import type { ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import { hasFailed } from '#mind/evidence/ledger/error-like.ts';
import { allVersions, countedVersions, lastVersion } from '../door/history/version-rows.ts';
import { stepOf } from '../format/skill-commands.ts';
import type { SkillRecords } from '../record/skill-records.ts';
import type { SkillDoor } from '../skill-door.ts';
import { judgeVersion } from './auto-rollback.ts';
import { countUses } from './read-uses.ts';
import { usedSkills } from './turn-uses.ts';
import { failUse, insertUse, keepPair, type SkillUse, wasRolledBack } from './use-rows.ts';
import type { UseCounts } from './worse-probability.ts';

/** A version did worse than the one before it. */
export interface SkillFallback {
  readonly type: 'skill-rolled-back' | 'skill-rollback-failed';
  readonly skill: string;
  /** The version that did worse, and the one whose text stands again. */
  readonly worse: number;
  readonly better: number;
  readonly uses: { readonly worse: UseCounts; readonly better: UseCounts };
  readonly probability: number;
  /** One sentence for the owner. */
  readonly text: string;
}

export interface UseTrackerOptions {
  /** state.db, opened with `skillSchema` among its rooms. */
  readonly database: Database;
  readonly records: SkillRecords;
  readonly door: Pick<SkillDoor, 'rollback'>;
  /** SKILL.md as it stands now. */
  readonly textOf: (skill: string) => string | undefined;
  readonly clock: Clock;
  readonly tell: (event: SkillFallback) => void;
}

export interface UseTracker {
  readonly hooks: Hooks;
  /** Skills whose text was put into the user message of the session's next turn. */
  injected(sessionId: string, skills: readonly string[]): void;
  /** The owner took the last turn back. */
  undone(sessionId: string): Promise<void>;
}

type PendingUse = Omit<SkillUse, 'outcome' | 'reason' | 'at'>;

/** Of one session: skills seen in the turn under way by version, uses that wait for the next line, and skills used in earlier turns. */
interface Seen {
  readonly viewed: Map<string, number>;
  readonly injected: Map<string, number>;
  /** Seen in this turn, and a command of theirs failed since. */
  readonly broken: Set<string>;
  pending: readonly PendingUse[];
  readonly counted: Set<string>;
}

export function createUseTracker(options: UseTrackerOptions): UseTracker {
  const tracker = new Tracker(options);
  const hooks: Hooks = {
    name: 'skill-use',
    beforeTurn: async (turn) => {
      await tracker.settle(turn.sessionId, 'next-turn');
      return [];
    },
    afterTool: (turn, call, result) => tracker.sawCall(turn, call, result),
    afterTurn: (turn, { outcome, messages }) => tracker.turnEnded(turn, outcome, messages),
    sessionEnd: (session) => tracker.ended(session),
  };
  return {
    hooks,
    injected: (sessionId, skills) => tracker.injected(sessionId, skills),
    undone: (sessionId) => tracker.settle(sessionId, 'undone'),
  };
}

class Tracker {
  readonly #options: UseTrackerOptions;
  readonly #sessions = new Map<string, Seen>();

  constructor(options: UseTrackerOptions) {
    this.#options = options;
  }

  injected(sessionId: string, skills: readonly string[]): void {
    for (const skill of skills) this.#seen(sessionId).injected.set(skill, this.#versionOf(skill));
  }

  async sawCall({ sessionId }: TurnInfo, call: ToolCallPart, result: ToolResultPart): Promise<void> {
    await this.#sawEnd(sessionId, call, result);
    const { name, file_path: path } = call.arguments;
    if (call.name !== 'skill_view' || result.isError || typeof name !== 'string') return;
    const skill = name.trim();
    const { viewed } = this.#seen(sessionId);
    if (!viewed.has(skill)) viewed.set(skill, this.#versionOf(skill));
    if (path === undefined) await this.#options.records.viewed(skill);
  }

  /** A command that stands in a skill and fails ends its last use: that of this turn, else one that was counted already. */
  async #sawEnd(sessionId: string, { arguments: given }: ToolCallPart, result: ToolResultPart): Promise<void> {
    const seen = this.#sessions.get(sessionId);
    const { command } = given;
    if (seen === undefined || typeof command !== 'string' || !hasFailed(result)) return;
    const { textOf } = this.#options;
    for (const skill of new Set([...seen.viewed.keys(), ...seen.injected.keys(), ...seen.counted])) {
      if (stepOf(textOf(skill) ?? '', command) === undefined) continue;
      if (seen.viewed.has(skill) || seen.injected.has(skill)) seen.broken.add(skill);
      else await this.#failLate(skill, sessionId);
    }
  }

  async #failLate(skill: string, sessionId: string): Promise<void> {
    const { database, records } = this.#options;
    const version = await failUse(database, { skill, sessionId, reason: 'command-failed' });
    if (version === undefined) return;
    await records.used(skill, 'late-failure');
    await records.mirror();
    await this.#judge(skill, version);
  }

  async turnEnded(
    { sessionId, turn }: TurnInfo,
    outcome: TurnOutcome,
    messages: Parameters<typeof usedSkills>[0],
  ): Promise<void> {
    const seen = this.#sessions.get(sessionId);
    if (seen === undefined) return;
    const names = { viewed: new Set(seen.viewed.keys()), injected: new Set(seen.injected.keys()) };
    const uses = usedSkills(messages, names).map((skill): PendingUse => {
      const version = seen.viewed.get(skill) ?? seen.injected.get(skill) ?? 0;
      return { skill, version, sessionId, turn };
    });
    const broken = new Set(seen.broken);
    for (const told of [seen.viewed, seen.injected, seen.broken]) told.clear();
    // A turn that was stopped by a limit says nothing of its skills.
    if (outcome === 'stopped') return;
    seen.pending = uses.filter(({ skill }) => broken.has(skill));
    await this.settle(sessionId, 'command-failed');
    seen.pending = uses.filter(({ skill }) => !broken.has(skill));
    if (outcome === 'failed' || outcome === 'aborted') await this.settle(sessionId, outcome);
  }

  async ended({ sessionId }: SessionInfo): Promise<void> {
    await this.settle(sessionId, 'session-end');
    this.#sessions.delete(sessionId);
  }

  /** Counts what waits, by what became known. */
  async settle(
    sessionId: string,
    reason: 'command-failed' | 'undone' | 'failed' | 'aborted' | 'next-turn' | 'session-end',
  ): Promise<void> {
    const seen = this.#sessions.get(sessionId);
    const pending = seen?.pending ?? [];
    if (seen === undefined || pending.length === 0) return;
    seen.pending = [];
    const outcome = reason === 'next-turn' || reason === 'session-end' ? 'success' : 'failure';
    const at = this.#options.clock.now();
    for (const use of pending) {
      seen.counted.add(use.skill);
      await this.#count({ ...use, outcome, reason, at });
    }
    await this.#options.records.mirror();
  }

  async #count(use: SkillUse): Promise<void> {
    const { database, records } = this.#options;
    if (!(await insertUse(database, use))) return;
    await records.used(use.skill, use.outcome);
    await this.#judge(use.skill, use.version);
  }

  /** Only the text that stands is judged, whatever was noted beside it since, and no rollback is. */
  async #judge(skill: string, used: number): Promise<void> {
    const { database, clock } = this.#options;
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
    const done = await this.#rollBack(skill, [...notes.map((one) => one.version).reverse(), version]);
    await keepPair(database, pair, clock.now());
    const rates = `${uses.worse.successes} of ${usesOf(uses.worse)} uses went well, ${uses.better.successes} of ${usesOf(uses.better)} before`;
    this.#options.tell({
      type: done.ok ? 'skill-rolled-back' : 'skill-rollback-failed',
      skill,
      worse: version,
      better: parent,
      uses,
      probability: judged.probability,
      text: done.ok
        ? `${skill}: version ${version} did worse and was rolled back (${rates}); talaria skills log ${skill}`
        : `${skill}: version ${version} does worse (${rates}) and could not be rolled back: ${done.detail}`,
    });
  }

  /** Newest first: what was noted in the text goes with it. */
  async #rollBack(skill: string, versions: readonly number[]): ReturnType<SkillDoor['rollback']> {
    const [version, ...older] = versions;
    const done = await this.#options.door.rollback(
      { skill, ...(version === undefined ? {} : { version }) },
      { actor: 'rollback' },
    );
    return done.ok && older.length > 0 ? this.#rollBack(skill, older) : done;
  }

  #versionOf(skill: string): number {
    return lastVersion(this.#options.database, skill)?.version ?? 0;
  }

  #seen(sessionId: string): Seen {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const fresh: Seen = { viewed: new Map(), injected: new Map(), broken: new Set(), pending: [], counted: new Set() };
    this.#sessions.set(sessionId, fresh);
    return fresh;
  }
}

function usesOf({ successes, failures }: UseCounts): number {
  return successes + failures;
}
