// Owns what is said to the owner about writes of reviews and flushes: once each, in the order in which they happened; and which write an
// `/undo` means. In memory: after a restart the ledger knows the writes. Knows no door.
import type { Proposal } from '#mind/evidence/proposal.ts';
import { doneLine, heldLine } from './describe-change.ts';

export interface Announcements {
  add(proposal: Proposal): void;
  /** A change that waits without being offered: the owner should know of it. */
  waits(proposal: Proposal): void;
  /** Lines not said yet; those of other sessions are kept when one is named. */
  take(sessionId?: string): readonly string[];
  /** Ids of announced writes that stand, newest last. */
  undoable(sessionId?: string): readonly string[];
  undone(id: string): void;
}

const KEPT = 100;

export function createAnnouncements(): Announcements {
  let waiting: readonly Proposal[] = [];
  let held: readonly Proposal[] = [];
  let said: readonly Proposal[] = [];
  const ofSession = (sessionId: string | undefined) => (one: Proposal) =>
    sessionId === undefined || one.sessionId === undefined || one.sessionId === sessionId;
  return {
    add(proposal) {
      waiting = [...waiting, proposal].slice(-KEPT);
    },
    waits(proposal) {
      held = [...held, proposal].slice(-KEPT);
    },
    take(sessionId) {
      const [taken, told] = [waiting, held].map((list) => list.filter(ofSession(sessionId))) as [
        Proposal[],
        Proposal[],
      ];
      waiting = waiting.filter((one) => !taken.includes(one));
      held = held.filter((one) => !told.includes(one));
      said = [...said, ...taken].slice(-KEPT);
      return [...taken.map((one) => `${doneLine(one)} · /undo takes it back`), ...told.map(heldLine)];
    },
    undoable: (sessionId) => [...said, ...waiting].filter(ofSession(sessionId)).map(({ id }) => id),
    undone(id) {
      said = said.filter((one) => one.id !== id);
      waiting = waiting.filter((one) => one.id !== id);
    },
  };
}
