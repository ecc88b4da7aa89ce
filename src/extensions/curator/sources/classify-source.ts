// Owns where a skill comes from, and so whether an unattended writer may touch it (seed 002, provenance gate; curator notes 9). Knows no
// disk: paths come resolved, manifests as read. Invariant of ours: whatever is unreadable or unrecorded makes nothing writable.
import { isAbsolute, join, normalize, relative, sep } from 'node:path';
import type { JsonValue } from '#base/json.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { bundledNames, hubNames, type ListedNames } from './read-manifest.ts';

export type CuratorSource =
  | 'external-dir'
  | 'bundled'
  | 'hub-installed'
  | 'local-agent-created'
  | 'unknown'
  | 'missing';

export interface SourceQuestion {
  /** Absolute path of SKILL.md, links resolved. */
  readonly path: string;
  /** The name in the front matter, else the folder's. */
  readonly name: string;
  /** The home whose `skills` folder is the local one. */
  readonly home: string;
  /** `.bundled_manifest`: its text or its names; absent when there is none, null when it cannot be read. */
  readonly bundled?: JsonValue;
  /** `.hub/lock.json`: its text, its data or its names; absent when there is none, null when it cannot be read. */
  readonly hub?: JsonValue;
  /** External folders of the configuration, text or list; null when the configuration cannot be read. */
  readonly externalDirs?: JsonValue;
  /** Who the skill's record names as its maker; only `agent` is writable. Not heard in `compat`. */
  readonly createdBy?: string | null;
}

/** The one word of unattended writing. */
export function isWritableSource(source: string): boolean {
  return source === 'local-agent-created';
}

/**
 * Where a skill comes from, in one word; only `local-agent-created` may be written unattended (seed 002, provenance gate; notes 9). In:
 * its resolved path, its name, the home, and what the manifests and the configuration list, absent or null when unreadable. Out:
 * `external-dir`, `bundled`, `hub-installed`, `local-agent-created` or `unknown`, by the first test that fits. Ours wants the record of
 * the agent (`createdBy`) and readable manifests; the original goes by the path alone. Reads no disk, throws nothing.
 */
export function classifySource(question: SourceQuestion, options: CompatOptions = {}): CuratorSource {
  const upstream = options.compat === 'upstream';
  const local = join(question.home, 'skills');
  const outside = externalFolders(question.externalDirs, question.home, local);
  if (outside !== 'unreadable' && outside.some((folder) => isInside(question.path, folder))) return 'external-dir';
  const bundled = bundledNames(question.bundled);
  if (lists(bundled, question, upstream)) return 'bundled';
  const hub = hubNames(question.hub);
  if (lists(hub, question, upstream)) return 'hub-installed';
  if (!isInside(question.path, local)) return 'unknown';
  if (upstream) return 'local-agent-created';
  const isKnown = bundled !== 'unreadable' && hub !== 'unreadable' && outside !== 'unreadable';
  return isKnown && question.createdBy === 'agent' ? 'local-agent-created' : 'unknown';
}

/** Ours also asks for the folder's name: a bundled skill stays bundled when its front matter says something else. */
function lists(names: ListedNames, { name, path }: SourceQuestion, upstream: boolean): boolean {
  if (names === 'unreadable') return false;
  if (names.has(name)) return true;
  return !upstream && names.has(folderName(path));
}

function folderName(path: string): string {
  return normalize(path).split(sep).at(-2) ?? '';
}

function externalFolders(given: JsonValue | undefined, home: string, local: string): readonly string[] | 'unreadable' {
  if (given === undefined) return [];
  const list = typeof given === 'string' ? [given] : given;
  if (!Array.isArray(list)) return 'unreadable';
  const folders = list
    .filter((entry) => typeof entry === 'string' && entry.trim() !== '')
    .map((entry) => String(entry).trim());
  const resolved = folders.map((folder) => clean(isAbsolute(folder) ? folder : join(home, folder)));
  return resolved.filter((folder) => folder !== clean(local));
}

function isInside(path: string, folder: string): boolean {
  const way = relative(clean(folder), clean(path));
  return isAbsolute(path) && way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function clean(path: string): string {
  const normal = normalize(path);
  return normal.length > 1 && normal.endsWith(sep) ? normal.slice(0, -1) : normal;
}
