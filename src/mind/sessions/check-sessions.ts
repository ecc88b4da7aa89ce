// Owns what `doctor` says of the sessions: does the search index agree with the messages, and is each message as it was written?
// Invariant: without `repair` nothing changes.
import { existsSync } from 'node:fs';
import { plural } from '#base/text.ts';
import { fault, good, type HealthLine, type HealthLook, warning } from '#core/agent/health.ts';
import { brokenSeals, sealKeyPath } from './message-rows.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from './sqlite-session-store.ts';

export async function checkSessions(
  path: string,
  { repair, mayOpenState }: HealthLook,
): Promise<readonly HealthLine[]> {
  if (!mayOpenState) return [];
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
