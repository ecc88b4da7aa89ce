// Owns putting text into a file of the user's: through links, with the old mode, line ends and byte order mark, old or new, never half.
// Knows no tool. Invariant: the file that is replaced is the one that was judged; a new file gets the usual permissions.
import { dirname } from 'node:path';
import { atomicWrite, makeFolders } from '#base/atomic-write.ts';
import { realPath } from './file-access.ts';
import type { TextFile } from './text-file.ts';

const NEW_FILE_MODE = 0o644;
const NEW_FOLDER_MODE = 0o777;

/** `shape`: what the file was before, to be kept; undefined for a new file. Throws TalariaError as `atomicWrite`. */
export function writeText(path: string, text: string, shape: Omit<TextFile, 'text'> | undefined): void {
  const target = realPath(path);
  makeFolders(dirname(target), NEW_FOLDER_MODE);
  const body = shape?.bom && !text.startsWith('\uFEFF') ? `\uFEFF${text}` : text;
  atomicWrite(target, body, { mode: shape?.mode ?? NEW_FILE_MODE });
}
