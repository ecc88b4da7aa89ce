// Owns the file that a proposal is also written to: which one may be, and writing it. Knows no proposal but how one begins. Invariants: nothing
// of the home and no skill is ever written past the door; what stands there is kept unless it was a proposal or the person insists.
import { type Stats, statSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode } from '#base/errors.ts';
import { parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { realPath } from '#core/tools/file/file-access.ts';
import { namedFile } from './skill-text.ts';

export interface OutputQuestion {
  /** Absolute. */
  readonly path: string;
  /** Folders in which nothing may be written. */
  readonly guarded: readonly string[];
  /** Also over a file that is no proposal. */
  readonly force: boolean;
}

export type OutputRefusal = 'output-guarded' | 'no-such-folder' | 'not-a-file' | 'output-exists' | 'file-not-readable';

const LARGEST_PROPOSAL_BYTES = 16 * 1024 * 1024;

/** The path with its links followed: the one to write to. */
export function outputFile({ path, guarded, force }: OutputQuestion): Result<string, OutputRefusal> {
  const real = realPath(path);
  const owner = guarded.find((folder) => isInside(real, realPath(folder)));
  if (owner !== undefined) return refuse('output-guarded', `${path} lies in ${owner}, where no proposal is written.`);
  const folder = dirname(real);
  if (!statOf(folder)?.isDirectory()) return refuse('no-such-folder', `There is no folder ${folder}.`);
  const there = statOf(real);
  if (there === undefined) return ok(real);
  if (!there.isFile()) return refuse('not-a-file', `${path} is no file.`);
  return force ? ok(real) : replaceable(real, there);
}

export function writeOutput(path: string, text: string): void {
  atomicWrite(path, `${text}\n`);
}

function replaceable(path: string, { size }: Stats): Result<string, OutputRefusal> {
  const text = size > LARGEST_PROPOSAL_BYTES ? ok('') : namedFile(path);
  if (!text.ok) return text;
  return isProposal(text.value) ? ok(path) : refuse('output-exists', `${path} is there already and no proposal.`);
}

function isProposal(text: string): boolean {
  if (text.startsWith('# Proposal for ')) return true;
  const json = parseJsonObject(text);
  return json.ok && typeof json.value.schema_version === 'string' && typeof json.value.skill_name === 'string';
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Absent for what cannot be looked at too: writing there would fail. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
