/** The skill doors as the import sees them, over a plain folder: what it asks of them is written down. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Skill, SkillRecord } from '#mind/skills/skill.ts';
import type { SkillDoors } from '#surfaces/app/commands/import/import-skills.ts';

export interface FakeSkills extends Omit<SkillDoors, 'ledger'> {
  readonly kept: Map<string, SkillRecord>;
  readonly folders: Map<string, string>;
  readonly asked: { readonly name?: string; readonly category?: string; readonly source: string }[];
}

export function createFakeSkills(root: string): FakeSkills {
  const kept = new Map<string, SkillRecord>();
  const folders = new Map<string, string>();
  const asked: FakeSkills['asked'] = [];
  const refused = (detail: string) => ({ ok: false, reason: 'guard-refused', detail }) as const;
  const isReadable = (from: string) => readFileSync(join(from, 'SKILL.md'), 'utf8').startsWith('---');
  const fixed = {
    write: async () => refused('not asked for'),
    rollback: async () => ({ ok: false, reason: 'nothing-to-undo', detail: '' }) as const,
    versions: () => [],
  };
  const installed = (name: string, folder: string) => {
    const path = join(folder, 'SKILL.md');
    const value = { name, folder, path, version: 1, newHash: null, manifestPath: '', proposalId: '', warnings: [] };
    return { ok: true, value } as const;
  };
  return {
    rehearse: async () => ({
      ledger: { get: () => undefined, decide: async () => undefined },
      door: {
        ...fixed,
        install: async ({ from, name = '' }) =>
          isReadable(from) ? installed(name, from) : refused('SKILL.md: no front matter'),
      },
      end: () => undefined,
    }),
    kept,
    folders,
    asked,
    records: {
      get: (name) => kept.get(name),
      put: async (record) => void kept.set(record.name, record),
      mirror: async () => ({ ok: true, value: true }),
    },
    reader: {
      list: () => [],
      get: (name) => (folders.has(name) ? ({ name, folder: folders.get(name) } as unknown as Skill) : undefined),
      record: (name) => kept.get(name),
      file: () => ({ ok: false, reason: 'no-such-file', detail: '' }),
    },
    door: {
      ...fixed,
      install: async ({ from, name = '', category, source }) => {
        asked.push({ name, source, ...(category ? { category } : {}) });
        if (!isReadable(from)) return refused('SKILL.md: no front matter');
        const folder = join(root, category ?? '', name);
        if (existsSync(folder)) return { ok: false, reason: 'name-taken', detail: folder };
        cpSync(from, folder, { recursive: true });
        folders.set(name, folder);
        kept.set(name, recordOf(name));
        return installed(name, folder);
      },
    },
  };
}

function recordOf(name: string): SkillRecord {
  return {
    name,
    createdBy: 'import',
    status: 'active',
    pinned: false,
    confidence: 0.5,
    validatedCount: 0,
    improvedCount: 0,
    viewCount: 0,
    useCount: 0,
    successCount: 0,
    failureCount: 0,
    attribution: 0,
    bloodstain: false,
    lineage: [],
    version: 1,
    createdAt: 1,
    updatedAt: 1,
  };
}
