// Owns learning's front: the loop's hooks, the memory provider beside the files, the summaries of recall.
import { type Lazy, lazy } from '#base/lazy.ts';
import type { Hooks, SessionInfo } from '#core/agent/hooks.ts';
import type { OpenRoom, RoomGround } from '#core/agent/room.ts';
import type { SessionStore } from '#core/agent/session-store.ts';
import { startsTurn, toolCalls } from '#core/model/message.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { memorySchema } from '#mind/memory/room.ts';
import type { SummariseSession } from '#mind/sessions/session-search-tool.ts';
import { sessionMessages } from '#mind/sessions/told-messages.ts';
import { skillsSchema } from '#mind/skills/room.ts';
import type { LearningWish } from './create-learning.ts';
import type { Learning, LearningSection } from './learning.ts';
import { forgetReviews } from './learning-schema.ts';
import type { ProvidedMemory } from './memory-providers.ts';
import {
  countTurn,
  dueNudges,
  FRESH_COUNTERS,
  followsSkill,
  type NudgeCounters,
  ownerWords,
  splitTurns,
  workCalls,
} from './read-turns.ts';

export async function openRoom(ground: RoomGround, settings: LearningSection): Promise<OpenRoom> {
  const { section } = await ground.settings();
  const [memory, skills] = [section('memory', memorySchema), section('skills', skillsSchema)];
  const wish: LearningWish = {
    settings,
    keeps: { memory: memory.enabled, skills: skills.enabled },
    intervals: {
      memory: memory.enabled ? memory.nudge_interval : 0,
      skills: skills.enabled ? skills.creation_nudge_interval : 0,
    },
  };
  const [ledger, store] = await Promise.all([ground.door('proposals'), ground.door('sessions')]);
  const provider = await openProvider(ground);
  const learning = lazy(async () => (await import('./create-learning.ts')).createLearning(ground, wish, provider));
  const due = async () => (await learning()).runDue(ground.background.signal);
  if (settings.enabled && ground.stays) ground.later('reviews that are due', due);
  const mayHaveNews = () => learning.now() !== undefined || hasNews(ledger);
  const flush: Hooks = {
    name: 'flush',
    beforeCompress: async ({ sessionId }, _messages, signal) => (await learning()).flush(sessionId, signal),
  };
  const isReflex = () => ground.seat.model().tier === 'T0';
  return {
    doors: { learning: { load: learning, mayHaveNews }, recall: await summaries(ground) },
    tools: provider?.tools ?? [],
    hooks: [
      ...(provider ? [provider.hooks] : []),
      ...(settings.enabled ? [loopHooks({ wish, store, learning, isReflex })] : []),
      ...(memory.enabled ? [flush] : []),
    ],
    rules: async () => (await import('./teach-rules.ts')).learningRules,
    ...(provider && memory.enabled ? { prompt: () => ({ memory: provider.promptBlock() }) } : {}),
    forget: async (what) => forgetReviews(await ground.door('state'), what),
    // Nothing runs in what was not loaded.
    settle: async (signal) => learning.now()?.drain(signal),
    close: () => provider?.stop(),
  };
}

interface LoopParts {
  readonly wish: LearningWish;
  readonly store: SessionStore;
  readonly learning: Lazy<Learning>;
  /** No language model answers: rules do. */
  readonly isReflex: () => boolean;
}

/** Sessions of programs teach nothing about the owner. */
const DEAF: ReadonlySet<string> = new Set(['extension', 'golem', 'subagent', 'cron', 'mcp', 'review', 'tool']);

/** A session's start is none of its points: its counters are read when its first turn has ended. */
function loopHooks({ wish, store, learning, isReflex }: LoopParts): Hooks {
  const live = new Map<string, NudgeCounters>();
  return {
    name: 'learning',
    afterTurn: async (turn, { messages }) => {
      const { sessionId, source } = turn;
      if (DEAF.has(source)) return;
      const own = splitTurns(messages).at(-1) ?? [];
      const known = live.get(sessionId);
      const isResumed = known === undefined && messages.filter(startsTurn).length > 1;
      // A session that is first seen now holds this turn already.
      const counted = isResumed
        ? await (await learning()).countersOf(sessionId)
        : countTurn(known ?? FRESH_COUNTERS, own);
      const isDue = dueNudges(counted, wish.intervals).length > 0;
      live.set(sessionId, isDue ? await (await learning()).nudge(sessionId, counted) : counted);
      const hasWork = wish.keeps.skills && isReflex() && workCalls(own).length > 0 && !followsSkill(own);
      if (hasWork) await (await learning()).repeated(turn);
    },
    sessionEnd: async (session) => {
      live.delete(session.sessionId);
      if (DEAF.has(session.source)) return;
      if (learning.now() !== undefined || (await mayMatter(store, session, isReflex)))
        await (await learning()).sessionEnded(session.sessionId);
    },
  };
}

/** Without work there is no procedure; facts are looked for by rule alone. */
async function mayMatter(store: SessionStore, { sessionId }: SessionInfo, isReflex: () => boolean): Promise<boolean> {
  const messages = (await store.messages(sessionId)).map(({ message }) => message);
  const hasWork = messages.some((message) => toolCalls(message).length > 0);
  return (hasWork || isReflex()) && messages.some((message) => ownerWords(message) !== '');
}

/** What is told of, and what is asked about. */
function hasNews(ledger: ProposalLedger): boolean {
  return (['applied', 'pending'] as const).some((status) => ledger.list({ status, limit: 1 }).length > 0);
}

/** Undefined: the files alone. */
async function openProvider(ground: RoomGround): Promise<ProvidedMemory | undefined> {
  const { clock, notice } = ground;
  const { provider: name } = await ground.settings();
  if (name === '' || name === 'files') return undefined;
  const { chooseProvider, provideMemory } = await import('./memory-providers.ts');
  const { known, installed } = await ground.providers();
  const chosen = chooseProvider(known, name, installed);
  if (!chosen.ok) {
    notice(chosen.detail);
    return undefined;
  }
  const store = await ground.door('sessions');
  const messagesOf = async (sessionId: string) => (await store.messages(sessionId)).map((stored) => stored.message);
  return provideMemory(chosen.value, { clock, warn: notice, messagesOf });
}

async function summaries(ground: RoomGround): Promise<SummariseSession> {
  const [store, state] = await Promise.all([ground.door('sessions'), ground.door('state')]);
  const { clock, seat } = ground;
  return async (asked, signal) => {
    const { createSummariser } = await import('./summarise-session.ts');
    const messagesOf = (sessionId: string) => sessionMessages(state, sessionId);
    return createSummariser({ store, messagesOf, model: () => seat.small?.(), clock })(asked, signal);
  };
}
