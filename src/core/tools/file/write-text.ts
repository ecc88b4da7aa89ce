// Owns putting text into a file of the user's: through links, with the old owner, mode, line ends and byte order mark, old or new, never half.
// Knows no tool. Invariant: the file that is replaced is the one that was judged, whoever turns links meanwhile; a new file gets the
// usual permissions.
import { basename, dirname, join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { inOpenedFolder } from '#base/paths/open-files.ts';
import type { TextFile } from './text-file.ts';

const NEW_FILE_MODE = 0o644;
const NEW_FOLDER_MODE = 0o777;

/** `path` has no links. `shape`: what the file was before, to be kept; undefined for a new file. Throws as `atomicWrite` and `inOpenedFolder`. */
export function writeText(path: string, text: string, shape: Omit<TextFile, 'text'> | undefined): void {
  const body = shape?.bom && !text.startsWith('\uFEFF') ? `\uFEFF${text}` : text;
  const mode = shape?.mode ?? NEW_FILE_MODE;
  inOpenedFolder(dirname(path), NEW_FOLDER_MODE, (folder) =>
    atomicWrite(join(folder, basename(path)), body, { mode, shown: path, keepOwner: true }),
  );
}
