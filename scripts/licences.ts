/**
 * The licence gate: every package that a user of Talaria installs or receives in the bundle stands under a
 * licence of this list. `node scripts/licences.ts [--root DIR]`. Of development packages those are judged that the bundle has.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const allowed: ReadonlySet<string> = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
  'Python-2.0',
]);

/** Development packages with code in the bundle: a user does not install them. */
const bundled: readonly string[] = [
  ...['viem', '@nats-io/transport-node', '@nats-io/jetstream', '@hpke/core', '@x402/core', '@x402/evm'],
];

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const { values } = parseArgs({ options: { root: { type: 'string', default: '.' } } });
const root = resolve(values.root);
const problems: string[] = [];
const seen = new Set<string>();
visit(root);
for (const name of bundled) follow(root, name, false);
const packages = seen.size - 1;
if (packages === 0) problems.push('no dependency was found: is node_modules there?');
for (const problem of problems) console.error(`licences: ${problem}`);
console.log(`licences: ${packages} packages, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;

function visit(folder: string): void {
  if (seen.has(folder)) return;
  seen.add(folder);
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (folder !== root) judge(manifest);
  for (const name of Object.keys(manifest.dependencies ?? {})) follow(folder, name, true);
  for (const name of Object.keys(manifest.optionalDependencies ?? {})) follow(folder, name, false);
  for (const name of Object.keys(manifest.peerDependencies ?? {})) follow(folder, name, false);
}

function judge({ name, version, license }: Manifest): void {
  const expression = typeof license === 'string' ? license : (license?.type ?? '');
  if (!isAllowed(expression)) problems.push(`${name}@${version} has the licence "${expression || 'none'}"`);
}

/** SPDX: one side of an OR is enough, every side of an AND is needed. */
function isAllowed(expression: string): boolean {
  const plain = expression.replaceAll(/[()]/g, ' ');
  return plain.split(/\sOR\s/).some((side) => side.split(/\sAND\s/).every((part) => allowed.has(part.trim())));
}

function follow(from: string, name: string, required: boolean): void {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) {
      visit(found);
      return;
    }
  }
  if (required) problems.push(`${name}, needed by ${from.slice(root.length) || 'this package'}, is not installed`);
}
