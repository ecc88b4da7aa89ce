/** A process of its own that writes memory: `add <root> <name> <count>` adds entries, `hold <root>` dies between temp write and rename. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';

const [mode = '', root = '', name = '', count = '0'] = process.argv.slice(2);
const files = createMemoryFiles({ root, limits: { memory: 10_000, user: 10_000 } });

if (mode === 'add') {
  for (let i = 0; i < Number(count); i += 1) {
    const result = await files.apply('memory', [{ action: 'add', content: `${name} ${i}` }]);
    if (!result.ok) throw new Error(result.detail);
  }
}

if (mode === 'die') {
  fs.renameSync = () => process.kill(process.pid, 'SIGKILL');
  syncBuiltinESMExports();
  await files.apply('memory', [{ action: 'add', content: 'never renamed' }]);
}
