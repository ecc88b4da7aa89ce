// Owns which words may not come over in a conversation: the keys of both homes. No value ever leaves as text of a message.
// Invariant: the same homes give the same words, so that a session that was brought once is known again.
import { join } from 'node:path';
import type { Environment } from '../../environment.ts';
import { readEnvFile } from '../../home/env-file.ts';
import type { Home } from '../../home/home.ts';
import { mergedVariables, secretValues } from '../../parts/compose-models.ts';
import { holdsKey } from './hermes/config-map.ts';

const SHORTEST = 8;

/** A way to take them out of a text. Throws `env-unreadable` for our own file only. */
export function importRedaction(from: string, home: Home, environment: Environment): (text: string) => string {
  const values = new Set([...secretValues(home, mergedVariables(home, environment)), ...keysOf(from)]);
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((out, value) => out.replaceAll(value, '[redacted]'), text);
}

function keysOf(from: string): readonly string[] {
  try {
    const entries = Object.entries(readEnvFile(join(from, '.env')));
    return entries
      .filter(([name, value]) => value.length >= SHORTEST && holdsKey(name, value))
      .map(([, value]) => value);
  } catch {
    // The part that brings keys says that the file cannot be read.
    return [];
  }
}
