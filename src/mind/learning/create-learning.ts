// Owns composing the learning loop out of its rooms: counters, reviews, flush, what waits, reflex rules (seed 001 ch 11 to 13).
// Knows no surface and no provider. Invariant: one gate and one way to a file for everything that is kept here.
import { TalariaError } from '#base/errors.ts';
import { ok, refuse } from '#base/result.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { MemoryWriteNotice } from '#mind/memory/memory-provider.ts';
import { sessionMessages } from '#mind/sessions/find-message.ts';
import { budgetState, intervalFactor, stretchIntervals } from './budget/learning-budget.ts';
import { learningReport, REVIEWS_READ } from './budget/learning-report.ts';
import { spentTokens } from './budget/spent-tokens.ts';
import type { NudgeIntervals } from './counters/nudge-counters.ts';
import { flushHook } from './flush/flush-hook.ts';
import { createAnnouncements } from './keep/announcements.ts';
import { createConsents } from './keep/consents.ts';
import { type KeepDoors, keepProposal } from './keep/keep-proposal.ts';
import { createPendingDesk } from './keep/pending-desk.ts';
import { createPendingFiles } from './keep/pending-files.ts';
import { settleOutcomes, spread } from './keep/settle-outcomes.ts';
import type { Learning } from './learning.ts';
import { createLearningLoop } from './learning-loop.ts';
import type { LearningParts } from './learning-parts.ts';
import { learningRules } from './learning-rules.ts';
import { ownerStatements } from './reflex/owner-statements.ts';
import { keptEntries, reviewByRule } from './reflex/review-by-rule.ts';
import { type Keeps, narrowKind, type Review, type ReviewOutcome } from './review/review.ts';
import { createReviewDesk } from './review/review-desk.ts';
import { createReviewRows, type ReviewRows } from './review/review-rows.ts';
import { type ReviewParts, type ReviewRun, runReview } from './review/run-review.ts';

/** A review begins this long after the answer. */
const REVIEW_DELAY_MS = 2_000;

export function createLearning(parts: LearningParts): Learning {
  const { stores, settings, ground, turn } = parts;
  const rows = createReviewRows(stores.database, ground.clock);
  const announcements = createAnnouncements({ ledger: stores.ledger, database: stores.database, clock: ground.clock });
  const consents = createConsents(stores.database, ground.clock);
  const doors = doorsOf(parts);
  const mirror = async (notice: MemoryWriteNotice) => parts.memory.providers?.written(notice);
  const settling = { mirror, log: ground.log, skillWritten: async () => parts.skills.written?.() };
  const keep = keeper(parts, doors, () => consents.has('create-skills'));
  const review = reviewParts(parts, keep);
  const isReflex = () => turn.model().tier === 'T0';
  const byRule = (order: Pick<Review, 'sessionId' | 'kind' | 'reasons' | 'hint'>, signal: AbortSignal) =>
    reviewByRule({ store: stores.sessions, reviews: rows, doors, keep }, order, signal);
  const mayRun = async () => isReflex() || (await budgetLeft(parts)) > 0;
  const settled = async <Run extends ReviewRun>(run: Run): Promise<Run> => {
    await settleOutcomes(settling, run.outcomes);
    return run;
  };
  const keeps = settings.keeps ?? { memory: true, skills: true };
  const run = async (due: Review, signal: AbortSignal): Promise<ReviewOutcome> => {
    const kind = narrowKind(due.kind, isReflex() ? keeps : await shownKeeps(parts, due.sessionId, keeps));
    if (kind === undefined) return NOTHING_KEPT;
    const order = { ...due, kind };
    return settled(await (isReflex() ? byRule(order, signal) : runReview(review, order, signal)));
  };
  const { background, clock, log } = ground;
  const delayMs = () => (isReflex() ? 0 : REVIEW_DELAY_MS);
  const desk = createReviewDesk({ rows, run, mayRun, background, clock, leasePath: parts.places.lease, log, delayMs });
  const waiting = createPendingDesk({
    doors: { ...doors, skills: parts.skills },
    consents,
    announcements,
    accepted: (proposal) => background.hold('spread a kept change', spread(settling, proposal)),
  });
  const loop = createLearningLoop({
    store: stores.sessions,
    reviewsOf: (sessionId) => rows.list({ sessionId }).filter(({ status }) => status !== 'failed'),
    order: (order) => desk.order(order),
    intervals: () => stretchIntervals(kept(settings.intervals, keeps), intervalFactor(rows.keptCounts(REVIEWS_READ))),
    mayRun,
    isReflex,
    keepsSkills: keeps.skills,
    statementsIn: (messages) => (keeps.memory ? ownerStatements(messages, keptEntries(doors.memory)).length : 0),
  });
  const flush = flushHook({
    review,
    byRule: (sessionId, signal) => byRule({ sessionId, kind: 'memory', reasons: ['memory-nudge'] }, signal),
    isReflex,
    done: async (ended) => void (await settled(ended)),
    notice: ground.notice,
  });
  return {
    ...waiting,
    hooks: [...(settings.enabled ? [loop] : []), ...(keeps.memory ? [flush] : [])] satisfies readonly Hooks[],
    rules: learningRules,
    announcements: (sessionId) => announcements.take(sessionId),
    learnNow: (sessionId, hint, signal) => learnNow({ parts, rows, desk }, { sessionId, hint }, signal),
    runDue: (signal) => (settings.enabled ? desk.runDue(signal) : Promise.resolve(0)),
    drain: (signal) => desk.drain(signal),
    report: () => report(parts, rows),
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

function doorsOf({ stores, memory, skills, places }: LearningParts): KeepDoors {
  return {
    ledger: stores.ledger,
    messagesOf: (sessionId) => sessionMessages(stores.database, sessionId),
    memory: memory.files,
    skills,
    pending: createPendingFiles(places.pending),
  };
}

function keeper(
  { stores, settings }: LearningParts,
  doors: KeepDoors,
  alwaysCreate: () => boolean,
): ReviewParts['keep'] {
  return async (draft, signal) => {
    const session = draft.sessionId === undefined ? undefined : await stores.sessions.get(draft.sessionId);
    const attended = session !== undefined && settings.isAttended(session.source);
    const setting = { attended, unattended: settings.writeApproval, alwaysCreate: alwaysCreate() };
    return keepProposal(doors, draft, setting, signal);
  };
}

function reviewParts({ stores, turn, skills }: LearningParts, keep: ReviewParts['keep']): ReviewParts {
  return {
    forkTurn: turn.forkTurn,
    messagesOf: (sessionId): Promise<readonly StoredMessage[]> => stores.sessions.messages(sessionId),
    readingTools: skills.readingTools,
    keep,
    window: () => turn.model().traits.contextWindow,
  };
}

async function budgetLeft({ stores, settings, ground }: LearningParts): Promise<number> {
  return budgetState(await spentTokens(stores.sessions, ground.clock.now()), settings.budget).left;
}

function report({ stores, settings, ground }: LearningParts, rows: ReviewRows): ReturnType<Learning['report']> {
  return learningReport({
    store: stores.sessions,
    kept: rows.keptCounts(REVIEWS_READ),
    due: rows.due().length,
    rules: settings.budget,
    intervals: settings.intervals,
    now: ground.clock.now(),
  });
}

interface LearnDesk {
  readonly parts: LearningParts;
  readonly rows: ReviewRows;
  readonly desk: ReturnType<typeof createReviewDesk>;
}

async function learnNow(
  { parts, rows, desk }: LearnDesk,
  { sessionId, hint }: { readonly sessionId: string; readonly hint: string },
  signal: AbortSignal,
): ReturnType<Learning['learnNow']> {
  const session = await parts.stores.sessions.get(sessionId);
  if (!session) return refuse('no-such-session', `There is no session ${sessionId}.`);
  const through = (await parts.stores.sessions.messages(sessionId)).at(-1)?.id;
  if (through === undefined) return refuse('nothing-to-review', 'Nothing was said in this conversation yet.');
  const wish = hint.trim();
  try {
    const order = { sessionId, reasons: ['asked' as const], through, ...(wish === '' ? {} : { hint: wish }) };
    const { review } = await desk.runNow(order, signal);
    const { kind, kept, pending, refused } = rows.get(review.id) ?? review;
    return ok({ kind, kept, pending, refused, line: learnedLine({ kept, pending, refused }) });
  } catch (error) {
    if (!(error instanceof TalariaError) || signal.aborted) throw error;
    return refuse('failed', error.message);
  }
}

function learnedLine({
  kept,
  pending,
  refused,
}: {
  readonly kept: number;
  readonly pending: number;
  readonly refused: number;
}): string {
  if (kept + pending + refused === 0) return 'Nothing was found that is worth keeping.';
  const parts = [
    kept > 0 ? `${kept} kept` : '',
    pending > 0 ? `${pending} ${pending === 1 ? 'waits' : 'wait'} for your yes` : '',
    refused > 0 ? `${refused} refused: not supported by what was said` : '',
  ];
  return `${parts.filter(Boolean).join(', ')}.`;
}
