// Owns looking at a folder for what reflex/1 can offer there: the names in it, and the commands of its project files.
// Knows no rule. Invariant: small and never throws: a folder that may not be listed offers nothing.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '#base/paths/open-files.ts';
import { NO_FOLDER, type ReflexFolder } from '#core/agent/reflex-rule.ts';
import { PROJECT_FILES, projectScripts } from '#core/reflex/folder.ts';

const MOST_ENTRIES = 500;
const LARGEST_FILE = 2_000_000;

export function readFolder(path: string): ReflexFolder {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
      .slice(0, MOST_ENTRIES)
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    const scripts = PROJECT_FILES.filter((name) => entries.includes(name)).flatMap((name) =>
      projectScripts(name, readRegular(join(path, name), LARGEST_FILE).toString('utf8')),
    );
    return { entries, scripts };
  } catch {
    // The fixed suggestions remain.
    return NO_FOLDER;
  }
}
