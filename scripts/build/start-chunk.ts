/**
 * Keeps the start in one file. The bundler makes a chunk of every set of modules that the same entries reach, and each part that is loaded
 * later is an entry: left alone, a start reads some eighty files. Here all that is loaded later reaches every module of the start, so that
 * these share one chunk, and what a start asks for in any case it asks for at once. Public entries are another build.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Metafile, Plugin } from 'esbuild';

const ENTRY = 'entry';
const SHARED = 'shared';
const FIRST = 'src/surfaces/cli/run-cli.ts';
/** What `talaria -p` imports before it asks the model, although it stands there as an import for later. */
const ALWAYS = [
  'src/surfaces/cli/print-mode.ts',
  'src/surfaces/cli/piped-input.ts',
  'src/surfaces/app/house.ts',
  'src/surfaces/app/compose.ts',
  'src/surfaces/app/home/session-door.ts',
  'src/mind/sessions/files/file-checkpoints.ts',
  'src/mind/sessions/session-search-tool.ts',
];
/** So are the fronts of the rooms, and what opens them. */
const FRONT = /^src\/(?:[a-z]+\/){2,3}(?:open-|seat-)?room\.ts$/;
/** `typeof import('…')` is a type. */
const LATER = /(?<!typeof )\bimport\('([^']+)'\)/g;

/** Modules of the start, relative to the root. */
export function startModules(metafile: Metafile): readonly string[] {
  return reached(metafile).filter((path) => path.startsWith('src/') && path !== FIRST);
}

function isAlways(path: string): boolean {
  return ALWAYS.includes(path) || FRONT.test(path);
}

function reached({ inputs }: Metafile): readonly string[] {
  const waiting = [FIRST, ...Object.keys(inputs).filter(isAlways)];
  const seen = new Set(waiting);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const { kind, path: next, external } of inputs[path]?.imports ?? []) {
      if (kind !== 'import-statement' || external === true || seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return [...seen].sort();
}

/** What is imported later imports `modules` first. */
export function startChunk(root: string, modules: readonly string[]): Plugin {
  const own = (path: string) => relative(root, path).replaceAll('\\', '/');
  const known = new Set([...modules, FIRST]);
  return {
    name: 'start-chunk',
    setup(bundler) {
      bundler.onResolve({ filter: /./ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (pluginData === ENTRY || kind !== 'dynamic-import') return undefined;
        const later = { kind: 'import-statement', importer, resolveDir, pluginData: ENTRY } as const;
        const found = await bundler.resolve(path, later);
        if (found.external) return undefined;
        return { path: own(found.path), namespace: ENTRY };
      });
      bundler.onLoad({ filter: /./, namespace: ENTRY }, ({ path }) => ({
        contents: `import '${SHARED}:start'; export * from './${path.split('/').at(-1)}';`,
        resolveDir: dirname(join(root, path)),
      }));
      bundler.onResolve({ filter: /^shared:/ }, () => ({ path: 'start', namespace: SHARED }));
      bundler.onLoad({ filter: /./, namespace: SHARED }, () => ({
        contents: modules.map((path) => `import './${path}';`).join('\n'),
        resolveDir: root,
      }));
      bundler.onLoad({ filter: /src[\\/].*\.ts$/ }, async ({ path }) => {
        if (!known.has(own(path))) return undefined;
        const contents = await importedAtOnce(readFileSync(path, 'utf8'), async (wanted) => {
          const from = {
            kind: 'import-statement',
            importer: path,
            resolveDir: dirname(path),
            pluginData: ENTRY,
          } as const;
          return isAlways(own((await bundler.resolve(wanted, from)).path));
        });
        return contents === undefined ? undefined : { contents, loader: 'ts' };
      });
    },
  };
}

/** `import('./x.ts')` of what is there anyway, as a module that is there. */
async function importedAtOnce(code: string, isThere: (path: string) => Promise<boolean>): Promise<string | undefined> {
  const wanted = [...new Set([...code.matchAll(LATER)].map(([, path = '']) => path))];
  const there = (await Promise.all(wanted.map(async (path) => ((await isThere(path)) ? [path] : [])))).flat();
  if (there.length === 0) return undefined;
  const names = new Map(there.map((path, at) => [path, `presentModule${at}`]));
  const replaced = code.replace(LATER, (whole, path: string) => {
    const name = names.get(path);
    return name === undefined ? whole : `Promise.resolve(${name})`;
  });
  const imports = [...names].map(([path, name]) => `import * as ${name} from '${path}';`);
  return `${imports.join(' ')} ${replaced}`;
}
