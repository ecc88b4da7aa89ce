/** A home with skill folders, and the library and tools over it. */

import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { absentAsker } from '#core/agent/approver.ts';
import type { ToolContext } from '#core/agent/tool.ts';
import { skillsCacheName } from '#mind/skills/library/cache-tables.ts';
import { createSkillLibrary, type SkillLibrary } from '#mind/skills/library/skill-library.ts';
import type { SkillRecord } from '#mind/skills/skill.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';

export interface SkillHome {
  readonly home: TempHome;
  readonly root: string;
  readonly warnings: string[];
  /** Writes `<root>/<path>/SKILL.md`; `header` defaults to a name and a description. */
  readonly skill: (path: string, header?: string, body?: string) => string;
  /** A library over the home's folders; closed when the test ends. */
  readonly open: (options?: Partial<Parameters<typeof createSkillLibrary>[0]>) => SkillLibrary;
}

export function createSkillHome(t: TestContext): SkillHome {
  const home = createTempHome(t);
  const root = join(home.path, 'skills');
  const warnings: string[] = [];
  let touched = 0;
  return {
    home,
    root,
    warnings,
    skill: (path, header, body = 'Body.') => {
      const name = path.split('/').at(-1) ?? path;
      const file = home.write(
        join('skills', path, 'SKILL.md'),
        `---\n${header ?? `name: ${name}\ndescription: Does ${name}`}\n---\n${body}`,
      );
      // Two writes within one tick of the file system's clock would look the same.
      touched += 1;
      utimesSync(file, 1_700_000_000 + touched, 1_700_000_000 + touched);
      return file;
    },
    open: (options) => {
      mkdirSync(root, { recursive: true });
      const cacheFile = join(home.path, 'cache', skillsCacheName);
      const library = createSkillLibrary({ root, cacheFile, warn: (message) => warnings.push(message), ...options });
      t.after(() => library.close());
      return library;
    },
  };
}

export const HERE = {
  platform: 'linux',
  tools: new Set(['terminal', 'read_file']),
  toolsets: new Set(['terminal', 'file']),
};

export function recordOf(name: string, fields: Partial<SkillRecord> = {}): SkillRecord {
  return {
    ...{ name, createdBy: 'agent', status: 'active', pinned: false, confidence: 0.5 },
    ...{ validatedCount: 0, improvedCount: 0, viewCount: 0, useCount: 0, successCount: 0, failureCount: 0 },
    ...{ attribution: 0, bloodstain: false, lineage: [], version: 1, createdAt: 0, updatedAt: 0 },
    ...fields,
  };
}

export function toolContext(cwd: string): ToolContext {
  return {
    sessionId: 'session-1',
    callId: 'call-1',
    cwd,
    clock: createManualClock({ auto: true }),
    asker: absentAsker,
    spillFolder: cwd,
    history: () => [],
    redact: (text) => text,
    progress: () => undefined,
  };
}
