// Owns the learning loop on the agent's hooks (seed 001 ch 13): counts turns and steps, orders a review when a nudge is due, and at the
// end of a session when a reason to propose a skill was met. Knows no model and no file.
// Invariants: no hook waits for a review; a resumed session has the counters that the live one had.
import type { Hooks, SessionInfo } from '#core/agent/hooks.ts';
import type { SessionStore, StoredMessage } from '#core/agent/session-store.ts';
import { creationTriggers } from './counters/creation-triggers.ts';
import { type doneCalls, workCalls } from './counters/done-calls.ts';
import {
  afterReview,
  countTurn,
  dueNudges,
  type NudgeCounters,
  type NudgeIntervals,
  type NudgeKind,
  rebuildCounters,
} from './counters/nudge-counters.ts';
import { followsSkill, ownTurns } from './counters/own-turns.ts';
import { ownerWords, splitTurns, type Turn } from './counters/split-turns.ts';
import { repeatedCalls } from './procedure/traces.ts';
import type { Review, ReviewOrder, ReviewReason } from './review/review.ts';

export interface LoopParts {
  readonly store: Pick<SessionStore, 'messages' | 'list'>;
  /** Reviews of a session that were ordered and did not fail, newest first. */
  readonly reviewsOf: (sessionId: string) => readonly Review[];
  readonly order: (order: ReviewOrder) => Promise<void>;
  /** As they are now: stretched by a low yield. */
  readonly intervals: () => NudgeIntervals;
  readonly mayRun: (sessionId: string) => Promise<boolean>;
  /** The last reviews kept nothing: the end of a session alone is no reason for another one yet. */
  readonly isResting: () => boolean;
  /** No language model answers: rules do. */
  readonly isReflex: () => boolean;
  /** Sentences of the owner that are worth keeping and are not kept, by rule. */
  readonly statementsIn: (messages: Turn) => number;
  /** False: no reason to propose one counts. */
  readonly keepsSkills: boolean;
}

/** Sessions of programs teach nothing about the owner. */
const DEAF: ReadonlySet<string> = new Set(['extension', 'subagent', 'review', 'tool']);
/** Earlier sessions of the folder in which the same calls are looked for. */
const EARLIER = 5;

export function createLearningLoop(parts: LoopParts): Hooks {
  const live = new Map<string, LiveSession>();
  const of = async (session: SessionInfo): Promise<LiveSession> => {
    const known = live.get(session.sessionId);
    if (known) return known;
    const made = { counters: await countersOf(parts, session.sessionId), offered: new Set<string>() };
    live.set(session.sessionId, made);
    return made;
  };
  return {
    name: 'learning',
    sessionStart: async (session) => {
      if (!DEAF.has(session.source)) await of(session);
    },
    afterTurn: async (turn, { messages }) => {
      if (DEAF.has(turn.source)) return;
      // A session that is first seen now holds this turn already.
      const isNew = !live.has(turn.sessionId);
      const session = await of(turn);
      const own = splitTurns(messages).at(-1) ?? [];
      if (!isNew) session.counters = countTurn(session.counters, own);
      await fireNudges(parts, turn, session);
      if (parts.keepsSkills && parts.isReflex()) await offerRepeated(parts, turn, { session, own });
    },
    sessionEnd: async (session) => {
      live.delete(session.sessionId);
      if (!DEAF.has(session.source)) await reviewAtEnd(parts, session.sessionId);
    },
  };
}

interface LiveSession {
  counters: NudgeCounters;
  /** Runs of calls that a skill was proposed for. */
  readonly offered: Set<string>;
  /** Calls of earlier sessions, read once. */
  earlier?: ReturnType<typeof doneCalls>;
}

async function countersOf({ store, reviewsOf }: LoopParts, sessionId: string): Promise<NudgeCounters> {
  const stored = await store.messages(sessionId);
  const reviews = reviewsOf(sessionId);
  return rebuildCounters({
    memory: messagesBehind(stored, lastThrough(reviews, 'memory')),
    skills: messagesBehind(stored, lastThrough(reviews, 'skills')),
  });
}

function lastThrough(reviews: readonly Review[], kind: NudgeKind): number {
  return Math.max(
    0,
    ...reviews.filter((one) => one.kind === kind || one.kind === 'combined').map(({ through }) => through),
  );
}

function messagesBehind(stored: readonly StoredMessage[], through: number): Turn {
  return stored.filter(({ id }) => id > through).map(({ message }) => message);
}

const NUDGES: Readonly<Record<NudgeKind, ReviewReason>> = { memory: 'memory-nudge', skills: 'skill-nudge' };

/** Without budget the counters stay where they are: the review fires as soon as there is some. */
async function fireNudges(parts: LoopParts, { sessionId }: SessionInfo, session: LiveSession): Promise<void> {
  const due = dueNudges(session.counters, parts.intervals());
  if (due.length === 0 || !(await parts.mayRun(sessionId))) return;
  session.counters = afterReview(session.counters, due);
  await parts.order({ sessionId, reasons: due.map((kind) => NUDGES[kind]), through: await lastId(parts, sessionId) });
}

async function reviewAtEnd(parts: LoopParts, sessionId: string): Promise<void> {
  const through = lastThrough(parts.reviewsOf(sessionId), 'skills');
  const stretch = messagesBehind(await parts.store.messages(sessionId), through);
  if (!stretch.some((message) => ownerWords(message) !== '')) return;
  const triggers = parts.keepsSkills ? creationTriggers(stretch, { acrossTurns: parts.isReflex() }) : [];
  const isTask = triggers.includes('correction') || (triggers.length > 0 && hasOwnTask(stretch));
  // By rule a look costs nothing; a model is asked about facts by the nudge.
  const hasFacts = parts.isReflex() && parts.statementsIn(stretch) > 0;
  if (!isTask && !hasFacts) return;
  if (!triggers.includes('correction') && !parts.isReflex() && parts.isResting()) return;
  await parts.order({ sessionId, reasons: ['session-end', ...triggers], through: await lastId(parts, sessionId) });
}

/** What only followed a skill, or played earlier steps again, needs no second look, unless it was set right. */
function hasOwnTask(stretch: Turn): boolean {
  return ownTurns(stretch).some((turn) => workCalls(turn).length > 0);
}

async function lastId({ store }: LoopParts, sessionId: string): Promise<number> {
  return (await store.messages(sessionId)).at(-1)?.id ?? 0;
}

/** The third time the same calls are made, by rule (reflex 5). */
async function offerRepeated(
  parts: LoopParts,
  { sessionId, cwd }: SessionInfo,
  { session, own }: { readonly session: LiveSession; readonly own: Turn },
): Promise<void> {
  if (workCalls(own).length === 0 || followsSkill(own)) return;
  session.earlier ??= await earlierCalls(parts, sessionId, cwd);
  const stored = await parts.store.messages(sessionId);
  const here = ownCalls(stored.map(({ message }) => message));
  const run = repeatedCalls([...session.earlier, ...here]);
  if (run === undefined || run.length > here.length) return;
  const key = JSON.stringify(run.map(({ call }) => [call.name, call.arguments]));
  if (session.offered.has(key)) return;
  session.offered.add(key);
  await parts.order({ sessionId, reasons: ['repeated'], through: stored.at(-1)?.id ?? 0 });
}

async function earlierCalls({ store }: LoopParts, sessionId: string, cwd: string) {
  const sessions = await store.list({ cwd, limit: EARLIER + 1 });
  const others = sessions
    .filter(({ id }) => id !== sessionId)
    .slice(0, EARLIER)
    .toReversed();
  const stretches = await Promise.all(others.map(({ id }) => store.messages(id)));
  return stretches.flatMap((stored) => ownCalls(stored.map(({ message }) => message)));
}

function ownCalls(messages: Turn) {
  return splitTurns(messages)
    .filter((turn) => !followsSkill(turn))
    .flatMap(workCalls);
}
