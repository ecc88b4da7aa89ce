// Owns the context of an ask inside its exported run: packed by hash, unpacked into a folder from which it is opened as ever.
// Invariant: nothing is written outside that folder; what is packed is what the run read, or it is not packed and that is said.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { makeFolders } from '#base/atomic-write.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { RunRow, SourceStamp } from '../run-row.ts';

/** Hash → base64. */
export type PackedContext = Readonly<Record<string, string>>;

const LARGEST = 64 * 1024 * 1024;

export function packContext({ root, sources }: Pick<RunRow, 'root' | 'sources'>): Result<PackedContext, 'not-packed'> {
  const bytes = sources.reduce((sum, stamp) => sum + stamp.bytes, 0);
  if (bytes > LARGEST) return refuse('not-packed', `its context has more than ${LARGEST / 1024 / 1024} MB`);
  const packed: Record<string, string> = {};
  for (const stamp of sources) {
    const content = readSource(join(root, fileOf(stamp)));
    if (!content.ok) return content;
    if (`sha256:${sha256(content.value)}` !== stamp.hash)
      return refuse('not-packed', `${stamp.path} is not what it was`);
    packed[stamp.hash] = content.value.toString('base64');
  }
  return ok(packed);
}

function readSource(path: string): Result<Buffer, 'not-packed'> {
  try {
    if (statSync(path).size > LARGEST) return refuse('not-packed', `${path} is too large`);
    return ok(readFileSync(path));
  } catch (error) {
    return refuse('not-packed', errorText(error));
  }
}

/** The row as it stands over the unpacked context. What leads out of the folder, or is no path, is left out: opening it is refused then. */
export function unpackContext(row: RunRow, context: PackedContext, folder: string): RunRow {
  for (const stamp of row.sources) {
    const content = Object.hasOwn(context, stamp.hash) ? context[stamp.hash] : undefined;
    const path = join(folder, fileOf(stamp));
    if (content === undefined || relative(folder, path).startsWith('..')) continue;
    writeUnlessNoPath(path, Buffer.from(content, 'base64'));
  }
  return { ...row, root: folder };
}

const NO_PATH: ReadonlySet<string | undefined> = new Set(
  'EISDIR ENOTDIR EEXIST ENAMETOOLONG ERR_INVALID_ARG_VALUE'.split(' '),
);

function writeUnlessNoPath(path: string, content: Buffer): void {
  try {
    makeFolders(dirname(path));
    writeFileSync(path, content, { mode: 0o600 });
  } catch (error) {
    if (!NO_PATH.has(errorCode(error))) throw error;
  }
}

/** What was piped in is kept under its hash. */
function fileOf({ path, hash }: SourceStamp): string {
  return path === '-' ? `${hash.replace('sha256:', '')}.txt` : path;
}
