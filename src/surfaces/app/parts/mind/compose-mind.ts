// Owns composing what persists: sessions, evidence, memory and skills of one home. Knows no model.
// Invariants: what the opening of a file has to tell (quarantine, migration, newer version) becomes a notice; one ledger of
// proposals stands behind every door.
import type { Clock } from '#base/clock.ts';
import type { RoomSchema } from '#base/database/migrate.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { Embedder } from '#core/model/embedder.ts';
import { realPath } from '#core/tools/file/file-access.ts';
import { foregroundCitations } from '#mind/evidence/foreground-citations.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';
import { learningSchema } from '#mind/learning/learning-schema.ts';
import { reconcileMemory } from '#mind/memory/journal/reconcile-memory.ts';
import { renderMemoryBlock } from '#mind/memory/memory-block.ts';
import { createMemoryFiles, type MemoryFiles } from '#mind/memory/memory-files.ts';
import { FileCheckpoints } from '#mind/sessions/file-checkpoints.ts';
import { checkpointSchema } from '#mind/sessions/files/file-change-rows.ts';
import { sealKeyPath } from '#mind/sessions/origin-seal.ts';
import {
  createSqliteSessionStore,
  type SqliteSessionStore,
  type SqliteSessionStoreOptions,
} from '#mind/sessions/sqlite-session-store.ts';
import { mayHaveSkillLeftovers } from '#mind/skills/skill-leftovers.ts';
import { skillSchema } from '#mind/skills/skill-schema.ts';
import type { LoadedConfig } from '../../home/config.ts';
import { dailyCopies, type Home, isReadOnlyHome, makeHome } from '../../home/home.ts';
import { type ComposedSkills, composeSkills } from './compose-skills.ts';
import { externalSkillFolders } from './external-skills.ts';

export interface ComposedMind {
  readonly store: SqliteSessionStore;
  readonly ledger: ProposalLedger;
  readonly memory: MemoryFiles;
  readonly skills: ComposedSkills;
  /** Keeps what stood in files before calls changed them. */
  readonly files: FileCheckpoints;
  /** What a foreground write of a session rests on. */
  readonly citationsOf: (sessionId: string) => readonly Citation[];
  /** Both memory files as they would stand in the prompt of a session that starts now. */
  readonly snapshot: () => string;
}

export interface MindGround {
  readonly home: Home;
  /** The person's folder: what `~` stands for. */
  readonly userHome: string;
  readonly clock: Clock;
  readonly loaded: LoadedConfig;
  readonly notice: (text: string) => void;
  readonly redact: (text: string) => string;
  readonly embedder?: Embedder;
}

export function composeMind({ home, userHome, clock, loaded, notice, redact, embedder }: MindGround): ComposedMind {
  makeHome(home);
  const store = createSqliteSessionStore({ path: home.stateDatabase, clock, rooms: STATE_ROOMS, ...openingOf(home) });
  for (const { message } of store.notices) notice(message);
  const { database } = store;
  const ledger = createProposalLedger({ database, clock, redact: (text) => redactSecrets(redact(text)) });
  const citationsOf = (sessionId: string) => foregroundCitations(database, sessionId);
  const memory = createMemoryFiles({ root: home.memories, clock, journal: { ledger, citationsOf } });
  const external = externalSkillFolders(loaded, { home, userHome });
  const skills = composeSkills({ home, clock, database, ledger, external, notice, ...(embedder ? { embedder } : {}) });
  const files = new FileCheckpoints({ database, folder: home.checkpoints, clock, userHome: realPath(userHome) });
  return { store, ledger, memory, skills, files, citationsOf, snapshot: snapshotOf(memory, notice) };
}

function openingOf(home: Home): Pick<SqliteSessionStoreOptions, 'readOnly' | 'flags' | 'traces'> {
  return isReadOnlyHome(home) ? { readOnly: true } : { flags: home.openFlags, traces: () => stateTraces(home) };
}

/** What tells of a state.db that was there: its key, and copies of it. */
export function stateTraces(home: Home): readonly string[] {
  return [sealKeyPath(home.stateDatabase), ...dailyCopies(home)];
}

/** The rooms above the sessions that keep tables in state.db. */
export const STATE_ROOMS: readonly RoomSchema[] = [evidenceSchema, skillSchema, learningSchema, checkpointSchema];

/** Mends what a killed process left half written; once, before anything is read. */
export async function reconcileMind(
  { store, ledger, memory, skills }: ComposedMind,
  { home, clock }: Pick<MindGround, 'home' | 'clock'>,
): Promise<void> {
  if (store.database.readOnly) return;
  await reconcileMemory(memory, ledger, clock);
  const places = { root: home.skills, backups: home.skillBackups };
  if (mayHaveSkillLeftovers(store.database, places)) await skills.door.reconcile();
}

function snapshotOf(memory: MemoryFiles, notice: (text: string) => void): () => string {
  const told = new Set<string>();
  return () => {
    const { text, problems } = renderMemoryBlock(memory);
    for (const problem of problems.filter((candidate) => !told.has(candidate))) {
      told.add(problem);
      notice(problem);
    }
    return text;
  };
}
