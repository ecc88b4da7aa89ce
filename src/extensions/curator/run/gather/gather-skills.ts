// Owns the skills of one run as the planner wants them (curator notes 8.3): from the library for the home's own folder, else by a walk.
// Knows no evidence. Invariant: a SKILL.md of the own folder is read when the planner looks at it and not before; two looks see one text.

import { type Dirent, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { recordOfFolder } from '#mind/skills/record/record-of-folder.ts';
import type { CuratorGround, CuratorMind } from '../../curator-ground.ts';
import { parseSkillHeader } from '../../header/parse-skill-header.ts';
import type { PlanningSkill } from '../../plan/planned-skill.ts';
import { realOf } from '../real-path.ts';
import { readSkillFile } from './read-skill-file.ts';
import { readOrigins, type SkillOrigins } from './skill-origins.ts';

export interface GatherQuestion {
  /** Absolute. */
  readonly skillsDir: string;
  /** It is the home's own folder. */
  readonly isLocal: boolean;
  /** Names that the evidence gives. */
  readonly wanted: ReadonlySet<string>;
}

export interface GatheredSkills {
  readonly skills: readonly PlanningSkill[];
  readonly origins: SkillOrigins;
}

export async function gatherSkills(
  { ground, mind }: { readonly ground: CuratorGround; readonly mind: CuratorMind },
  { skillsDir, isLocal, wanted }: GatherQuestion,
  signal: AbortSignal,
): Promise<GatheredSkills> {
  const origins = readOrigins({
    home: ground.places.home,
    skillsDir,
    externalDirs: mind.externalSkills,
    createdBy: (name, folder) => (isLocal ? recordOfFolder(mind.state, { name, folder })?.created_by : undefined),
  });
  if (!isLocal) return { skills: found(skillsDir, origins, () => true), origins };
  await mind.skills.ready(signal);
  const known = mind.skills
    .list()
    .map(({ name, folder }) =>
      planningSkill({ name, path: join(folder, 'SKILL.md'), isPinned: () => isPinned(mind, name) }, origins),
    );
  return { skills: [...known, ...unlisted(known, { skillsDir, wanted, origins })], origins };
}

function isPinned(mind: CuratorMind, name: string): boolean {
  return mind.skills.record(name)?.pinned === true;
}

/** What the evidence names and the library does not list: behind a link, or no text any more. To be shown with its reason, not written. */
function unlisted(
  known: readonly PlanningSkill[],
  { skillsDir, wanted, origins }: Pick<GatherQuestion, 'skillsDir' | 'wanted'> & { readonly origins: SkillOrigins },
): readonly PlanningSkill[] {
  const names = new Set(known.map(({ name }) => name));
  const missing = new Set([...wanted].filter((name) => !names.has(name)));
  if (missing.size === 0) return [];
  const isMeant = ({ path, linked }: SkillPath) => linked || missing.has(basename(dirname(path)));
  return found(skillsDir, origins, isMeant).filter(({ name }) => missing.has(name));
}

/** By the names of their headers, so each that is meant is read. */
function found(root: string, origins: SkillOrigins, isMeant: (place: SkillPath) => boolean): readonly PlanningSkill[] {
  return walkSkillFiles(root)
    .filter(isMeant)
    .flatMap(({ path }) => {
      const read = readSkillFile(path);
      if (!read.ok && read.reason === 'skill-file-not-found') return [];
      const name = (read.ok ? parseSkillHeader(read.value)?.name : null) ?? basename(dirname(path));
      return [planningSkill({ name, path, isPinned: () => false }, origins, () => read)];
    });
}

interface FoundSkill {
  readonly name: string;
  readonly path: string;
  readonly isPinned: () => boolean;
}

function planningSkill(
  { name, path, isPinned: pinned }: FoundSkill,
  origins: SkillOrigins,
  readFile = () => readSkillFile(path),
): PlanningSkill {
  const read = once(readFile);
  const source = once(() => origins.sourceOf(name, path));
  const refusal = once(() => (pinned() ? 'pinned-skill' : reasonOf(read())));
  return {
    name,
    path,
    get text() {
      const text = read();
      return text.ok ? text.value : '';
    },
    get source() {
      return source();
    },
    get refusal() {
      return refusal();
    },
  };
}

function reasonOf(read: ReturnType<typeof readSkillFile>): string | null {
  return read.ok ? null : read.reason;
}

/** The same skill, not to be looked at any more in this run. */
export function refusedSkill({ name, path, source }: PlanningSkill, reason: string): PlanningSkill {
  return { name, path, source, text: '', refusal: reason };
}

function once<T>(make: () => T): () => T {
  let kept: { readonly value: T } | undefined;
  return () => {
    kept ??= { value: make() };
    return kept.value;
  };
}

interface SkillPath {
  /** Absolute, of SKILL.md, as it was reached. */
  readonly path: string;
  /** The way there, or the file itself, is a link. */
  readonly linked: boolean;
}

const FILE = 'SKILL.md';
const SKIPPED: ReadonlySet<string> = new Set(['.archive', '.curator_backups', '.hub', '.git', 'node_modules']);
const DEEPEST = 12;

function walkSkillFiles(root: string): readonly SkillPath[] {
  return [...walk({ folder: root, linked: false, depth: 0 }, new Set())];
}

interface Place {
  readonly folder: string;
  readonly linked: boolean;
  readonly depth: number;
}

function* walk(place: Place, seen: Set<string>): Generator<SkillPath, void, undefined> {
  const { folder, linked, depth } = place;
  const real = realOf(folder);
  if (real === undefined || seen.has(real) || depth > DEEPEST) return;
  seen.add(real);
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    const isLinked = linked || entry.isSymbolicLink();
    if (entry.name === FILE && kindOf(path, entry) === 'file') yield { path, linked: isLinked };
    else if (!SKIPPED.has(entry.name) && kindOf(path, entry) === 'folder')
      yield* walk({ folder: path, linked: isLinked, depth: depth + 1 }, seen);
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
}

function kindOf(path: string, entry: Dirent): 'file' | 'folder' | 'other' {
  const found = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry;
  if (found?.isFile()) return 'file';
  return found?.isDirectory() ? 'folder' : 'other';
}
