/**
 * Owns the picture of a source tree: its files, their rooms and the resolved arrows between them.
 * It judges nothing but what cannot be resolved. `src` files import by `#` or relative; the other
 * folders are read too, so that a wrong specifier there is found before run time.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { type ImportEdge, type ModuleText, readModule } from './read-imports.ts';

export interface Arrow extends ImportEdge {
  /** Path of the imported file, relative to the root, with `/`. */
  readonly target: string;
}

export interface SourceFile {
  readonly path: string;
  readonly room: string;
  readonly text: ModuleText;
  readonly arrows: readonly Arrow[];
}

export interface Tree {
  readonly root: string;
  /** Files under `src`. */
  readonly sources: readonly SourceFile[];
  /** Files of the other folders that import from `src`. */
  readonly others: readonly SourceFile[];
  readonly problems: readonly string[];
}

const otherFolders = ['test', 'scripts', 'bench', 'examples'];

export function loadTree(root: string): Tree {
  const problems: string[] = [];
  const load = (folder: string): SourceFile[] =>
    listTypeScript(root, folder).map((path) => loadFile(root, path, problems));
  const sources = load('src');
  const others = otherFolders.flatMap((folder) => load(folder));
  if (sources.length === 0) problems.push('no file under src: nothing was checked');
  return { root, sources, others, problems };
}

/** `src/core/model/message.ts` → `core/model`; `src/base/x/y.ts` → `base`; elsewhere the first folder. */
export function roomOf(path: string): string {
  const [top = '', first = '', second = ''] = path.split('/');
  if (top !== 'src') return top;
  if (first === 'base' || first === 'public' || first === 'testing') return first;
  return second.endsWith('.ts') ? first : `${first}/${second}`;
}

function listTypeScript(root: string, folder: string): readonly string[] {
  const start = join(root, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.startsWith('test/fixtures/'))
    .sort();
}

function loadFile(root: string, path: string, problems: string[]): SourceFile {
  const text = readModule(join(root, path));
  const arrows: Arrow[] = [];
  for (const edge of text.imports) {
    const target = resolveSpecifier(path, edge.specifier);
    if (target === undefined) continue;
    const isThere = existsSync(join(root, target));
    // Data has no imports of its own.
    if (isThere && target.endsWith('.json')) continue;
    if (isThere && target.endsWith('.ts')) arrows.push({ ...edge, target });
    else problems.push(`${path}:${edge.line} cannot find ${edge.specifier}`);
  }
  return { path, room: roomOf(path), text, arrows };
}

function resolveSpecifier(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return normalize(`src/${specifier.slice(1)}`);
  if (specifier.startsWith('.'))
    return normalize(join(dirname(from), specifier))
      .split(sep)
      .join('/');
  return undefined;
}
