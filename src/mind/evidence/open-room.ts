// Owns the evidence's front: the ledger of proposals, the events of tools, the judge, and the gate of writes in mid-conversation.
// Invariant: one ledger of proposals stands behind every door; neither events nor judge are loaded before they are asked for.
import type { Database } from '#base/database/connection.ts';
import { lazy } from '#base/lazy.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { OpenRoom, RoomGround } from '#core/agent/room.ts';
import { sessionMessages } from '#mind/sessions/told-messages.ts';
import { foregroundCitations } from './citations.ts';
import type { ForegroundGate } from './gate/foreground-gate.ts';
import type { Judge } from './judge.ts';
import { createEvidenceLedger } from './ledger/evidence-ledger.ts';
import type { ProposalLedger } from './proposal.ts';
import { createProposalLedger } from './proposal-ledger.ts';

export async function openRoom(ground: RoomGround): Promise<OpenRoom> {
  const { clock, places, seat } = ground;
  const redact = (text: string) => redactSecrets(ground.redact(text));
  const state = await ground.door('state');
  const proposals = createProposalLedger({ database: state, clock, redact });
  const notice = ({ message }: { readonly message: string }) => ground.notice(message);
  const events = createEvidenceLedger({ path: places.evidenceDatabase, clock, redact, notice });
  const gate = createForegroundGate({ proposals, state, pending: places.pending, isAsked: seat.isAsked });
  const citationsOf = (sessionId: string) => foregroundCitations(state, sessionId);
  const doors = {
    proposals,
    evidence: () => events.database,
    judge: judgeOf(ground, state, redact),
    gate,
    citationsOf,
  };
  const ledgers = { state, events: () => events.database, clock, places };
  return {
    doors,
    hooks: [events.hooks],
    forget: async (what) => (await import('./forget.ts')).forgetEvidence(ledgers, what),
    close: () => events.close(),
  };
}

/** The small tier asked by the one turn function, its verdicts in state.db. */
function judgeOf(ground: RoomGround, database: Database, redact: (text: string) => string): Judge {
  const { clock, seat } = ground;
  const isThere = () => seat.forTier('T1').tier !== 'T0';
  const load = lazy(async (): Promise<Judge> => {
    const [{ createJudge }, { recordVerdicts }] = await Promise.all([
      import('./create-judge.ts'),
      import('./proposal-schema.ts'),
    ]);
    const { runTurn } = await ground.open();
    const record = { database, clock, redact };
    return createJudge({
      ...{ clock, redact, runTurn, isThere },
      record: (...verdicts) => recordVerdicts(record, ...verdicts),
    });
  });
  return { isThere, judge: async (...asked) => (await load()).judge(...asked) };
}

export interface ForegroundGround {
  readonly proposals: ProposalLedger;
  readonly state: Database;
  /** Folder of what waits. */
  readonly pending: string;
  /** Does a person answer in this session, and is he asked? */
  readonly isAsked: (sessionId: string) => boolean;
}

export function createForegroundGate({ proposals, state, pending, isAsked }: ForegroundGround): ForegroundGate {
  return {
    say: (sessionId) => (isAsked(sessionId) ? 'ask' : 'draft'),
    messagesOf: (sessionId) => sessionMessages(state, sessionId),
    draft: async (draft) => (await import('./gate/pending-files.ts')).keepDraft(proposals, pending, draft),
  };
}
