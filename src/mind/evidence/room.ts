// Owns the evidence's front: the ledger of proposals, the events of tools, the judge, and the gate of writes in mid-conversation.
import type { Database } from '#base/database/connection.ts';
import type { Room } from '#core/agent/room.ts';
import type { ForegroundGate } from './gate/foreground-gate.ts';
import type { Judge } from './judge.ts';
import type { ProposalLedger } from './proposal.ts';
import { evidenceSchema } from './proposal-schema.ts';
import type { Citation } from './trace-guard/claim.ts';

declare module '#core/agent/room.ts' {
  interface Doors {
    /** Everything that anybody wanted to keep, and what came of it. */
    readonly proposals: ProposalLedger;
    /** evidence.sqlite; opened when first asked for. */
    readonly evidence: () => Database;
    /** Asks the small tier whether words carry a claim. */
    readonly judge: Judge;
    readonly gate: ForegroundGate;
    /** What a foreground write of a session rests on. */
    readonly citationsOf: (sessionId: string) => readonly Citation[];
  }
}

export const room: Room = {
  name: 'evidence',
  lends: ['proposals', 'evidence', 'judge', 'gate', 'citationsOf'],
  tables: evidenceSchema,
  open: async (ground) => (await import('./open-room.ts')).openRoom(ground),
};
