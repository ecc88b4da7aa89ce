// Owns composing what persists: sessions and memory of one home. Knows no model.
// Invariant: what the opening of a file has to tell (quarantine, migration, newer version) becomes a notice.
import type { Clock } from '#base/clock.ts';
import { renderMemoryBlock } from '#mind/memory/memory-block.ts';
import { createMemoryFiles, type MemoryFiles } from '#mind/memory/memory-files.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { type Home, makeHome } from '../home/home.ts';

export interface ComposedMind {
  readonly store: SqliteSessionStore;
  readonly memory: MemoryFiles;
  /** Both files as they would stand in the prompt of a session that starts now. */
  readonly snapshot: () => string;
}

export function composeMind(home: Home, clock: Clock, notice: (text: string) => void): ComposedMind {
  makeHome(home);
  const store = createSqliteSessionStore({ path: home.stateDatabase, clock });
  for (const { message } of store.notices) notice(message);
  const memory = createMemoryFiles({ root: home.memories, clock });
  const told = new Set<string>();
  const snapshot = (): string => {
    const { text, problems } = renderMemoryBlock(memory);
    for (const problem of problems.filter((candidate) => !told.has(candidate))) {
      told.add(problem);
      notice(problem);
    }
    return text;
  };
  return { store, memory, snapshot };
}
