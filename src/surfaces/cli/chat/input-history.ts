// Owns the lines typed at the chat, kept for the next start. Knows no screen. Invariant: a line that carries a key is never kept.
import { existsSync, readFileSync } from 'node:fs';
import { atomicWrite } from '#base/atomic-write.ts';
import { parseJson } from '#base/json.ts';
import { findSecrets } from '#base/secrets.ts';

const KEPT = 200;

export interface InputHistory {
  /** Oldest first. */
  readonly lines: readonly string[];
  add(line: string): void;
}

/** One JSON string a line; a damaged line is left out, a file that cannot be written is no reason to stop a chat. */
export function openInputHistory(path: string, onFailure: (error: unknown) => void): InputHistory {
  const lines = readLines(path);
  return {
    lines,
    add(line) {
      if (isSecret(line) || line === lines.at(-1)) return;
      lines.push(line);
      if (lines.length > KEPT) lines.splice(0, lines.length - KEPT);
      try {
        atomicWrite(path, lines.map((kept) => `${JSON.stringify(kept)}\n`).join(''));
      } catch (error) {
        onFailure(error);
      }
    },
  };
}

export function isSecret(line: string): boolean {
  return /^\/model\s+add\b/.test(line) || /--key\b/.test(line) || findSecrets(line).length > 0;
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
