// Owns what stands at a path as a value: a key that two equal states share, and the bytes behind it; and how two states differ for a reader.
// Knows no session and no table. Invariant: what is read is what stands at that very path: no link on the way is followed, and nothing
// but a regular file is opened.

import { isUtf8 } from 'node:buffer';
import { lstatSync, readlinkSync } from 'node:fs';
import { relative } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { type LineDiff, lineDiff, shownDiff } from '#base/text/line-diff.ts';
import { plural } from '#base/text.ts';
import type { FileChange } from '#core/agent/tool.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { isWithin } from '#core/tools/risk/place.ts';

/**
 * What stands at a path. `key` is `none`, `folder`, `special`, `unreadable`, `large …`, `link` and the hash of where it leads, or permission
 * bits and hash of the bytes. Of a link the bytes are where it leads.
 */
export interface FileState {
  readonly key: string;
  readonly bytes?: Buffer;
}

export const MEGABYTE = 1024 ** 2;
export const MOST_FILE_BYTES = 10 * MEGABYTE;

export function readState(path: string, mostBytes = MOST_FILE_BYTES): FileState {
  try {
    const facts = lstatSync(path);
    if (facts.isSymbolicLink()) return linkState(path);
    if (facts.isDirectory()) return { key: 'folder' };
    if (!facts.isFile()) return { key: 'special' };
    if (facts.size > mostBytes) return { key: `large ${facts.size} ${facts.mtimeMs}` };
    const bytes = readRegular(path, mostBytes, 'link-free');
    return { key: `${(facts.mode & 0o7777).toString(8)} ${sha256(bytes)}`, bytes };
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return { key: 'none' };
    if (errorCode(error) === undefined) throw error;
    return { key: 'unreadable' };
  }
}

/** What stands there now, read as a state with this key was: one that was too large to be read is not read now. */
export function readAs(path: string, key: string | null): FileState {
  return readState(path, key?.startsWith('large ') ? -1 : undefined);
}

export function isLink(key: string): boolean {
  return key === 'link' || key.startsWith('link ');
}

function linkState(path: string): FileState {
  const bytes = Buffer.from(readlinkSync(path));
  return { key: `link ${sha256(bytes)}`, bytes };
}

export type StateDiff = LineDiff & { readonly kind: FileChange['kind'] };

export async function compareStates(from: FileState, to: FileState): Promise<StateDiff> {
  const kind = from.key === 'none' ? 'created' : to.key === 'none' ? 'deleted' : 'changed';
  const [before, after] = [textOf(from), textOf(to)];
  if (before === undefined || after === undefined)
    return { kind, added: 0, removed: 0, text: `no text: ${describeState(from)}, then ${describeState(to)}\n` };
  const diff = await lineDiff(before, after);
  const [[was], [is]] = [from.key.split(' '), to.key.split(' ')];
  const modes = kind === 'changed' && was !== is ? `mode ${was}, then ${is}\n` : '';
  return { kind, ...diff, text: modes + diff.text };
}

function textOf({ key, bytes }: FileState): string | undefined {
  if (key === 'none') return '';
  return bytes && isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined;
}

function describeState({ key, bytes }: FileState): string {
  const [word = '', size] = key.split(' ');
  if (word === 'large') return sizeText(Number(size));
  if (bytes) return sizeText(bytes.length);
  return size === undefined ? word : 'not kept';
}

export function sizeText(bytes: number): string {
  return bytes < MEGABYTE ? plural(bytes, 'byte') : `${(bytes / MEGABYTE).toFixed(1)} MB`;
}

/** What a surface is told of a change. */
export async function changeAt(
  path: string,
  [from, to]: readonly [FileState, FileState],
  unkept: string | undefined,
): Promise<FileChange> {
  const { kind, added, removed, text } = await compareStates(from, to);
  const { text: diff, more } = shownDiff(text);
  return { path, kind, added, removed, diff, more, ...(unkept === undefined ? {} : { unkept }) };
}

/** Relative in the working folder. */
export function shownPath(path: string, cwd: string): string {
  const folder = realPath(cwd);
  return path !== folder && isWithin(path, folder) ? relative(folder, path) : path;
}
