// Owns reading one SKILL.md for a run. Knows no skill and no library. Invariant: what comes out is the file's bytes as text, byte order
// mark and line ends kept, so that its hash is the file's; whatever is no such text has a reason code.
import { readFileSync, statSync } from 'node:fs';
import { errorCode } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';

export type UnreadableSkill = 'skill-file-not-found' | 'skill-file-unreadable' | 'skill-content-hard-cap';

/** 100,000 characters take at most this many bytes; twice that is read. */
const MOST_BYTES = 800_000;

export function readSkillFile(path: string): Result<string, UnreadableSkill> {
  try {
    const found = statSync(path);
    if (!found.isFile()) return refuse('skill-file-not-found', `${path} is no file.`);
    if (found.size > MOST_BYTES) return refuse('skill-content-hard-cap', `${path} has ${found.size} bytes.`);
    return decode(path, readFileSync(path));
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    const isGone = code === 'ENOENT' || code === 'ENOTDIR';
    return refuse(isGone ? 'skill-file-not-found' : 'skill-file-unreadable', `${path} cannot be read (${code}).`);
  }
}

function decode(path: string, bytes: Uint8Array): Result<string, UnreadableSkill> {
  if (bytes.includes(0)) return refuse('skill-file-unreadable', `${path} holds a NUL.`);
  try {
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return refuse('skill-file-unreadable', `${path} is not UTF-8 text.`);
    throw error;
  }
}
