// Owns the door of a dry run: the real one, with its guard, over a folder and a database that are thrown away. Knows no skill.
// Invariant: nothing of the home changes but its cache, and that folder is gone when the rehearsal ends.
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { makeCopyFolder, removeCopies } from '#mind/sessions/transfer/hermes/copy-database.ts';
import type { SkillReader } from '#mind/skills/skill.ts';
import { skillSchema } from '#mind/skills/skill-schema.ts';
import { type Home, homeAt } from '../../home/home.ts';
import { composeSkillDoor } from '../../parts/mind/skill-writing.ts';
import type { Rehearsal } from './import-skills.ts';

export interface RehearsalGround {
  readonly home: Home;
  readonly clock: Clock;
  /** What is here already, so that a name that is taken is judged as taken. */
  readonly reader: Pick<SkillReader, 'get'>;
}

export function openRehearsal({ home, clock, reader }: RehearsalGround): Rehearsal {
  const folder = makeCopyFolder(home.cache);
  const stage = homeAt(folder);
  const rooms = [evidenceSchema, skillSchema];
  const { database } = openDatabase(join(folder, 'rehearsal.db'), { rooms, clock });
  const ledger = createProposalLedger({ database, clock });
  const ground = { home: stage, clock, database, ledger, external: [], notice: () => undefined };
  return {
    ledger,
    door: composeSkillDoor(ground, async (name) => reader.get(name)),
    end: () => {
      database.close();
      removeCopies(folder);
    },
  };
}
