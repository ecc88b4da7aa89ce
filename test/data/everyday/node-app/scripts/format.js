import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const args = process.argv.slice(2);
const check = args.includes('--check');
let changed = 0;
for (const dir of args.filter((arg) => !arg.startsWith('--'))) {
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.js'))) {
    const path = join(dir, file);
    const before = readFileSync(path, 'utf8');
    const after = `${before.replace(/[ \t]+$/gm, '').replace(/\n{3,}/g, '\n\n').trimEnd()}\n`;
    if (before === after) continue;
    changed += 1;
    console.log(`${check ? 'would change' : 'changed'} ${path}`);
    if (!check) writeFileSync(path, after);
  }
}
console.log(`${changed} file(s) ${check ? 'to format' : 'formatted'}`);
if (check && changed) process.exitCode = 1;
