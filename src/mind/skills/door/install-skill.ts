// Owns taking a folder from outside in: reading it without following links out of it, its name, the guard by its source. Knows no
// network. Invariant: the source folder is only read; it comes in whole or not at all; what was asked of the owner is lifted by `force`,
// what the guard refuses never is (core notes 2.8).
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { errorText, TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Finding } from '#mind/evidence/guard/finding.ts';
import { SKILL_FILE, skillLimits } from '../format/skill-limits.ts';
import type { SkillSource } from '../skill.ts';
import type { SkillDoor } from '../skill-door.ts';
import { askGuard } from './ask-guard.ts';
import type { Committed } from './commit.ts';
import { commitChange } from './commit-change.ts';
import type { DoorParts } from './door-parts.ts';
import { locateSkill } from './locate-skill.ts';
import { type SkillFile, type SkillTree, textOf, treeOf, withFile } from './skill-tree.ts';
import { newTarget } from './write-skill-change.ts';

export type InstallRequest = Parameters<SkillDoor['install']>[0];

export interface ReadyToInstall {
  readonly name: string;
  readonly tree: SkillTree;
}

const MAX_FILES = 1_000;
const MAX_BYTES = 64 * 1_048_576;

/** How the guard looks on each source; an import is what this owner's other agent wrote. */
const GUARD_SOURCE: Readonly<Record<InstallRequest['source'], SkillSource>> = {
  trusted: 'trusted',
  community: 'community',
  import: 'agent',
};

/** Reads the folder and finds the name that it will have; under another name than its own its header says that name too. */
export async function readInstall(
  request: InstallRequest,
): Promise<Result<ReadyToInstall, 'target-not-found' | 'outside-folder' | 'too-large' | 'invalid-skill'>> {
  const tree = tryRead(request.from);
  if (!tree.ok) return tree;
  const text = textOf(tree.value.get(SKILL_FILE));
  if (text === undefined) return refuse('invalid-skill', `${request.from} has no ${SKILL_FILE} in UTF-8.`);
  const { parseSkill } = await import('../format/parse-skill.ts');
  const parsed = parseSkill(text);
  if (!parsed.ok) return refuse(parsed.reason === 'too-large' ? 'too-large' : 'invalid-skill', parsed.detail);
  const written = String(parsed.frontmatter.name ?? '').trim();
  const name = request.name ?? (written || basename(request.from));
  // What is imported stays as it was; its folder has the name.
  if (written === '' || written === name || request.source === 'import') return ok({ name, tree: tree.value });
  const { renameSkill } = await import('../format/rename-skill.ts');
  const renamed = renameSkill(text, name);
  return renamed.ok ? ok({ name, tree: withFile(tree.value, SKILL_FILE, Buffer.from(renamed.value)) }) : renamed;
}

/** What the judge has against a stranger's skill; before the lock, since a model takes its time. */
export async function doubtsOf(
  { guard }: DoorParts,
  { source, force, judge }: InstallRequest,
  { name, tree }: ReadyToInstall,
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  if (source !== 'community' || force === true || judge === undefined) return [];
  const texts = [...tree].flatMap(([path, file]) => ({ path, text: textOf(file) ?? '' }));
  const report = await guard.scan([...tree.values()]);
  const { secondOpinion } = await import('#mind/evidence/guard/second-opinion.ts');
  return secondOpinion(judge, { name, report, files: texts }, signal);
}

/** Under the skill's lock. */
export async function installTree(
  parts: DoorParts,
  {
    request,
    ready,
    more,
    proposalId,
  }: {
    readonly request: InstallRequest;
    readonly ready: ReadyToInstall;
    readonly more: readonly Finding[];
    readonly proposalId: string;
  },
): Promise<Committed> {
  const { name, tree } = ready;
  const isTaken = (await locateSkill(parts, name)) !== undefined;
  const target = newTarget(parts, name, { category: request.category ?? '', isTaken });
  if (!target.ok) return target;
  const passed = await askGuard(parts.guard, {
    tree,
    source: GUARD_SOURCE[request.source],
    isAccepted: request.force === true,
    more,
  });
  if (!passed.ok) return passed;
  return commitChange(parts, {
    name,
    folder: target.value.folder,
    before: undefined,
    after: tree,
    proposalId,
    made: { actor: actorOf(request), action: 'install', source: request.source },
    verifiers: parts.verifiers,
    warnings: passed.warnings,
  });
}

export function actorOf({ source }: InstallRequest): 'import' | 'install' {
  return source === 'import' ? 'import' : 'install';
}

function tryRead(from: string): ReturnType<typeof readOutside> {
  try {
    return readOutside(from);
  } catch (error) {
    throw new TalariaError(`cannot read ${from}: ${errorText(error)}`, { code: 'read-failed', cause: error });
  }
}

function readOutside(from: string): Result<SkillTree, 'target-not-found' | 'outside-folder' | 'too-large'> {
  let home: string;
  try {
    home = realpathSync(from);
    if (!statSync(home).isDirectory()) return refuse('target-not-found', `${from} is no folder.`);
  } catch (error) {
    return refuse('target-not-found', `${from} cannot be read: ${errorText(error)}`);
  }
  const files: SkillFile[] = [];
  let bytes = 0;
  for (const path of walkOutside(home, '', 0)) {
    const file = readOne(home, path);
    if (!file.ok) return file;
    bytes += file.value?.bytes.length ?? 0;
    if (files.length >= MAX_FILES || bytes > MAX_BYTES)
      return refuse('too-large', `${from} has too many or too large files for a skill.`);
    if (file.value) files.push(file.value);
  }
  return ok(treeOf(files));
}

/** Undefined for what is no file: a pipe, a link to a folder. */
function readOne(home: string, path: string): Result<SkillFile | undefined, 'outside-folder' | 'too-large'> {
  const real = realpathSync(join(home, path));
  if (!real.startsWith(home + sep)) return refuse('outside-folder', `${path} is a link out of the folder.`);
  const stats = statSync(real);
  const { size, mode } = stats;
  if (!stats.isFile()) return ok(undefined);
  const limit = path === SKILL_FILE ? skillLimits.text * 4 : skillLimits.supportBytes;
  if (size > limit)
    return refuse(
      'too-large',
      `${path} has ${size.toLocaleString('en-US')} bytes, over ${limit.toLocaleString('en-US')}.`,
    );
  return ok({ path, bytes: readFileSync(real), executable: (mode & 0o100) !== 0 });
}

const MAX_DEPTH = 12;

/** Files and links to files; hidden names, and links to folders, stay behind. */
function* walkOutside(home: string, below: string, depth: number): Generator<string> {
  if (depth > MAX_DEPTH) return;
  for (const name of readdirSync(join(home, below))) {
    if (name.startsWith('.')) continue;
    const path = below === '' ? name : `${below}/${name}`;
    if (lstatSync(join(home, path)).isDirectory()) yield* walkOutside(home, path, depth + 1);
    else yield path;
  }
}
