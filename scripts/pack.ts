/**
 * Turns package.json into its published form and back: `node scripts/pack.ts swap|restore [--root DIR]`. Entries point at
 * the source in a checkout and at `dist` in a tarball; npm reads package.json again after `prepack`.
 * If packing dies between the two, `restore` brings the original back.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { root: { type: 'string' } } });
const root = resolve(values.root ?? join(import.meta.dirname, '..'));
const published = join(root, 'package.json');
const original = join(root, '.package.source.json');
const developmentOnly = ['scripts', 'devDependencies', 'allowScripts', 'knip'];

const [verb] = positionals;
if (verb === 'swap') swap();
else if (verb === 'restore') restore();
else throw new Error('usage: node scripts/pack.ts swap|restore');

function swap(): void {
  restore();
  const text = readFileSync(published, 'utf8');
  const manifest: { exports: Record<string, string> } & Record<string, unknown> = JSON.parse(text);
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([name, path]) => [name, publishedEntry(path)]),
  );
  const kept = Object.entries(manifest).filter(([key]) => !developmentOnly.includes(key));
  // The declarations keep their `#` imports; this line is what lets a user's TypeScript follow them.
  const imports = { '#*.ts': { types: './dist/types/*.d.ts' } };
  writeFileSync(original, text);
  writeFileSync(published, `${JSON.stringify({ ...Object.fromEntries(kept), imports, exports }, null, 2)}\n`);
}

function publishedEntry(path: string): string | { readonly types: string; readonly default: string } {
  if (!path.endsWith('.ts')) return path;
  const name = path.replace(/^.*\//, '').replace(/\.ts$/, '');
  return { types: path.replace('./src/', './dist/types/').replace(/\.ts$/, '.d.ts'), default: `./dist/${name}.js` };
}

function restore(): void {
  if (existsSync(original)) renameSync(original, published);
}
