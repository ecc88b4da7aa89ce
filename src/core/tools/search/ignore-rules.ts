// Owns what a search leaves out: folders that are never looked into, and the rules of .gitignore files (the common part of their syntax).
// Knows no search. Invariant: any file is a legal rule file; the last rule that fits decides, deeper files decide over shallower ones.
import { escapeRegExp, globSource } from './glob.ts';

export const NEVER_ENTERED: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  '__pycache__',
  '.venv',
  '.tox',
  '.mypy_cache',
  '.pytest_cache',
]);

interface IgnoreRule {
  readonly test: RegExp;
  readonly keep: boolean;
  readonly foldersOnly: boolean;
}

/** The rules of one file, for paths relative to its folder. */
export type IgnoreFile = readonly IgnoreRule[];

export interface IgnoreScope {
  /** Path of the rule file's folder relative to the searched folder, '' or ending in `/`; `../` parts never occur. */
  readonly prefix: string;
  /** What a path of the search is called seen from the rule file's folder, when that lies above. */
  readonly above: string;
  readonly rules: IgnoreFile;
}

const MAX_RULES = 5_000;

export function parseIgnoreFile(text: string): IgnoreFile {
  return text.split(/\r?\n/).slice(0, MAX_RULES).flatMap(parseRule);
}

function parseRule(raw: string): readonly IgnoreRule[] {
  const line = raw.replace(/(?<!\\)\s+$/, '');
  if (line === '' || line.startsWith('#') || line.length > 1_000) return [];
  const keep = line.startsWith('!');
  const body = line.slice(keep ? 1 : 0).replace(/^\\([#!])/, '$1');
  const foldersOnly = body.endsWith('/');
  const path = foldersOnly ? body.slice(0, -1) : body;
  const anchored = path.slice(0, -1).includes('/') || path.startsWith('/');
  const source = globSource(path.replace(/^\//, ''));
  if (source === '') return [];
  return [{ test: compile(anchored ? `^${source}$` : `^(?:.*/)?${source}$`, path), keep, foldersOnly }];
}

function compile(source: string, literal: string): RegExp {
  try {
    return new RegExp(source, 's');
  } catch (error) {
    if (error instanceof SyntaxError) return new RegExp(`^${escapeRegExp(literal)}$`);
    throw error;
  }
}

/** `path` is relative to the searched folder; `scopes` go from the outermost folder inwards. */
export function isIgnored(path: string, isFolder: boolean, scopes: readonly IgnoreScope[]): boolean {
  for (let i = scopes.length - 1; i >= 0; i -= 1) {
    const scope = scopes[i];
    const verdict = scope ? judge(scope.above + path.slice(scope.prefix.length), isFolder, scope.rules) : undefined;
    if (verdict !== undefined) return verdict;
  }
  return false;
}

function judge(path: string, isFolder: boolean, rules: IgnoreFile): boolean | undefined {
  for (let i = rules.length - 1; i >= 0; i -= 1) {
    const rule = rules[i];
    if (rule && (isFolder || !rule.foldersOnly) && rule.test.test(path)) return !rule.keep;
  }
  return undefined;
}
