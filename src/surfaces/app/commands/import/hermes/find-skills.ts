// Owns finding the skills of a hermes-agent home and what its side-car says of their use (core notes 2.7). Reads only.
// Invariant: hidden folders (archive, hub, quarantine) are no skills here, and no link is followed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isJsonObject, type JsonObject, parseJsonObject } from '#base/json.ts';
import { stringOf } from '#mind/sessions/transfer/hermes/map-message.ts';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { SKILL_FILE } from '#mind/skills/format/skill-limits.ts';

export interface FoundSkill {
  readonly folder: string;
  /** As its header says, else as its folder is called. */
  readonly name: string;
  /** Folders between the skills folder and its own, joined by `/`. */
  readonly category: string;
}

export interface FoundSkills {
  readonly skills: readonly FoundSkill[];
  /** Skills that were put away there. */
  readonly archived: number;
  /** Folders that describe a category. */
  readonly described: readonly string[];
}

const DEEPEST = 8;

export function findSkills(root: string): FoundSkills {
  const folders = existsSync(root) ? [...skillFolders(root, 0)] : [];
  const archive = join(root, '.archive');
  return {
    skills: folders.sort().map((folder) => describe(root, folder)),
    archived: existsSync(archive) ? [...skillFolders(archive, 0)].length : 0,
    described: existsSync(root) ? describedCategories(root) : [],
  };
}

function* skillFolders(folder: string, depth: number): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true });
  if (depth > 0 && entries.some((entry) => entry.name === SKILL_FILE)) {
    yield folder;
    return;
  }
  if (depth >= DEEPEST) return;
  for (const entry of entries) {
    if (entry.isDirectory() && !entry.name.startsWith('.')) yield* skillFolders(join(folder, entry.name), depth + 1);
  }
}

function describedCategories(root: string): readonly string[] {
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).filter((name) => existsSync(join(root, name, 'DESCRIPTION.md')));
}

function describe(root: string, folder: string): FoundSkill {
  const category = relative(root, dirname(folder)).split(sep).join('/');
  return { folder, name: headerName(join(folder, SKILL_FILE)) ?? basename(folder), category };
}

/** Undefined when the file cannot be read as a skill: the door will say why. */
function headerName(path: string): string | undefined {
  try {
    const parsed = parseSkill(readFileSync(path, 'utf8'));
    return parsed.ok ? stringOf(parsed.frontmatter.name)?.trim() || undefined : undefined;
  } catch {
    // The door reads it again, and names what is wrong.
    return undefined;
  }
}

/** `.usage.json`: entries by name; an empty map when there is none that can be read. */
export function readUsage(root: string): ReadonlyMap<string, JsonObject> {
  const path = join(root, '.usage.json');
  if (!existsSync(path)) return new Map();
  const parsed = parseJsonObject(readFileSync(path, 'utf8'));
  if (!parsed.ok) return new Map();
  return new Map(Object.entries(parsed.value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])));
}
