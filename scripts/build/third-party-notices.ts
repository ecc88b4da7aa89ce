/**
 * Owns the text of THIRD_PARTY_NOTICES: every package whose code is in the bundle, with its licence.
 * It takes the list from the bundler, so that nothing is named that is not shipped, and nothing missed.
 * A package without a licence file is named with its author; the texts of such licences stand at the end.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Shipped {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly text: string;
}

const rule = `\n${'-'.repeat(80)}\n\n`;
const fullTexts = join(import.meta.dirname, 'licence-texts');

/** @param inputs paths of the bundled files, relative to `root` */
export function noticesFor(root: string, inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((path) => packageFolder(path)));
  const shipped = [...folders].map((folder) => describe(join(root, folder))).sort(byName);
  const head = 'Talaria contains code of these packages. Each stands under its own licence, which follows its name.\n';
  const notices = shipped.map((one) => `${one.name} ${one.version} (${one.license})\n\n${one.text}\n`);
  const texts = [...new Set(shipped.map((one) => one.license))].sort().flatMap((license) => fullText(license));
  return [head, ...notices, ...texts].join(rule);
}

function packageFolder(path: string): string[] {
  const at = path.lastIndexOf('node_modules/');
  if (at === -1) return [];
  const [first = '', second = ''] = path.slice(at + 'node_modules/'.length).split('/');
  return [`${path.slice(0, at)}node_modules/${first.startsWith('@') ? `${first}/${second}` : first}`];
}

function describe(folder: string): Shipped {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const holder = String(author?.name ?? author ?? 'its authors');
  const text =
    file === undefined
      ? `Copyright ${holder}. The text of ${license} stands at the end.`
      : readFileSync(join(folder, file), 'utf8').trim();
  return { name: String(name), version: String(version), license: String(license), text };
}

function fullText(license: string): string[] {
  const path = join(fullTexts, `${license}.txt`);
  return existsSync(path) ? [`The text of ${license}\n\n${readFileSync(path, 'utf8').trim()}\n`] : [];
}

function byName(a: Shipped, b: Shipped): number {
  return a.name < b.name ? -1 : 1;
}
