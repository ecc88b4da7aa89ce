// Owns what a typed line says beside its words (`!command`, which the owner runs, and `@path`, whose text or picture goes along), and the lines that are kept
// for the next start. Knows no session and no screen. Invariants: no more goes along than the model can well read, and what is left out is said;
// a file that holds secrets never goes along; a line that carries a key is never kept.

import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { parseJson } from '#base/json.ts';
import { findSecrets } from '#base/secrets.ts';
import { plural } from '#base/text.ts';
import { type ImagePart, imageNote, type UserPart } from '#core/model/message.ts';
import { type FileToolsOptions, fullPath, readRisk, realPath } from '#core/tools/files/file-access.ts';
import { readWindow } from '#core/tools/files/read-file.ts';
import { describeBinary, readPicture, sniffFile, statFile } from '#core/tools/files/text-file.ts';
import { walkFolder } from '#core/tools/files/walk-folder.ts';
import type { App } from '#surfaces/app/app.ts';

/** What `?` shows. */
export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Enter', 'sends; \\ Enter and Shift-Enter start a new line'],
  ['/', 'commands: /help lists them'],
  ['!command', 'runs it in this folder; the model sees what it printed'],
  ['@path', 'the file goes along; Tab completes it'],
  ['Up, Down', 'earlier lines; Up takes back the last line that waits'],
  ['Ctrl-R', 'searches earlier lines'],
  ['Ctrl-C, Esc', 'stop what runs; lines that wait come back'],
  ['Ctrl-C', 'clears the line, Up brings it back; twice on an empty line leaves'],
  ['Ctrl-D', 'leaves, on an empty line'],
  ['Ctrl-Z', 'back to the shell; fg goes on'],
];

export const BANG_ALONE = '!command runs a command in this folder, e.g. !git status; the model sees what it printed.';

/** The command of a line that begins with `!`; empty for `!` alone. */
export function commandOf(line: string): string | undefined {
  return line.startsWith('!') ? line.slice(1).trim() : undefined;
}

/** Characters of all that goes along with one line; of a smaller window about a quarter. */
const ATTACHED_MAX = 200_000;
/** Files that the listing of a folder names. */
const LISTED_MAX = 1_000;

export interface LinePlace extends FileToolsOptions {
  readonly cwd: string;
}

export function linePlace({ environment: { cwd, userHome }, home }: App): LinePlace {
  return { cwd, userHome, home: home.root };
}

interface Mention {
  /** As it was typed, without the `@` and its quotes. */
  readonly path: string;
  readonly full: string;
  readonly kind: 'file' | 'folder';
  /** Where it stands in the line. */
  readonly from: number;
  readonly to: number;
}

/** Each `@path` of something that exists, in the order of the line. */
export function mentionsIn(line: string, place: LinePlace): readonly Mention[] {
  return [...line.matchAll(/(?<=^|[\s(])@(?:"[^"\n]{1,4096}"|[^\s"]{1,4096})/g)].flatMap(({ 0: word, index }) => {
    const spoken = word.replace(/[.,;:!?)]+$/, '');
    return named(word, index, place) ?? named(spoken, index, place) ?? [];
  });
}

function named(word: string, from: number, place: LinePlace): Mention | undefined {
  const path = word.slice(1).replaceAll('"', '');
  const full = fullPath(path, place.cwd, place);
  const kind = path === '' ? undefined : kindOf(full);
  return kind && { path, full, kind, from, to: from + word.length };
}

function kindOf(full: string): Mention['kind'] | undefined {
  const stats = statFile(full);
  if (stats.ok) return 'file';
  return stats.reason === 'folder' ? 'folder' : undefined;
}

/** The line with plain paths, for who reads files by itself. */
export function withoutSigns(line: string, place: LinePlace): string {
  let text = line;
  for (const { from } of mentionsIn(line, place).toReversed()) text = text.slice(0, from) + text.slice(from + 1);
  return text;
}

export interface Attached {
  readonly parts: readonly UserPart[];
  /** What went along and what did not, for the owner. */
  readonly notes: readonly string[];
}

export async function attach(line: string, app: App, signal: AbortSignal): Promise<Attached> {
  const place = linePlace(app);
  const parts: UserPart[] = [];
  const notes: string[] = [];
  let room = Math.min(ATTACHED_MAX, app.model().contextWindow);
  const seen = new Set<string>();
  for (const mention of [...mentionsIn(line, place), ...picturesIn(line, place)]) {
    if (seen.has(mention.full)) continue;
    seen.add(mention.full);
    const picture = takePicture(mention, app, place);
    if (picture) {
      parts.push(picture);
      notes.push(`${imageNote(picture)} goes along`);
      continue;
    }
    const taken = await take(mention, { place, room, signal });
    notes.push(`@${mention.path} ${taken.note}`);
    if (taken.text === undefined) continue;
    room -= taken.text.length;
    parts.push({ type: 'text', text: taken.text, origin: 'foreign', label: 'file' });
  }
  return { parts, notes };
}

/** A path as a terminal pastes a file that is dropped on it: quoted, or with backslashes, or an address of `file:`. */
const PASTED = /(?<=^|\s)(?:'([^'\n]+)'|"([^"\n]+)"|(?:file:\/\/)?((?:\/|~\/)(?:\\.|[^\s\\])+))(?=\s|$)/g;

/** Pictures that are named by their whole path, without an `@`. */
function picturesIn(line: string, place: LinePlace): readonly Mention[] {
  return [...line.matchAll(PASTED)].flatMap(({ 0: word, 1: single, 2: double, 3: plain = '', index }) => {
    const path = single ?? double ?? plain.replace(/\\(.)/g, '$1');
    if (!/^(?:\/|~\/).*\.(?:png|jpe?g|gif|webp)$/i.test(path)) return [];
    const full = fullPath(path, place.cwd, place);
    return kindOf(full) === 'file' ? [{ path, full, kind: 'file', from: index, to: index + word.length }] : [];
  });
}

function takePicture({ full, kind }: Mention, app: App, place: LinePlace): ImagePart | undefined {
  const path = realPath(full);
  if (kind !== 'file' || readRisk(path, place.cwd, place).level !== 'none') return undefined;
  const bytes = readPicture(path);
  const kept = bytes.ok ? app.keepImage(bytes.value, { name: basename(full), origin: 'foreign' }) : bytes;
  return kept.ok ? kept.value : undefined;
}

interface Taking {
  readonly place: LinePlace;
  readonly room: number;
  readonly signal: AbortSignal;
}

interface Taken {
  readonly note: string;
  /** Absent when it does not go along. */
  readonly text?: string;
}

async function take(mention: Mention, taking: Taking): Promise<Taken> {
  const { path, kind } = mention;
  const full = realPath(mention.full);
  const kept = whyKept({ ...mention, full }, taking);
  if (kept !== undefined) return { note: `does not go along: ${kept}` };
  if (kind === 'folder') return takeListing(path, full, taking);
  const window = { offset: 1, limit: Number.POSITIVE_INFINITY, maxChars: taking.room, maxLine: taking.room };
  const { lines, more, isCut: isLineCut, totalLines } = await readWindow(full, window, taking.signal);
  const count = plural(lines.length, 'line');
  const isCut = more || isLineCut;
  const extent = isCut ? `cut: ${count} of ${totalLines ?? 'many'}` : count;
  return {
    note: `goes along, ${extent}`,
    text: `[file ${path}, ${extent}]\n${lines.join('\n')}\n[end of ${path}${isCut ? ' as far as it goes along' : ''}]`,
  };
}

function whyKept({ full, kind }: Mention, { place, room }: Taking): string | undefined {
  const risk = readRisk(full, place.cwd, place);
  if (risk.level !== 'none') return risk.reason.replace('it reads', 'it holds');
  if (room <= 0) return 'as much goes along already as the model may be given at once';
  if (kind === 'folder') return undefined;
  const start = sniffFile(full);
  if (!start.ok) return start.detail;
  const binary = describeBinary(start.value.bytes);
  return binary === undefined ? undefined : `it is ${binary}`;
}

async function takeListing(path: string, full: string, { room, signal }: Taking): Promise<Taken> {
  const names: string[] = [];
  let left = room;
  let isCut = false;
  for await (const { name } of walkFolder(full, {}, signal)) {
    left -= name.length + 1;
    isCut = names.length === LISTED_MAX || left < 0;
    if (isCut) break;
    names.push(name);
  }
  const extent = `${isCut ? 'cut: the first ' : ''}${plural(names.length, 'name')}`;
  return {
    note: `goes along as a list, ${extent}`,
    text: `[folder ${path}, ${extent}]\n${names.join('\n')}\n[end of ${path}${isCut ? ' as far as it goes along' : ''}]`,
  };
}

const KEPT = 200;
/** Longer lines, a pasted file, are not kept. */
const LONGEST = 10_000;

export interface InputHistory {
  /** Oldest first. */
  readonly lines: readonly string[];
  add(line: string): void;
}

/** One JSON string a line; a damaged line is left out, a file that cannot be written is no reason to stop a chat. */
export function openInputHistory(path: string, onFailure: (error: unknown) => void): InputHistory {
  const lines = startLines(path, onFailure);
  const keep = (line: string): void => {
    try {
      // Read anew: another chat of this home may have written since.
      const kept = [...readLines(path), line].slice(-KEPT);
      atomicWrite(path, kept.map((each) => `${JSON.stringify(each)}\n`).join(''));
    } catch (error) {
      onFailure(error);
    }
  };
  return {
    lines,
    add(line) {
      if (isSecret(line) || line === lines.at(-1) || line.length > LONGEST) return;
      lines.push(line);
      if (lines.length > KEPT) lines.shift();
      keep(line);
    },
  };
}

/** An address alone is none. */
const ADDRESS_ALONE = /^\/model\s+add\s+https?:\/\/[^\s@?]+$/;

export function isSecret(line: string): boolean {
  if (ADDRESS_ALONE.test(line)) return false;
  return /^\/model\s+add\b/.test(line) || /--key\b/.test(line) || findSecrets(line).length > 0;
}

/** What the screen shows of a line: of one that carries a key, its first words. */
export function shownLine(line: string): string {
  return isSecret(line) ? `${line.split(/\s+/).slice(0, 2).join(' ')} (hidden)` : line;
}

function startLines(path: string, onFailure: (error: unknown) => void): string[] {
  try {
    return readLines(path);
  } catch (error) {
    onFailure(error);
    return [];
  }
}

function readLines(path: string): string[] {
  if (!existsSync(path)) return [];
  const parsed = readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const value = line === '' ? undefined : parseJson(line);
      return value?.ok && typeof value.value === 'string' ? [value.value] : [];
    });
  return parsed.slice(-KEPT);
}
