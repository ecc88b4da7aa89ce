// Owns composing the judge of one app: the small tier asked by the one turn function, its verdicts in state.db. Knows no claim.
import type { Clock } from '#base/clock.ts';
import type { TurnRequest } from '#core/agent/extension-host.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Tier } from '#core/model/model-client.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import type { SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';

export interface JudgeGround {
  readonly store: SqliteSessionStore;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  readonly runTurn: (request: TurnRequest, signal: AbortSignal) => AsyncIterable<TurnEvent>;
  /** Tier of what would answer a small question now. */
  readonly answering: () => Tier;
}

/** Its modules are loaded with the first question. */
export function composeJudge({ store, clock, redact, runTurn, answering }: JudgeGround): Judge {
  const isThere = () => answering() !== 'T0';
  const load = async (): Promise<Judge> => {
    const { createJudge } = await import('#mind/evidence/judge/create-judge.ts');
    const { recordVerdicts } = await import('#mind/evidence/judge/verdict-rows.ts');
    const record = { database: store.database, clock, redact };
    return createJudge({
      ...{ clock, redact, runTurn, isThere },
      record: (...verdicts) => recordVerdicts(record, ...verdicts),
    });
  };
  return { isThere, judge: async (...asked) => (await load()).judge(...asked) };
}
