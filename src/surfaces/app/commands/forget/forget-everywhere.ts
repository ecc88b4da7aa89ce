// Owns `--everywhere`: the text also leaves what the owner keeps, through the doors of mind. Knows no disk but that of old copies.
// Invariant: memory entries and skill text change only by their doors; what a door refuses stays, and is named afterwards.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MEMORY_TARGETS, type MemoryFiles } from '#mind/memory/memory-files.ts';
import { variantsOf } from '#mind/sessions/forget/select-messages.ts';
import { replacing } from '#mind/sessions/forget/sweep-text.ts';
import { readSkillTree, textOf } from '#mind/skills/door/skill-tree.ts';
import { SKILL_FILE } from '#mind/skills/format/skill-limits.ts';
import type { SkillReader } from '#mind/skills/skill.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';
import type { Home } from '../../home/home.ts';
import { filesBelow, holdsBytes } from './home-files.ts';
import { OLD_COPY } from './still-kept.ts';

export interface KeptDoors {
  readonly memory: MemoryFiles;
  readonly door: SkillDoor;
  readonly reader: SkillReader;
}

export interface ForgottenKept {
  readonly entries: number;
  readonly skills: readonly string[];
}

export async function forgetKept(
  doors: KeptDoors,
  query: { readonly text: string; readonly holds: (text: string) => boolean },
  signal: AbortSignal,
): Promise<ForgottenKept> {
  const entries = await forgetEntries(doors.memory, query.holds, signal);
  const skills: string[] = [];
  for (const { name, folder, writable } of doors.reader.list()) {
    if (writable && (await rewriteSkill(doors.door, { name, folder }, query, signal))) skills.push(name);
  }
  return { entries, skills };
}

async function forgetEntries(
  memory: MemoryFiles,
  holds: (text: string) => boolean,
  signal: AbortSignal,
): Promise<number> {
  let gone = 0;
  for (const target of MEMORY_TARGETS) {
    const state = memory.read(target);
    const entries = state.ok ? state.value.entries.filter(holds) : [];
    for (const entry of entries) {
      const removed = await memory.apply(target, [{ action: 'remove', oldText: entry }], {
        actor: 'owner',
        signal,
      });
      if (removed.ok) gone += 1;
    }
  }
  return gone;
}

async function rewriteSkill(
  door: SkillDoor,
  skill: { readonly name: string; readonly folder: string },
  { text, holds }: { readonly text: string; readonly holds: (text: string) => boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const tree = readSkillTree(skill.folder);
  const replace = replacing(text);
  let changed = false;
  for (const file of tree.ok ? (tree.value?.values() ?? []) : []) {
    const old = textOf(file);
    if (old === undefined || !holds(old)) continue;
    const content = replace(old);
    const change =
      file.path === SKILL_FILE
        ? ({ action: 'edit', content } as const)
        : ({ action: 'write_file', filePath: file.path, content } as const);
    const written = await door.write({ name: skill.name, change, actor: 'owner', approved: true }, signal);
    changed ||= written.ok;
  }
  return changed;
}

/** Earlier texts of skills and old copies of databases. Gives the number of files. */
export function removeOldTexts(home: Home, text: string): number {
  const variants = variantsOf(text);
  const old = [...filesBelow(home.root)].filter(
    (name) => OLD_COPY.test(name) || /^backups[/\\]|^skills[/\\]\.|^memories[/\\].*\.bak\./.test(name),
  );
  const holding = old.map((name) => join(home.root, name)).filter((path) => holdsBytes(path, variants));
  for (const path of holding) rmSync(path, { force: true });
  return holding.length;
}
