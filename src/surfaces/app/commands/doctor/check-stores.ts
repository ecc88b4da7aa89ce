// Owns the checks of what persists: state.db, its search index, the memory files. Opens everything for reading only.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorText, TalariaError } from '#base/errors.ts';
import { createMemoryFiles, MEMORY_TARGETS } from '#mind/memory/memory-files.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { Home } from '../../home/home.ts';
import { fault, good, type HealthLine, warning } from './health-check.ts';

/** Looks before it opens for writing: opening a damaged file for writing would set it aside. */
export async function checkDatabase(home: Home, repair: boolean): Promise<readonly HealthLine[]> {
  if (!existsSync(home.stateDatabase)) return [good('database', 'no session is stored yet')];
  try {
    const damage = await findDamage(home.stateDatabase);
    if (damage) {
      const fix = 'Run `talaria backup` now; the next start sets the file aside, keeps it, and begins a new one.';
      return [fault('database', `state.db is damaged: ${damage}`, fix)];
    }
    return [good('database', `${home.stateDatabase}, whole`), ...(await checkSearchIndex(home.stateDatabase, repair))];
  } catch (error) {
    const fix = (error instanceof TalariaError && error.fix) || 'Restore a backup with `talaria restore FILE`.';
    return [fault('database', errorText(error), fix)];
  }
}

/** Damaged databases that an earlier start kept: what they hold is missing from every list until it is brought back. */
export function checkSetAside(home: Home): readonly HealthLine[] {
  if (!statSync(home.root, { throwIfNoEntry: false })?.isDirectory()) return [];
  const start = `${basename(home.stateDatabase)}.corrupt-`;
  const kept = readdirSync(home.root).filter((name) => name.startsWith(start) && !/-(?:wal|shm)$/.test(name));
  return kept.sort().map((name) => {
    const file = join(home.root, name);
    const fix = `Bring a backup back with \`talaria restore FILE\`, or save what can be read: sqlite3 ${JSON.stringify(file)} .recover. Move the file out of the home when it is no longer needed.`;
    return warning('database', `a damaged database was set aside as ${file}; its sessions are not shown`, fix);
  });
}

async function findDamage(path: string): Promise<string | undefined> {
  const store = createSqliteSessionStore({ path, readOnly: true });
  try {
    return store.database.findDamage();
  } finally {
    await store.close();
  }
}

async function checkSearchIndex(path: string, repair: boolean): Promise<readonly HealthLine[]> {
  const store = createSqliteSessionStore({ path });
  try {
    if (store.database.readOnly)
      return store.notices.map(({ message }) => warning('database', message, 'Update Talaria.'));
    const { agrees, differences } = await store.checkIndex();
    if (agrees) return [good('search index', 'agrees with the messages')];
    if (!repair) return [fault('search index', differences.join('; '), 'Run `talaria doctor --repair`.')];
    await store.repairIndex();
    return [good('search index', 'differed from the messages and was built anew')];
  } finally {
    await store.close();
  }
}

export function checkMemory(home: Home): readonly HealthLine[] {
  const files = createMemoryFiles({ root: home.memories });
  return MEMORY_TARGETS.map((target) => {
    const state = files.read(target);
    const name = target === 'user' ? 'USER.md' : 'MEMORY.md';
    return state.ok ? good(name, state.value.usage) : fault(name, state.detail, `Look at ${files.path(target)}.`);
  });
}
