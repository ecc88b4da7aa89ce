// Owns the lines typed at the chat, kept for the next start. Knows no screen. Invariant: a line that carries a key is never kept.
import { existsSync, readFileSync } from 'node:fs';
import { atomicWrite } from '#base/atomic-write.ts';
import { parseJson } from '#base/json.ts';
import { findSecrets } from '#base/secrets.ts';

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
