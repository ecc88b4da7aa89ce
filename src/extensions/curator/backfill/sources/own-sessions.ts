// Owns the sessions of our own state.db as a source of evidence. Knows no table. Invariant: reads only.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { ok } from '#base/result.ts';
import {
  countSessionsBefore,
  isOpenElsewhere,
  type ToldSession,
  toldMessages,
  toldSessions,
} from '#mind/sessions/transfer/told-sessions.ts';
import type { Candidate, SessionSource } from '../stored-session.ts';

/** `since`: epoch ms. */
export function ownSessions(state: Database, { since, clock }: { since: number; clock: Clock }): SessionSource {
  return {
    kind: 'talaria',
    path: state.path,
    candidates: toldSessions(state, since).map((session) => candidate(state, session, clock)),
    old: countSessionsBefore(state, since),
    close: () => undefined,
  };
}

function candidate(state: Database, session: ToldSession, clock: Clock): Candidate {
  const { id, source, startedAt, lastActiveAt, observed } = session;
  return {
    id,
    at: lastActiveAt,
    read: () => {
      const open = isOpenElsewhere(state, session, clock);
      const messages = toldMessages(state, session);
      return ok({ id, platform: source, startedAt, lastActiveAt, observed, open, messages });
    },
  };
}
