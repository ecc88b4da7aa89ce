// Owns what skills of one home are composed of. Shapes only.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { Embedder } from '#core/model/embedder.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import type { Home } from '../../home/home.ts';

export interface SkillGround {
  readonly home: Home;
  readonly clock: Clock;
  /** state.db. */
  readonly database: Database;
  readonly ledger: ProposalLedger;
  /** Absolute folders that are read only. */
  readonly external: readonly string[];
  readonly embedder?: Embedder;
  readonly notice: (text: string) => void;
}
