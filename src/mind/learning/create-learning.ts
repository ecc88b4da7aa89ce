// Owns composing the learning loop out of its rooms: counters, reviews, flush, what waits, reflex rules (seed 001 ch 11 to 13).
// Knows no surface and no provider. Invariant: one gate and one way to a file for everything that is kept here.
import type { Hooks } from '#core/agent/hooks.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { MemoryWriteNotice } from '#mind/memory/memory-provider.ts';
import { sessionMessages } from '#mind/sessions/find-message.ts';
import { createBudgetDesk } from './budget/budget-desk.ts';
import type { NudgeIntervals } from './counters/nudge-counters.ts';
import { ownerStatements } from './counters/owner-statements.ts';
import { flushHook } from './flush/flush-hook.ts';
import { createFlushMarks } from './flush/flush-marks.ts';
import { type KeepDoors, keepProposal } from './keep/keep-proposal.ts';
import { createOwnersDesk } from './keep/owners-desk.ts';
import { createPendingFiles } from './keep/pending-files.ts';
import { settleOutcomes } from './keep/settle-outcomes.ts';
import { learnNow } from './learn-now.ts';
import type { Learning } from './learning.ts';
import { createLearningLoop } from './learning-loop.ts';
import type { LearningParts } from './learning-parts.ts';
import { learningRules } from './learning-rules.ts';
import { keptEntries, reviewByRule } from './reflex/review-by-rule.ts';
import { type Keeps, narrowKind, type Review, type ReviewOrder, type ReviewOutcome } from './review/review.ts';
import { createReviewDesk } from './review/review-desk.ts';
import { createReviewRows, type ReviewRows } from './review/review-rows.ts';
import { type ReviewParts, type ReviewRun, runReview } from './review/run-review.ts';

/** A review begins this long after the answer. */
const REVIEW_DELAY_MS = 2_000;

export function createLearning(parts: LearningParts): Learning {
  const { stores, settings, ground, turn } = parts;
  const rows = createReviewRows(stores.database, ground.clock);
  const doors = doorsOf(parts);
  const mirror = async (notice: MemoryWriteNotice) => parts.memory.providers?.written(notice);
  const settling = { mirror, log: ground.log, skillWritten: async () => parts.skills.written?.() };
  const { database } = stores;
  const { background, clock, log } = ground;
  const owners = createOwnersDesk({
    doors: { ...doors, skills: parts.skills },
    ...{ database, clock, background, settling, reviews: rows },
  });
  const keep = keeper(parts, doors, { rows, alwaysCreate: owners.keepsNewSkills });
  const review = reviewParts(parts, keep);
  const isReflex = () => turn.model().tier === 'T0';
  const keepByRule = keeper(parts, doors, { rows, alwaysCreate: owners.keepsNewSkills, byRule: true });
  const byRule = (order: Pick<Review, 'sessionId' | 'kind' | 'reasons' | 'hint'>, signal: AbortSignal) =>
    reviewByRule({ store: stores.sessions, reviews: rows, doors, keep: keepByRule }, order, signal);
  const { intervals, budget: rules } = settings;
  const budget = createBudgetDesk({ store: stores.sessions, rows, rules, intervals, clock });
  const mayRun = async (sessionId: string) => isReflex() || budget.hasRoom(sessionId);
  const settled = async <Run extends ReviewRun>(run: Run): Promise<Run> => {
    await settleOutcomes(settling, run.outcomes);
    return run;
  };
  const keeps = settings.keeps ?? { memory: true, skills: true };
  const run = async (due: Review, signal: AbortSignal): Promise<ReviewOutcome> => {
    const kind = narrowKind(due.kind, isReflex() ? keeps : await shownKeeps(parts, due.sessionId, keeps));
    if (kind === undefined) return NOTHING_KEPT;
    const order = { ...due, kind, ...(due.reasons.includes('asked') ? {} : { left: budget.left }) };
    return settled(await (isReflex() ? byRule(order, signal) : runReview(review, order, signal)));
  };
  const delayMs = () => (isReflex() ? 0 : REVIEW_DELAY_MS);
  const desk = createReviewDesk({ rows, run, mayRun, background, clock, leasePath: parts.places.lease, log, delayMs });
  const order = async (asked: ReviewOrder) =>
    desk.order({ ...asked, attended: await isAttended(parts, asked.sessionId) });
  const loop = createLearningLoop({
    store: stores.sessions,
    reviewsOf: (sessionId) => rows.list({ sessionId }).filter(({ status }) => status !== 'failed'),
    order,
    intervals: () => kept(budget.intervals(), keeps),
    mayRun,
    isResting: budget.isResting,
    isReflex,
    keepsSkills: keeps.skills,
    statementsIn: (messages) => (keeps.memory ? ownerStatements(messages, keptEntries(doors.memory)).length : 0),
  });
  const flush = flushHook({
    review,
    marks: createFlushMarks(stores.database, ground.clock),
    byRule: (sessionId, signal) => byRule({ sessionId, kind: 'memory', reasons: ['memory-nudge'] }, signal),
    isReflex,
    done: async (ended) => void (await settled(ended)),
    notice: ground.notice,
  });
  return {
    ...owners,
    hooks: [...(settings.enabled ? [loop] : []), ...(keeps.memory ? [flush] : [])] satisfies readonly Hooks[],
    rules: learningRules,
    learnNow: (sessionId, hint, signal) =>
      learnNow({ store: stores.sessions, rows, desk }, { sessionId, hint }, signal),
    runDue: (signal) => (settings.enabled ? desk.runDue(signal) : Promise.resolve(0)),
    drain: (signal) => desk.drain(signal),
    report: budget.report,
    memoryWritten: mirror,
  };
}

const NOTHING_KEPT: ReviewOutcome = { kept: 0, refused: 0, pending: 0, tokens: 0, cost: 0, model: '' };

/** A fork may run only what its session shows: without the tool there is nothing to propose with. */
async function shownKeeps({ stores }: LearningParts, sessionId: string, keeps: Keeps): Promise<Keeps> {
  const prompt = await stores.sessions.loadPrompt(sessionId);
  const shows = (name: string) => prompt === undefined || prompt.tools.some((tool) => tool.name === name);
  return { memory: keeps.memory && shows('memory'), skills: keeps.skills && shows('skill_manage') };
}

function kept(intervals: NudgeIntervals, keeps: Keeps): NudgeIntervals {
  return { memory: keeps.memory ? intervals.memory : 0, skills: keeps.skills ? intervals.skills : 0 };
}

function doorsOf({ stores, memory, skills, places, turn, ground }: LearningParts): KeepDoors {
  return {
    judge: turn.judge,
    ...(ground.redact ? { redact: ground.redact } : {}),
    ledger: stores.ledger,
    messagesOf: (sessionId) => sessionMessages(stores.database, sessionId),
    memory: memory.files,
    skills,
    pending: createPendingFiles(places.pending),
  };
}

interface KeepRules {
  readonly rows: Pick<ReviewRows, 'wasAttended'>;
  readonly alwaysCreate: () => boolean;
  readonly byRule?: true;
}

/** A review that runs late, in another program, is of a session at which a person sat when it was ordered. */
function keeper(
  parts: LearningParts,
  doors: KeepDoors,
  { rows, alwaysCreate, byRule }: KeepRules,
): ReviewParts['keep'] {
  return async (draft, signal) => {
    const { sessionId } = draft;
    const attended = sessionId !== undefined && (rows.wasAttended(sessionId) || (await isAttended(parts, sessionId)));
    const setting = {
      attended,
      unattended: parts.settings.writeApproval,
      alwaysCreate: alwaysCreate(),
      ...(byRule ? { byRule } : {}),
    };
    return keepProposal(doors, draft, setting, signal);
  };
}

async function isAttended({ stores, settings }: LearningParts, sessionId: string): Promise<boolean> {
  const session = await stores.sessions.get(sessionId);
  return session !== undefined && settings.isAttended(session);
}

function reviewParts({ stores, turn, skills }: LearningParts, keep: ReviewParts['keep']): ReviewParts {
  return {
    forkTurn: turn.forkTurn,
    messagesOf: (sessionId): Promise<readonly StoredMessage[]> => stores.sessions.messages(sessionId),
    readingTools: skills.readingTools,
    citable: (sessionId) => sessionMessages(stores.database, sessionId),
    keep,
    window: () => turn.model().traits.contextWindow,
  };
}
