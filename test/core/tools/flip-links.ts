/** A program that turns what stands at two names as fast as it can: `dir` is a folder or a link out of the workspace, `name.txt` likewise a file or a link. */
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [work = '', outside = ''] = process.argv.slice(2);
const at = (name: string) => join(work, name);
const turn = () => {
  symlinkSync(outside, at('.link'));
  renameSync(at('dir'), at('.kept'));
  renameSync(at('.link'), at('dir'));
  renameSync(at('dir'), at('.link'));
  renameSync(at('.kept'), at('dir'));
  rmSync(at('.link'));
  symlinkSync(join(outside, 'name.txt'), at('.turned'));
  renameSync(at('.turned'), at('name.txt'));
  writeFileSync(at('.turned'), 'inside\n');
  renameSync(at('.turned'), at('name.txt'));
};
const start = () => {
  for (const name of ['dir', '.kept', '.link', '.turned']) rmSync(at(name), { recursive: true, force: true });
  mkdirSync(at('dir'));
  writeFileSync(at('dir/name.txt'), 'inside\n');
  writeFileSync(at('name.txt'), 'inside\n');
};
/** A folder may be made where one was missing for a moment. */
const holds = (work: () => void): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};
start();
process.stdout.write('ready\n');
while (existsSync(outside)) if (!holds(turn)) while (!holds(start)) if (!existsSync(outside)) break;
