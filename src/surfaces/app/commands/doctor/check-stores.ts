// Owns the checks of what persists: state.db, its search index, the memory files. Opens everything for reading only.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorText, TalariaError } from '#base/errors.ts';
import { plural } from '#base/text.ts';
import { createMemoryFiles, MEMORY_TARGETS } from '#mind/memory/memory-files.ts';
import { brokenSeals, sealKeyPath } from '#mind/sessions/origin-seal.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { stateDamage } from '../../backup/repair-state.ts';
import { type Home, isReadOnlyHome } from '../../home/home.ts';
import { fault, good, type HealthLine, warning } from './health-check.ts';

/** Looks before it opens for writing. */
export async function checkDatabase(home: Home, repair: boolean): Promise<readonly HealthLine[]> {
  try {
    const damage = stateDamage(home);
    if (damage !== undefined) {
      const fix = '`talaria repair` says what can be done: save what can be read, bring a copy back, or start empty.';
      return [fault('database', `state.db is damaged: ${damage}`, fix)];
    }
    if (!existsSync(home.stateDatabase)) return [good('database', 'no session is stored yet')];
    return [good('database', `${home.stateDatabase}, whole`), ...(await indexLines(home, repair))];
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
    const fix = 'Move the file out of the home when it is no longer needed.';
    return warning(
      'database',
      `a damaged database was set aside as ${file}; what was not saved of it is not shown`,
      fix,
    );
  });
}

/** Looking at the index writes into it. */
async function indexLines(home: Home, repair: boolean): Promise<readonly HealthLine[]> {
  if (!isReadOnlyHome(home)) return checkSearchIndex(home.stateDatabase, repair);
  return [
    warning('home', `${home.root} can only be read`, 'Nothing is learned or kept in it until it can be written.'),
  ];
}

async function checkSearchIndex(path: string, repair: boolean): Promise<readonly HealthLine[]> {
  const store = createSqliteSessionStore({ path });
  try {
    if (store.database.readOnly)
      return store.notices.map(({ message }) => warning('database', message, 'Update Talaria.'));
    return [await searchIndex(store, repair), checkOrigins(store)];
  } finally {
    await store.close();
  }
}

async function searchIndex(store: SqliteSessionStore, repair: boolean): Promise<HealthLine> {
  const { agrees, differences } = await store.checkIndex();
  if (agrees) return good('search index', 'agrees with the messages');
  if (!repair) return fault('search index', differences.join('; '), 'Run `talaria doctor --repair`.');
  await store.repairIndex();
  return good('search index', 'differed from the messages and was built anew');
}

const SHOWN = 3;

/** Who said what is sealed; a row that another hand changed is named, since it speaks for nobody any more. */
function checkOrigins({ database }: SqliteSessionStore): HealthLine {
  const key = sealKeyPath(database.path);
  const isThere = existsSync(key);
  const broken = [...brokenSeals(database)];
  if (broken.length === 0) return good('origins', 'every message is as it was written');
  const shown = broken.slice(0, SHOWN).map(({ sessionId, messageId }) => `#${messageId} of ${sessionId}`);
  const more = broken.length > SHOWN ? ` and ${broken.length - SHOWN} more` : '';
  const what = `${plural(broken.length, 'message')} not as written: ${shown.join(', ')}${more}`;
  return isThere
    ? warning('origins', what, 'They count as words that you did not write: nothing is kept unasked on their account.')
    : warning('origins', `${what}; ${key} is missing`, 'Bring the file back from a backup of this home.');
}

export function checkMemory(home: Home): readonly HealthLine[] {
  const files = createMemoryFiles({ root: home.memories });
  return MEMORY_TARGETS.map((target) => {
    const state = files.read(target);
    const name = target === 'user' ? 'USER.md' : 'MEMORY.md';
    return state.ok ? good(name, state.value.usage) : fault(name, state.detail, `Look at ${files.path(target)}.`);
  });
}
