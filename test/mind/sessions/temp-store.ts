/** A SQLite store in a folder of its own, removed when the test ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';

export async function withFolder(body: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-sessions-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function withStore(
  body: (store: SqliteSessionStore, path: string) => Promise<void>,
  clock?: Clock,
): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, 'state.db');
    const store = createSqliteSessionStore({ path, ...(clock === undefined ? {} : { clock }) });
    try {
      await body(store, path);
    } finally {
      await store.close();
    }
  });
}
