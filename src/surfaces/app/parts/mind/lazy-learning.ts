// Owns the learning loop as the rest of the app holds it before it is needed: no turn waits for its modules before the model is asked.
// Knows no review. Invariants: the loop is made once; its counters are rebuilt from what is stored, so that it may begin behind a turn.
import type { Hooks } from '#core/agent/hooks.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import type { Learning } from '#mind/learning/learning.ts';

export interface LazyLearning {
  readonly hooks: readonly Hooks[];
  readonly load: () => Promise<Learning>;
  /** False: nothing was kept and nothing waits, so that nobody need be told. */
  readonly mayHaveNews: () => boolean;
  /** Waits for what runs, until the signal aborts; nothing runs in what was not loaded. */
  drain(signal: AbortSignal): Promise<void>;
}

export interface LearningWish {
  /** Counts turns and orders reviews. */
  readonly reviews: boolean;
  /** Keeps facts before a compression. */
  readonly flush: boolean;
}

/** What is told of, and what is asked about. */
const NEWS = ['applied', 'pending'] as const;

export function createLazyLearning(
  make: () => Promise<Learning>,
  { wish, ledger }: { readonly wish: LearningWish; readonly ledger: ProposalLedger },
): LazyLearning {
  let loading: Promise<Learning> | undefined;
  const load = (): Promise<Learning> => {
    loading ??= make();
    return loading;
  };
  return {
    hooks: hooksOf(async () => (await load()).hooks, wish),
    load,
    mayHaveNews: () => loading !== undefined || NEWS.some((status) => ledger.list({ status, limit: 1 }).length > 0),
    drain: async (signal) => (await loading?.catch(() => undefined))?.drain(signal),
  };
}

/** The points that learning hangs on. A session's start is none: its counters are read when its first turn has ended. */
function hooksOf(load: () => Promise<readonly Hooks[]>, wish: LearningWish): readonly Hooks[] {
  const loop: Hooks = {
    name: 'learning',
    afterTurn: async (turn, ended) => {
      for (const hook of await load()) await hook.afterTurn?.(turn, ended);
    },
    sessionEnd: async (session) => {
      for (const hook of await load()) await hook.sessionEnd?.(session);
    },
  };
  const flush: Hooks = {
    name: 'flush',
    beforeCompress: async (session, messages, signal) => {
      for (const hook of await load()) await hook.beforeCompress?.(session, messages, signal);
    },
  };
  return [...(wish.reviews ? [loop] : []), ...(wish.flush ? [flush] : [])];
}
