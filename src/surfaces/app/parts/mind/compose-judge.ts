// Owns composing the judge of one app: the small tier asked by the one turn function, its verdicts in state.db. Knows no claim.
import type { Clock } from '#base/clock.ts';
import type { TurnRequest } from '#core/agent/extension-host.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Tier } from '#core/model/model-client.ts';
import { createJudge } from '#mind/evidence/judge/create-judge.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import { recordVerdicts } from '#mind/evidence/judge/verdict-rows.ts';
import type { SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';

export interface JudgeGround {
  readonly store: SqliteSessionStore;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  readonly runTurn: (request: TurnRequest, signal: AbortSignal) => AsyncIterable<TurnEvent>;
  /** Tier of what would answer a small question now. */
  readonly answering: () => Tier;
}

export function composeJudge({ store, clock, redact, runTurn, answering }: JudgeGround): Judge {
  const record = { database: store.database, clock, redact };
  return createJudge({
    ...{ clock, redact, runTurn },
    isThere: () => answering() !== 'T0',
    record: (...verdicts) => recordVerdicts(record, ...verdicts),
  });
}
