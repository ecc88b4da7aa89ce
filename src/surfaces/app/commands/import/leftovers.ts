// Owns naming what a hermes-agent home holds besides, so that nothing stays behind unsaid. Reads names only.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportPlace } from './import-place.ts';

const PROFILES = 'other profiles; bring each with --from';
const NOT_HERE = 'nothing here uses it';

/** Top-level name → why it stays. Names that are not listed are caches and logs. */
const REASONS: Readonly<Record<string, string>> = {
  profiles: PROFILES,
  cron: 'timed jobs are set up anew',
  plugins: 'extensions are programs of their own',
  'plugin-data': 'extensions are programs of their own',
  hooks: 'programs are not taken over',
  scripts: 'programs are not taken over',
  'skill-bundles': NOT_HERE,
  'kanban.db': NOT_HERE,
  'projects.db': NOT_HERE,
  'response_store.db': NOT_HERE,
  'verification_evidence.db': NOT_HERE,
  'memory_store.db': NOT_HERE,
  pending: 'what waited for a yes there; decide it there',
};

export function nameLeftovers({ from, report }: ImportPlace): void {
  for (const [name, reason] of Object.entries(REASONS)) {
    const path = join(from, name);
    if (existsSync(path) && !isEmptyFolder(path)) report.left('other files', name, reason);
  }
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    // It is a file, or may not be read: it is there.
    return false;
  }
}
