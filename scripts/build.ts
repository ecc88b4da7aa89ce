/**
 * Builds `dist`: one bundle with shared chunks, an entry for the command and one for every public entry.
 * `node scripts/build.ts [--clean] [--if-stale] [--out DIR]`. A warning of the bundler is a failure. Files are moved in
 * by rename, entries last; chunks of earlier builds stay a day for processes that may still load them.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { builtinModulesLater } from './build/builtin-modules.ts';
import { schemasLater } from './build/schemas-later.ts';
import { startChunk, startModules } from './build/start-chunk.ts';
import { noticesFor } from './build/third-party-notices.ts';
import { wasmFiles } from './build/wasm-files.ts';

/** Packages written as CommonJS ask for `require`, which an ES module does not have. Made when it is called: a start pays nothing for it. */
const requireBanner = [
  "const bundleRequire = () => process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  'const require = (name) => bundleRequire()(name);',
  'require.resolve = (...wanted) => bundleRequire().resolve(...wanted);',
].join(' ');
const keepChunksMs = 24 * 60 * 60 * 1000;
const abandonedMs = 5 * 60 * 1000;
const { values } = parseArgs({
  options: { clean: { type: 'boolean' }, 'if-stale': { type: 'boolean' }, out: { type: 'string', default: 'dist' } },
});
const root = resolve(import.meta.dirname, '..');
const out = resolve(root, values.out);

if (values['if-stale'] === true && isFresh()) process.exit(0);
mkdirSync(out, { recursive: true });
removeAbandoned();
const staging = mkdtempSync(join(out, '.building-'));
try {
  const { version } = readPackage();
  const options: BuildOptions = {
    absWorkingDir: root,
    entryPoints: { main: 'src/surfaces/cli/main.ts' },
    outdir: staging,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    chunkNames: 'chunks/[name]-[hash]',
    assetNames: 'chunks/[name]-[hash]',
    loader: { '.wasm': 'file' },
    logLevel: 'warning',
    plugins: [oneLocale(), wasmFiles(), builtinModulesLater()],
    define: { TALARIA_VERSION: JSON.stringify(version) },
    external: ['node-llama-cpp', '@huggingface/transformers'],
    banner: { js: requireBanner },
    minifyWhitespace: true,
    minifySyntax: true,
    metafile: true,
  };
  const plugins = options.plugins ?? [];
  const late = [schemasLater(root), ...plugins];
  const { metafile: parts } = await build({ ...options, plugins: late, metafile: true, write: false });
  const together = startChunk(root, startModules(parts));
  const define = { ...options.define, TALARIA_BUILD: JSON.stringify(fingerprint(Object.keys(parts.inputs))) };
  const results = await Promise.all([
    build({
      ...options,
      define,
      plugins: [packagesByName(/^(?:viem|yaml$|@nats-io)/, "import 'shared:start'; "), ...late, together],
    }),
    build({ ...options, entryPoints: publicEntries() }),
    build({ ...options, splitting: false, entryPoints: threadEntries(), plugins: [...plugins, packagesByName()] }),
  ]);
  const warnings = results.flatMap((result) => result.warnings);
  if (warnings.length > 0) throw new Error(warnings.map((warning) => warning.text).join('\n'));
  // Files of a plugin's own (`entry:…`) are nobody's work.
  const inputs = results
    .flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {}))
    .filter((path) => !path.includes(':'));
  writeFileSync(join(staging, 'THIRD_PARTY_NOTICES'), noticesFor(root, inputs));
  publish();
} finally {
  rmSync(staging, { recursive: true, force: true });
}

/** No file that goes into the bundle, or says how it is made, is newer than it. */
function isFresh(): boolean {
  const main = join(out, 'main.js');
  if (!existsSync(main)) return false;
  const built = statSync(main).mtimeMs;
  const sources = ['src', 'scripts'].flatMap((folder) => filesIn(join(root, folder)).map((file) => join(folder, file)));
  return ['package.json', ...sources].every((file) => statSync(join(root, file)).mtimeMs <= built);
}

/** Changes with every file that is built in. */
function fingerprint(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of [...files].sort()) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(`${file}\n`).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 24);
}

/** zod carries its messages in some fifty languages; a start would load them all. */
function oneLocale(): Plugin {
  const asModule = "export { default as en } from './en.js';";
  const asCommonJs = "exports.en = require('./en.cjs').default;";
  return {
    name: 'one-locale',
    setup: ({ onLoad }) =>
      onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.c?js$/ }, ({ path }) => ({
        contents: path.endsWith('.cjs') ? asCommonJs : asModule,
      })),
  };
}

/** A thread is one file: a package that it imports when it is needed is built in with the names asked of it there; else all of it would come along. */
function packagesByName(filter = /^@?[a-z]/, first = ''): Plugin {
  const names = new Map<string, string>();
  for (const file of filesIn(join(root, 'src')).filter((path) => path.endsWith('.ts'))) {
    const source = readFileSync(join(root, 'src', file), 'utf8');
    for (const [, asked = '', of = ''] of source.matchAll(/const \{ ([\w, ]+) \} = await import\('([^'#.:]+)'\)/g))
      names.set(of, [names.get(of) ?? [], asked].flat().join(', '));
  }
  return {
    name: 'packages-by-name',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter }, ({ path, kind }) =>
        kind === 'dynamic-import' && names.has(path) ? { path, namespace: 'asked-of' } : undefined,
      );
      onLoad({ filter: /./, namespace: 'asked-of' }, ({ path }) => ({
        contents: `${first}export { ${names.get(path)} } from '${path}';`,
        resolveDir: root,
      }));
    },
  };
}

function readPackage(): { readonly version: string; readonly exports: Readonly<Record<string, string>> } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

/** `src/public/sessions.ts` → `dist/sessions.js`, beside `dist/main.js` but with chunks of their own, which stay as light as they are. */
function publicEntries(): Record<string, string> {
  const entries: Record<string, string> = {};
  for (const path of Object.values(readPackage().exports)) {
    if (path.endsWith('.ts')) entries[path.split('/').at(-1)?.replace(/\.ts$/, '') ?? path] = path;
  }
  return entries;
}

/** `src/…/x.worker.ts` → `dist/x.worker.js`: a thread is a file of its own, whole, so that it takes no part in the chunks of the start. */
function threadEntries(): Record<string, string> {
  const files = filesIn(join(root, 'src')).filter((path) => path.endsWith('.worker.ts'));
  return Object.fromEntries(files.map((path) => [basename(path, '.ts'), join('src', path)]));
}

/** What a build leaves that was killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(out)) {
    const path = join(out, name);
    if (name.startsWith('.building-') && Date.now() - statSync(path).mtimeMs > abandonedMs)
      rmSync(path, { recursive: true });
  }
}

function publish(): void {
  const files = filesIn(staging).sort((a, b) => Number(b.startsWith('chunks/')) - Number(a.startsWith('chunks/')));
  mkdirSync(join(out, 'chunks'), { recursive: true });
  for (const file of files) renameSync(join(staging, file), join(out, file));
  const fresh = new Set(files);
  const oldest = values.clean === true ? Number.POSITIVE_INFINITY : Date.now() - keepChunksMs;
  for (const file of filesIn(out)) {
    const mine = fresh.has(file) || file.startsWith('types/') || file.startsWith('.building-');
    if (!mine && statSync(join(out, file)).mtimeMs < oldest) rmSync(join(out, file));
  }
  console.log(`build: ${files.length} files in ${relative(process.cwd(), out) || out}`);
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
