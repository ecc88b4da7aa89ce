/**
 * Keeps the start in few files. The bundler makes a chunk of every set of modules that the same entries reach, and each part that is loaded
 * later is an entry: left alone, a start reads some eighty files, most of them of one small module. Here all that is loaded later
 * reaches the small modules of the start, so that most of them share one chunk. Public entries are left as light as they are.
 */
import { dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const ENTRY = 'entry';
const SHARED = 'shared';
/** Bytes of a chunk that is not worth a file of its own. */
const SMALL = 16_000;
/** What `talaria -p` loads before it asks the model. */
const START = ['src/surfaces/cli/main.ts', 'src/surfaces/cli/run-cli.ts', 'src/surfaces/cli/print/print-mode.ts'];
const COMPOSE = 'src/surfaces/app/compose.ts';

/** Modules, relative to the root, that all of it is to reach: small ones of the start that need no package. */
export async function smallStartModules(options: BuildOptions): Promise<readonly string[]> {
  const { metafile } = await build({ ...options, metafile: true, write: false });
  if (metafile === undefined) throw new Error('the bundler gave no metafile');
  const chunks = startChunks(metafile).filter((path) => (metafile.outputs[path]?.bytes ?? 0) < SMALL);
  const found = chunks.flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}));
  const own = new Set(START);
  return found.filter((path) => path.startsWith('src/') && !own.has(path) && needsNoPackage(metafile, path)).sort();
}

function startChunks({ outputs }: Metafile): readonly string[] {
  const entries = new Set([...START, COMPOSE]);
  const waiting = Object.keys(outputs).filter((path) => entries.has(outputs[path]?.entryPoint ?? ''));
  const seen = new Set(waiting);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const { kind, path: next } of outputs[path]?.imports ?? []) {
      if (kind !== 'import-statement' || seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return [...seen];
}

function needsNoPackage({ inputs }: Metafile, path: string, seen = new Set<string>()): boolean {
  if (seen.has(path)) return true;
  seen.add(path);
  if (path.includes('node_modules/')) return false;
  const needs = inputs[path]?.imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true);
  return (needs ?? []).every((one) => needsNoPackage({ inputs, outputs: {} }, one.path, seen));
}

/** What is imported later imports `modules` first. */
export function startChunk(root: string, modules: readonly string[]): Plugin {
  return {
    name: 'start-chunk',
    setup(bundler) {
      bundler.onResolve({ filter: /./ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (pluginData === ENTRY || kind !== 'dynamic-import') return undefined;
        const found = await bundler.resolve(path, {
          kind: 'import-statement',
          importer,
          resolveDir,
          pluginData: ENTRY,
        });
        const own = relative(root, found.path);
        if (found.external || !own.startsWith('src')) return undefined;
        return { path: own.replaceAll('\\', '/'), namespace: ENTRY };
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
    },
  };
}
