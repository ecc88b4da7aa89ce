// Owns how files that steer later runs are put before the owner: their words as far as they fit, and a mark that an answer is bound to.
// Knows no approver and no wall. Invariants: the mark changes with every byte that was shown; what is left out is counted; nothing but a regular
// file is opened, and no link is followed.
import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join, relative } from 'node:path';
import { errorCode, errorText, known } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { oneLine, plural, sliceText } from '#base/text.ts';
import { readTextFile } from '../files/text-file.ts';

export interface PlantedWords {
  readonly text: string;
  readonly mark: string;
}

const CHARACTERS = { all: 16_000, least: 400 } as const;
const MOST_SHOWN = 40;
/** More of a folder is neither shown nor bound. */
const MOST_LOOKED_AT = 1_000;

/** Of absolute paths; what is in a folder counts. */
export function plantedWords(paths: readonly string[], folder: string): PlantedWords {
  const found: string[] = [];
  for (const path of paths) addFiles(path, found);
  const shown = found.slice(0, MOST_SHOWN);
  const share = Math.max(CHARACTERS.least, Math.floor(CHARACTERS.all / Math.max(1, shown.length)));
  const all = found.map((path) => wordsOf(path, oneLine(relative(folder, path))));
  const left = found.length - shown.length;
  const more = `… NOT SHOWN: ${found.length < MOST_LOOKED_AT ? '' : 'at least '}${plural(left, 'more file')}`;
  const words = all.slice(0, MOST_SHOWN).map(({ head, body }) => [head, ...bodyLines(body, share)].join('\n'));
  return {
    text: [...words, ...(left > 0 ? [more] : [])].join('\n'),
    mark: sha256(JSON.stringify(all.map(({ head, mark }) => [head, mark]))),
  };
}

function addFiles(path: string, found: string[]): void {
  if (found.length >= MOST_LOOKED_AT) return;
  const names = entriesOf(path);
  if (names.length === 0) found.push(path);
  for (const name of names) addFiles(join(path, name), found);
}

interface Words {
  readonly head: string;
  readonly body: string;
  readonly mark: string;
}

function wordsOf(path: string, name: string): Words {
  try {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts === undefined) return { head: `${name} is not there any more`, body: '', mark: '' };
    const mark = markOf(facts);
    if (facts.isSymbolicLink()) return { head: `${name} is a link to ${oneLine(readlinkSync(path))}`, body: '', mark };
    if (facts.isDirectory()) return { head: `${name} is an empty folder`, body: '', mark: '' };
    const read = readTextFile(path);
    if (!read.ok) return { head: `${name} cannot be shown: ${read.detail}`, body: '', mark };
    const { text: body, mode } = read.value;
    return { head: `${name} (${plural(body.length, 'character')}):`, body, mark: sha256(`${mode} ${body}`) };
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return { head: `${name} cannot be shown: ${oneLine(errorText(error), 200)}`, body: '', mark: '' };
  }
}

function markOf({ ino, mode, size, mtimeMs, ctimeMs }: Stats): string {
  return [ino, mode, size, mtimeMs, ctimeMs].join(' ');
}

/** Set apart, so that no file can write what looks like the head of another. */
function bodyLines(body: string, most: number): readonly string[] {
  if (body === '') return [];
  const shown = sliceText(body, most);
  const left = body.length - shown.length;
  const lines = shown.replace(/\n$/, '').split('\n');
  const more = left > 0 ? [`… NOT SHOWN: ${plural(left, 'more character')} of this file`] : [];
  return [...lines.map((line) => `  | ${line}`), ...more];
}

/** Sorted; none for what is no folder, is a link to one, or is not ours to read. */
function entriesOf(path: string): readonly string[] {
  return known(() => (lstatSync(path).isDirectory() ? readdirSync(path).sort() : [])) ?? [];
}
