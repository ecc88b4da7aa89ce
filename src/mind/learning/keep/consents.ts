// Owns what the owner agreed to once and for all: `always` to new skills of reviews. Rows of state.db. Knows no proposal.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';

export type Consent = 'create-skills';

export interface Consents {
  has(consent: Consent): boolean;
  give(consent: Consent): Promise<void>;
  take(consent: Consent): Promise<void>;
}

export function createConsents(database: Database, clock: Clock): Consents {
  return {
    has: (consent) => database.get('SELECT 1 FROM consents WHERE name = ?', consent) !== undefined,
    give: async (consent) => {
      await database.transaction(() =>
        database.run('INSERT OR IGNORE INTO consents(name, at) VALUES(?, ?)', consent, clock.now()),
      );
    },
    take: async (consent) => {
      await database.transaction(() => database.run('DELETE FROM consents WHERE name = ?', consent));
    },
  };
}
