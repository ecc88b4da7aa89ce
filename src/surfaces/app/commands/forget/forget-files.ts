// Owns taking what went out of the plain files that conversations leave behind: spilled outputs, typed lines, logs, what waits, the
// evidence in manifests. Knows no table. Invariant: a file is replaced whole or removed; nothing of the owner's own (memory files,
// skills, settings) is touched here.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { parseTime } from '#base/clock.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { messageIdOf } from '#mind/evidence/message-handle.ts';
import type { FileCopy } from '#mind/sessions/files/file-change-rows.ts';
import { copiesOf, copyPath } from '#mind/sessions/files/file-copies.ts';
import { someStoredText } from '#mind/sessions/forget/json-texts.ts';
import { type SelectedSession, variantsOf } from '#mind/sessions/forget/select-messages.ts';
import { FORGOTTEN, replacing } from '#mind/sessions/forget/sweep-text.ts';
import { dailyCopies, type Home } from '../../home/home.ts';
import { filesBelow, holdsBytes } from './home-files.ts';

export interface FilesToForget {
  readonly sessions: readonly SelectedSession[];
  readonly text?: string;
  readonly holds?: (text: string) => boolean;
  /** Epoch ms. */
  readonly before?: number;
  /** Ids of proposals that wait no longer. */
  readonly pending: readonly string[];
  /** Copies of files that no row names any more. */
  readonly copies: readonly FileCopy[];
}

export interface ForgottenFiles {
  readonly removed: number;
  readonly lines: number;
  readonly rewritten: number;
}

export function forgetFiles(home: Home, what: FilesToForget): ForgottenFiles {
  const agreed = what.text === undefined ? [] : holdingFiles(home.trust, what.text);
  const found = [...spills(home, what), ...copies(home, what), ...waiting(home, what), ...cached(home, what)];
  // What goes stands in the copies of other days too: the next turn takes a new one.
  const removed = [...found, ...agreed, ...dailyCopies(home)];
  for (const path of new Set(removed)) rmSync(path, { recursive: true, force: true });
  const lines = historyLines(home, what) + logLines(home.log, what) + logLines(`${home.log}.1`, what);
  return { removed: new Set(removed).size, lines, rewritten: manifests(home, what) };
}

/** Whole outputs: those of sessions and messages that go, and those that hold the text. */
function spills({ spill }: Home, { sessions, text }: FilesToForget): readonly string[] {
  const folders = sessions.filter(({ whole }) => whole).map(({ id }) => join(spill, id));
  const files = sessions.flatMap(({ messages }) => messages.flatMap((message) => message.spill ?? []));
  const holding = text === undefined ? [] : holdingFiles(spill, text);
  return [...folders, ...files, ...holding].filter((path) => path.startsWith(spill + sep) && existsSync(path));
}

/** What stood in files before the agent changed them: of sessions and rows that go, and what holds the text. */
function copies({ checkpoints }: Home, { sessions, text, copies: unnamed }: FilesToForget): readonly string[] {
  const folders = sessions.filter(({ whole }) => whole).map(({ id }) => copiesOf(checkpoints, id));
  const holding = text === undefined ? [] : holdingFiles(checkpoints, text);
  const loose = unnamed.flatMap(({ session, key }) => copyPath(checkpoints, session, key) ?? []);
  return [...[...folders, ...loose].filter((path) => existsSync(path)), ...holding];
}

function waiting({ pending }: Home, { pending: ids, text }: FilesToForget): readonly string[] {
  const files = [...filesBelow(pending)].map((path) => join(pending, path));
  const named = files.filter((path) => ids.some((id) => basename(path).includes(id)));
  return [...named, ...(text === undefined ? [] : holdingFiles(pending, text))];
}

/** Whatever else is in the cache is made again when it is needed; a database goes with its log. */
function cached({ cache, spill, inputHistory }: Home, { text }: FilesToForget): readonly string[] {
  if (text === undefined) return [];
  const holding = holdingFiles(cache, text).filter(
    (path) => path !== inputHistory && !path.endsWith('.lock') && !path.startsWith(spill + sep),
  );
  const files = holding.map((path) => path.replace(/-(?:wal|shm)$/, ''));
  return files
    .flatMap((path) => ['', '-wal', '-shm'].map((suffix) => path + suffix))
    .filter((path) => existsSync(path));
}

function holdingFiles(folder: string, text: string): readonly string[] {
  const variants = variantsOf(text);
  return [...filesBelow(folder)].map((path) => join(folder, path)).filter((path) => holdsBytes(path, variants));
}

function historyLines({ inputHistory }: Home, { sessions, holds }: FilesToForget): number {
  const said = new Set(
    sessions.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user').map(({ text }) => text.trim())),
  );
  return filterLines(inputHistory, (line) => {
    const typed = parseJson(line);
    const text = typed.ok && typeof typed.value === 'string' ? typed.value : line;
    return said.has(text.trim()) || (holds?.(text) ?? false);
  });
}

function logLines(path: string, { sessions, holds, before }: FilesToForget): number {
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
function manifests({ backups }: Home, { sessions, text }: FilesToForget): number {
  const gone = new Set(sessions.flatMap(({ messages }) => messages.map(({ id }) => id)));
  const replace = text === undefined ? undefined : replacing(text);
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
