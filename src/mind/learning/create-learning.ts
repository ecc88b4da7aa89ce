// Owns the learning loop of one agent behind its hooks (seed 001 ch 11 to 13): what a nudge, the end of a session or a third repetition orders, and
// what a review is made of.

import { errorText } from '#base/errors.ts';
import { redactSecrets } from '#base/secrets.ts';
import { absentAsker } from '#core/agent/approver.ts';
import { createForkTurn } from '#core/agent/conversation.ts';
import type { RoomGround } from '#core/agent/room.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import { createPendingFiles } from '#mind/evidence/gate/pending-files.ts';
import type { doneCalls } from '#mind/memory/kept-entries.ts';
import { sessionMessages } from '#mind/sessions/told-messages.ts';
import { skillsSchema } from '#mind/skills/room.ts';
import { keepProposal, type LearningParts, settleOutcomes } from './keep-proposal.ts';
import {
  type Keeps,
  type Learning,
  type LearningSection,
  narrowKind,
  type Review,
  type ReviewOrder,
  type ReviewOutcome,
  type ReviewReason,
} from './learning.ts';
import { createBudgetDesk } from './learning-budget.ts';
import type { ProvidedMemory } from './memory-providers.ts';
import { createOwnersDesk } from './owners-desk.ts';
import { repeatedCalls } from './procedure.ts';
import {
  afterReview,
  creationTriggers,
  dueNudges,
  followsSkill,
  type NudgeIntervals,
  type NudgeKind,
  ownerStatements,
  ownerWords,
  ownTurns,
  rebuildCounters,
  splitTurns,
  type Turn,
  workCalls,
} from './read-turns.ts';
import { keptEntries, reviewByRule } from './reflex-review.ts';
import { createReviewDesk, learnNow, NOTHING_KEPT, ReviewRows } from './reviews.ts';
import { flushMemory, type ReviewParts, type ReviewRun, runReview } from './run-review.ts';

/** A review begins this long after the answer. */
const REVIEW_DELAY_MS = 2_000;

/** What of it is on. */
export interface LearningWish {
  readonly settings: LearningSection;
  readonly keeps: Keeps;
  /** 0: never. */
  readonly intervals: NudgeIntervals;
}

export async function createLearning(
  ground: RoomGround,
  wish: LearningWish,
  provider?: ProvidedMemory,
): Promise<Learning> {
  const { clock, background, seat, log } = ground;
  const { settings, keeps } = wish;
  const parts = await partsOf(ground, provider);
  const { store } = parts;
  const rows = new ReviewRows(store.database, clock);
  const owners = createOwnersDesk(parts, rows);
  const model = () => seat.model();
  const isReflex = () => model().tier === 'T0';
  const isAttended = async (sessionId: string) =>
    (await store.get(sessionId)) !== undefined && seat.isAttended(sessionId);
  const unattended = (await ground.settings()).section('skills', skillsSchema).write_approval;
  const keep =
    (byRule: boolean): ReviewParts['keep'] =>
    async (draft, signal) => {
      const { sessionId } = draft;
      // A review that runs late, in another program, is of a session at which a person sat when it was ordered.
      const attended = sessionId !== undefined && (rows.wasAttended(sessionId) || (await isAttended(sessionId)));
      return keepProposal(
        parts,
        draft,
        { attended, unattended, alwaysCreate: owners.keepsNewSkills(), byRule },
        signal,
      );
    };
  const review = reviewParts(ground, parts, keep(false));
  const rules = { parts, rows, keep: keep(true) };
  const budget = createBudgetDesk(store, rows, { settings, intervals: wish.intervals }, clock);
  const settled = async (run: ReviewRun): Promise<ReviewRun> => {
    await settleOutcomes(parts, run.outcomes);
    return run;
  };
  const desk = createReviewDesk({
    ...{ rows, background, clock, log, leasePath: ground.places.lease },
    run: async (due: Review, signal: AbortSignal): Promise<ReviewOutcome> => {
      const kind = narrowKind(due.kind, isReflex() ? keeps : await shownKeeps(parts, due.sessionId, keeps));
      if (kind === undefined) return NOTHING_KEPT;
      const order = { ...due, kind, ...(due.reasons.includes('asked') ? {} : { left: budget.left }) };
      return settled(await (isReflex() ? reviewByRule(rules, order, signal) : runReview(review, order, signal)));
    },
    mayRun: async (sessionId) => isReflex() || budget.hasRoom(sessionId),
    delayMs: () => (isReflex() ? 0 : REVIEW_DELAY_MS),
  });
  const order = async (asked: ReviewOrder) => desk.order({ ...asked, attended: await isAttended(asked.sessionId) });
  return {
    ...owners,
    ...loopDoors({ ...parts, rows, keeps, order, budget, isReflex }),
    flush: async (sessionId, signal) => {
      const byRule = () => reviewByRule(rules, { sessionId, kind: 'memory', reasons: ['memory-nudge'] }, signal);
      try {
        const run = isReflex() ? await byRule() : await flushMemory(review, parts, sessionId, signal);
        if (run) await settled(run);
      } catch (error) {
        if (signal.aborted) throw error;
        parts.notice(`memory was not saved before the compression: ${errorText(error)}`);
      }
    },
    learnNow: (...asked) => learnNow(store, rows, desk, ...asked),
    runDue: async (signal) => (settings.enabled ? desk.runDue(signal) : 0),
    drain: desk.drain,
    report: budget.report,
  };
}

async function partsOf(ground: RoomGround, provider: ProvidedMemory | undefined): Promise<LearningParts> {
  const { clock, background, log, notice, redact, places } = ground;
  const [store, ledger, memory, library, door, judge] = await Promise.all([
    ground.door('sessions'),
    ground.door('proposals'),
    ground.door('memory'),
    ground.door('skills'),
    ground.door('door'),
    ground.door('judge'),
  ]);
  return {
    ...{ clock, background, log, notice, store, ledger, memory, library, door, judge },
    redact: (text) => redactSecrets(redact(text)),
    pending: createPendingFiles(places.pending),
    mirror: async (written) => provider?.written(written),
  };
}

function reviewParts(ground: RoomGround, { store }: LearningParts, keep: ReviewParts['keep']): ReviewParts {
  const { clock, places, seat, redact } = ground;
  const tools = seat.tools();
  const model = (): ModelClient => seat.model();
  const place = { cwd: places.home, clock, asker: absentAsker, spillFolder: places.spill, redact };
  return {
    forkTurn: createForkTurn({ store, model, machine: { clock, place, access: { tools } } }),
    messagesOf: (sessionId): Promise<readonly StoredMessage[]> => store.messages(sessionId),
    readingTools: ['skills_list', 'skill_view'].flatMap((name) => tools.get(name) ?? []),
    citable: (sessionId) => sessionMessages(store.database, sessionId),
    keep,
    window: () => model().traits.contextWindow,
  };
}

/** A fork may run only what its session shows: without the tool there is nothing to propose with. */
async function shownKeeps({ store }: LearningParts, sessionId: string, keeps: Keeps): Promise<Keeps> {
  const prompt = await store.loadPrompt(sessionId);
  const shows = (name: string) => prompt === undefined || prompt.tools.some((tool) => tool.name === name);
  return { memory: keeps.memory && shows('memory'), skills: keeps.skills && shows('skill_manage') };
}

interface LoopParts extends Pick<LearningParts, 'store' | 'memory'> {
  readonly rows: ReviewRows;
  readonly keeps: Keeps;
  readonly order: (order: ReviewOrder) => Promise<void>;
  readonly budget: ReturnType<typeof createBudgetDesk>;
  /** No language model answers: rules do, and a look costs nothing. */
  readonly isReflex: () => boolean;
}

const NUDGES: Readonly<Record<NudgeKind, ReviewReason>> = { memory: 'memory-nudge', skills: 'skill-nudge' };
/** Earlier sessions of the folder in which the same calls are looked for. */
const EARLIER = 5;

function loopDoors(parts: LoopParts): Pick<Learning, 'countersOf' | 'nudge' | 'repeated' | 'sessionEnded'> {
  const { store, order, budget, isReflex } = parts;
  const lastId = async (sessionId: string) => (await store.messages(sessionId)).at(-1)?.id ?? 0;
  /** Of live sessions: runs of calls that a skill was proposed for, and the calls of earlier sessions, read once. */
  const known = new Map<string, { readonly offered: Set<string>; readonly earlier: ReturnType<typeof doneCalls> }>();
  return {
    countersOf: async (sessionId) => {
      const stored = await store.messages(sessionId);
      const behind = (kind: NudgeKind) => messagesBehind(stored, lastThrough(parts, sessionId, kind));
      return rebuildCounters({ memory: behind('memory'), skills: behind('skills') });
    },
    nudge: async (sessionId, counters) => {
      const due = dueNudges(counters, budget.intervals());
      if (due.length === 0 || !(isReflex() || (await budget.hasRoom(sessionId)))) return counters;
      await order({ sessionId, reasons: due.map((kind) => NUDGES[kind]), through: await lastId(sessionId) });
      return afterReview(counters, due);
    },
    repeated: async ({ sessionId, cwd }) => {
      const seen = known.get(sessionId) ?? { offered: new Set(), earlier: await earlierCalls(parts, sessionId, cwd) };
      known.set(sessionId, seen);
      const stored = await store.messages(sessionId);
      const here = ownCalls(stored.map(({ message }) => message));
      const run = repeatedCalls([...seen.earlier, ...here]);
      if (run === undefined || run.length > here.length) return;
      const key = JSON.stringify(run.map(({ call }) => [call.name, call.arguments]));
      if (seen.offered.has(key)) return;
      seen.offered.add(key);
      await order({ sessionId, reasons: ['repeated'], through: stored.at(-1)?.id ?? 0 });
    },
    sessionEnded: async (sessionId) => {
      known.delete(sessionId);
      const stretch = messagesBehind(await store.messages(sessionId), lastThrough(parts, sessionId, 'skills'));
      const reasons = reasonsToReview(parts, stretch);
      if (reasons) await order({ sessionId, reasons: ['session-end', ...reasons], through: await lastId(sessionId) });
    },
  };
}

/** Undefined: none. */
function reasonsToReview({ keeps, memory, budget, isReflex }: LoopParts, stretch: Turn) {
  if (!stretch.some((message) => ownerWords(message) !== '')) return undefined;
  const triggers = keeps.skills ? creationTriggers(stretch, isReflex()) : [];
  const isCorrected = triggers.includes('correction');
  // What only followed a skill, or played earlier steps again, needs no second look, unless it was set right.
  const hasOwnTask = ownTurns(stretch).some((turn) => workCalls(turn).length > 0);
  const isTask = isCorrected || (triggers.length > 0 && hasOwnTask);
  // A model is asked about facts by the nudge.
  const hasFacts = isReflex() && keeps.memory && ownerStatements(stretch, keptEntries(memory)).length > 0;
  if (!isTask && !hasFacts) return undefined;
  return isCorrected || isReflex() || !budget.isResting() ? triggers : undefined;
}

function lastThrough({ rows }: LoopParts, sessionId: string, kind: NudgeKind): number {
  const reviews = rows.list(sessionId).filter(({ status }) => status !== 'failed');
  const ofKind = reviews.filter((one) => one.kind === kind || one.kind === 'combined');
  return Math.max(0, ...ofKind.map(({ through }) => through));
}

function messagesBehind(stored: readonly StoredMessage[], through: number): Turn {
  return stored.filter(({ id }) => id > through).map(({ message }) => message);
}

async function earlierCalls({ store }: LoopParts, sessionId: string, cwd: string) {
  const sessions = await store.list({ cwd, limit: EARLIER + 1 });
  const others = sessions.filter(({ id }) => id !== sessionId).slice(0, EARLIER);
  const stretches = await Promise.all(others.toReversed().map(({ id }) => store.messages(id)));
  return stretches.flatMap((stored) => ownCalls(stored.map(({ message }) => message)));
}

function ownCalls(messages: Turn) {
  return splitTurns(messages)
    .filter((turn) => !followsSkill(turn))
    .flatMap(workCalls);
}
