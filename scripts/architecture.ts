/**
 * Keeps the picture in ARCHITECTURE.md true: `node scripts/architecture.ts` writes it from the import graph,
 * `--check` fails when the committed one differs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawRooms } from './graph/draw-rooms.ts';
import { loadTree } from './graph/load-tree.ts';

const begin = '<!-- picture: written by scripts/architecture.ts -->';
const end = '<!-- end of picture -->';

const { values } = parseArgs({ options: { root: { type: 'string', default: '.' }, check: { type: 'boolean' } } });
const path = join(values.root, 'ARCHITECTURE.md');
const before = readFileSync(path, 'utf8');
const after = withPicture(before, drawRooms(loadTree(values.root)));

if (values.check !== true) {
  writeFileSync(path, after);
} else if (before !== after) {
  console.error('architecture: the picture is stale, run: node scripts/architecture.ts');
  process.exitCode = 1;
} else {
  console.log('architecture: the picture is up to date');
}

function withPicture(text: string, picture: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`${path} has no place for the picture: ${begin} … ${end}`);
  return `${text.slice(0, from)}${begin}\n\`\`\`mermaid\n${picture}\n\`\`\`\n${text.slice(to)}`;
}
