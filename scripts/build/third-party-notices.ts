/**
 * Owns the text of THIRD_PARTY_NOTICES: every package whose code is in the bundle, with its licence text.
 * It takes the list from the bundler, so that nothing is named that is not shipped, and nothing missed.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Shipped {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly text: string;
}

/** @param inputs paths of the bundled files, relative to `root` */
export function noticesFor(root: string, inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((path) => packageFolder(path)));
  const shipped = [...folders].map((folder) => describe(join(root, folder))).sort(byName);
  const head = 'Talaria contains code of these packages. Each stands under its own licence, which follows its name.\n';
  return [head, ...shipped.map((one) => `${one.name} ${one.version} (${one.license})\n\n${one.text}\n`)].join(
    `\n${'-'.repeat(80)}\n\n`,
  );
}

function packageFolder(path: string): string[] {
  const at = path.lastIndexOf('node_modules/');
  if (at === -1) return [];
  const [first = '', second = ''] = path.slice(at + 'node_modules/'.length).split('/');
  return [`${path.slice(0, at)}node_modules/${first.startsWith('@') ? `${first}/${second}` : first}`];
}

function describe(folder: string): Shipped {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const path = file === undefined ? undefined : join(folder, file);
  const text =
    path !== undefined && existsSync(path) ? readFileSync(path, 'utf8').trim() : '(no licence file in the package)';
  return { name: String(name), version: String(version), license: String(license), text };
}

function byName(a: Shipped, b: Shipped): number {
  return a.name < b.name ? -1 : 1;
}
