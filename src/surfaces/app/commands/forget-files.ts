// Owns what `forget` does that no room does: plain files that conversations leave behind (typed lines, logs, caches, agreed texts, the evidence in
// manifests), databases of rooms that are not there, and finding where a text still stands. Knows no table. Invariants: a file is replaced whole or
// removed; nothing of the owner's own (memory files, skills, settings) is touched here.
import { existsSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { type Clock, parseTime } from '#base/clock.ts';
import { isDatabaseFile } from '#base/database/damage.ts';
import { openDatabase } from '#base/database.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import type { Forgets, Forgot } from '#core/agent/room.ts';
import { messageIdOf } from '#mind/evidence/citations.ts';
import {
  eraseFreed,
  FORGOTTEN,
  filesBelow,
  filesHolding,
  removeFiles,
  someStoredText,
  sweepText,
} from '#mind/sessions/sweep-text.ts';
import { dailyCopies, type Home } from '../home/home.ts';

export function forgetFiles(home: Home, what: Forgets): readonly Forgot[] {
  const { text } = what;
  const agreed = text === undefined ? [] : filesHolding(home.trust, text);
  // What goes stands in the copies of other days too: the next turn takes a new one.
  const files = removeFiles([...cached(home, what), ...agreed, ...dailyCopies(home)]);
  const lines = historyLines(home, what) + logLines(home.log, what) + logLines(`${home.log}.1`, what);
  return [
    { name: 'files', count: files },
    { name: 'lines', count: lines },
    { name: 'manifests', count: manifests(home, what) },
  ];
}

/** Whatever else is in the cache is made again when it is needed; a database goes with its log. */
function cached({ cache, spill, inputHistory }: Home, { text }: Forgets): readonly string[] {
  if (text === undefined) return [];
  const holding = filesHolding(cache, text).filter(
    (path) => path !== inputHistory && !path.endsWith('.lock') && !path.startsWith(spill + sep),
  );
  return holding
    .map((path) => path.replace(/-(?:wal|shm)$/, ''))
    .flatMap((path) => ['', '-wal', '-shm'].map((suffix) => path + suffix));
}

/** Earlier texts of skills and old copies of databases, also those that taking the text out has just made. */
export function forgetOldTexts({ root }: Home, { text, everywhere }: Forgets): Forgot {
  const isOld = (name: string) =>
    OLD_COPY.test(name) || /^backups[/\\]|^skills[/\\]\.|^memories[/\\].*\.bak\./.test(name);
  const holding = text !== undefined && everywhere ? filesHolding(root, text) : [];
  return { name: 'files', count: removeFiles(holding.filter((path) => isOld(path.slice(root.length + 1)))) };
}

/** Databases lose the text wherever their rooms, which come first, left it, or no room of this program forgets in them. */
export async function sweepOthers(home: Home, { text }: Forgets, clock: Clock): Promise<Forgot> {
  const busy: string[] = [];
  let count = 0;
  for (const path of text === undefined ? [] : otherDatabases(home)) {
    const { database } = openDatabase(path, { rooms: [], onCorrupt: 'throw', clock });
    try {
      database.exec('PRAGMA secure_delete = ON');
      const cells = await database.transaction(() => sweepText(database, text ?? ''));
      count += cells;
      if (cells > 0 && (await eraseFreed(database, clock)) === 'busy') busy.push(path);
    } finally {
      database.close();
    }
  }
  return { name: 'other cells', count, busy };
}

function otherDatabases(home: Home): readonly string[] {
  const own = [home.stateDatabase, home.evidenceDatabase];
  return [...filesBelow(home.root)]
    .filter((name) => !OLD_COPY.test(name) && !/-(?:wal|shm|journal)$/.test(name))
    .map((name) => join(home.root, name))
    .filter((path) => !own.includes(path) && !path.startsWith(home.cache + sep) && isDatabaseFile(path));
}

function historyLines({ inputHistory }: Home, { sessions, holds }: Forgets): number {
  const said = new Set(
    sessions.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user').map(({ text }) => text.trim())),
  );
  return filterLines(inputHistory, (line) => {
    const typed = parseJson(line);
    const text = typed.ok && typeof typed.value === 'string' ? typed.value : line;
    return said.has(text.trim()) || (holds?.(text) ?? false);
  });
}

function logLines(path: string, { sessions, holds, before }: Forgets): number {
  const ids = sessions.filter(({ whole }) => whole).map(({ id }) => id);
  return filterLines(path, (line) => {
    if (ids.some((id) => line.includes(id)) || (holds && someStoredText(line, LOG_FORM, holds))) return true;
    const at = before === undefined ? undefined : timeOf(line);
    return at !== undefined && before !== undefined && at < before;
  });
}

/** When and what: no content. */
const LOG_FORM: ReadonlySet<string> = new Set(['at', 'event']);

function timeOf(line: string): number | undefined {
  const entry = parseJson(line);
  return entry.ok && isJsonObject(entry.value) && typeof entry.value.at === 'string'
    ? parseTime(entry.value.at)
    : undefined;
}

/** Gives the number of lines that went. */
function filterLines(path: string, goes: (line: string) => boolean): number {
  if (!existsSync(path)) return 0;
  const lines = readFileSync(path, 'utf8').split('\n');
  const kept = lines.filter((line) => line === '' || !goes(line));
  if (kept.length < lines.length) atomicWrite(path, kept.join('\n'));
  return lines.length - kept.length;
}

/** Gives the number of manifests whose evidence lost its words. */
function manifests({ backups }: Home, { sessions, replace }: Forgets): number {
  const gone = new Set(sessions.flatMap(({ messages }) => messages.map(({ id }) => id)));
  let rewritten = 0;
  for (const name of filesBelow(backups)) {
    if (!name.endsWith('.json')) continue;
    const path = join(backups, name);
    const old = parseJson(readFileSync(path, 'utf8'));
    if (!old.ok) continue;
    const next = withoutEvidence(old.value, gone, replace);
    if (JSON.stringify(next) === JSON.stringify(old.value)) continue;
    atomicWrite(path, `${JSON.stringify(next, null, 2)}\n`);
    rewritten += 1;
  }
  return rewritten;
}

/** Only what a manifest says of its evidence: the rest is what undoes a write. */
function withoutEvidence(
  manifest: JsonValue,
  gone: ReadonlySet<number>,
  replace: ((text: string) => string) | undefined,
): JsonValue {
  if (!isJsonObject(manifest)) return manifest;
  const evidence = ['evidence', 'scheduler'].flatMap((key) => {
    const value = manifest[key];
    return value === undefined ? [] : [[key, emptied(value, gone, replace)] as const];
  });
  return { ...manifest, ...Object.fromEntries(evidence) };
}

/** Quotes of messages that went, and the text wherever it stands. */
function emptied(
  value: JsonValue,
  gone: ReadonlySet<number>,
  replace: ((text: string) => string) | undefined,
): JsonValue {
  if (typeof value === 'string') return replace?.(value) ?? value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => emptied(item, gone, replace));
  if (!isJsonObject(value)) return value;
  const id = typeof value.handle === 'string' ? messageIdOf(value.handle) : undefined;
  const isGone = id !== undefined && gone.has(id);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      isGone && key === 'quote' ? FORGOTTEN : emptied(inner ?? null, gone, replace),
    ]),
  );
}

// Where a text still stands, and how each place is cleared.

export interface KeptPlace {
  /** Absolute. */
  readonly path: string;
  /** What clears it, one sentence or command. */
  readonly remedy: string;
}

export function placesWith(home: Home, text: string): readonly KeptPlace[] {
  return filesHolding(home.root, text).map((path) => ({ path, remedy: remedyOf(path.slice(home.root.length + 1)) }));
}

/** Old copies of the database hold everything that was said until then. */
export function oldCopies(home: Home): readonly KeptPlace[] {
  return [...filesBelow(home.root)]
    .filter((name) => OLD_COPY.test(name))
    .map((name) => ({ path: join(home.root, name), remedy: COPY_REMEDY }));
}

const OLD_COPY = /\.(?:before|corrupt)-[^/\\]*$/;
const COPY_REMEDY = 'an old copy of the database; delete the file if you do not need it';

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [OLD_COPY, COPY_REMEDY],
  [/^memories[/\\](?:MEMORY|USER)\.md$/, '`talaria memory remove TEXT`, or --everywhere'],
  [/^memories[/\\]/, 'a kept copy; delete the file'],
  [/^skills[/\\]/, 'edit the skill, `talaria skills remove NAME`, or --everywhere'],
  [
    /^backups[/\\]/,
    'the earlier text of a skill; delete the file, or --everywhere (it can no longer be rolled back to)',
  ],
  [/-(?:wal|shm)$/, 'another process has the database open; it goes when that one ends'],
  [/\.(?:db|sqlite)$/, 'a name in it holds the text, or another process has it open'],
];

function remedyOf(name: string): string {
  return REMEDIES.find(([pattern]) => pattern.test(name))?.[1] ?? 'edit or delete the file';
}
