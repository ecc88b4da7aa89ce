// Owns composing what the owner decides: drafts, undo, news, and the standing yes to new skills. Knows no review and no surface.
// Invariant: a standing yes is taken back as easily as it was given.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';
import type { Learning } from '../learning.ts';
import type { Background } from '../review/review-desk.ts';
import type { ReviewRows } from '../review/review-rows.ts';
import { createAnnouncements } from './announcements.ts';
import { createConsents } from './consents.ts';
import type { KeepDoors } from './keep-proposal.ts';
import { createPendingDesk } from './pending-desk.ts';
import { type SettleParts, spread } from './settle-outcomes.ts';
import { takeBackLast, undoableNow } from './take-back.ts';

export type OwnersDesk = Pick<
  Learning,
  'offers' | 'accept' | 'reject' | 'undoable' | 'undoLast' | 'announcements' | 'keepsNewSkills' | 'keepNewSkills'
>;

export interface OwnersDeskParts {
  readonly doors: KeepDoors & { readonly skills: { readonly door: SkillDoor } };
  readonly database: Database;
  readonly clock: Clock;
  readonly background: Background;
  readonly settling: SettleParts;
  readonly reviews: Pick<ReviewRows, 'draftDecided'>;
}

export function createOwnersDesk(parts: OwnersDeskParts): OwnersDesk {
  const { doors, database, clock, settling, background, reviews } = parts;
  const announcements = createAnnouncements({ ledger: doors.ledger, database, clock });
  const consents = createConsents(database, clock);
  const takeBack = { doors, door: doors.skills.door, announcements, skillWritten: settling.skillWritten };
  return {
    ...createPendingDesk({
      doors,
      consents,
      announcements,
      accepted: (proposal) => background.hold('spread a kept change', spread(settling, proposal)),
      settled: reviews.draftDecided,
    }),
    undoable: (sessionId) => undoableNow(takeBack, sessionId),
    undoLast: (sessionId) => takeBackLast(takeBack, sessionId),
    announcements: (sessionId) => announcements.take(sessionId),
    keepsNewSkills: () => consents.has('create-skills'),
    keepNewSkills: (isKept) => (isKept ? consents.give('create-skills') : consents.take('create-skills')),
  };
}
