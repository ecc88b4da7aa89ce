// Owns how an installation that waits for the owner reads: where it comes from, its text, and what the guard finds in it now.
// Knows no guard: the scan is injected. Invariant: what is shown is the folder as it lies there now, which is what a yes would install.
import { errorCode, errorText } from '#base/errors.ts';
import type { Proposal } from '#mind/evidence/proposal.ts';
import { SKILL_FILE } from '#mind/skills/format/skill-limits.ts';
import { readFolderFile } from '#mind/skills/library/folder-files.ts';

/** What is found in the skill of a folder, as lines. Throws what the file system throws. */
export type ScanFolder = (folder: string) => Promise<readonly string[]>;

/** Undefined for what is no installation. */
export async function installLines(
  { action, target, change }: Proposal,
  scan: ScanFolder,
): Promise<readonly string[] | undefined> {
  const { from, category } = change;
  if (action !== 'install' || typeof from !== 'string') return undefined;
  const place = typeof category === 'string' && category !== '' ? `, into ${category}` : '';
  const text = readFolderFile(from, SKILL_FILE);
  const body = text.ok
    ? [text.value.trimEnd(), '', ...(await found(from, scan))]
    : [`It cannot be read any more: ${text.detail}`];
  return [`install ${target} from ${from}${place}`, '', ...body];
}

async function found(folder: string, scan: ScanFolder): Promise<readonly string[]> {
  try {
    return await scan(folder);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [`It cannot be scanned: ${errorText(error)}`];
  }
}
