// Owns where a proposal takes the text of its skill from: the file that was named, else the library. Writes nothing.
import { readFileSync } from 'node:fs';
import { errorCode } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { CuratorMind } from '../curator-ground.ts';

/** Empty for a skill that the library does not know. */
export async function skillText(mind: Pick<CuratorMind, 'skills'>, name: string, signal: AbortSignal): Promise<string> {
  await mind.skills.ready(signal);
  return mind.skills.get(name)?.text ?? '';
}

/** A text file as the person named it; bytes that are no UTF-8 are replaced. */
export function namedFile(path: string): Result<string, 'file-not-readable'> {
  try {
    return ok(readFileSync(path, 'utf8'));
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return refuse('file-not-readable', `${path} cannot be read (${code}).`);
  }
}
