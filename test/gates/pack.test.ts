import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { slow } from '../slow.ts';
import { runScript, tempTree } from './temp-tree.ts';

const source = `${JSON.stringify({
  name: 'x',
  imports: { '#*': './src/*' },
  exports: {
    '.': './src/public/talaria.ts',
    './sessions': './src/public/sessions.ts',
    './package.json': './package.json',
  },
  scripts: { test: 'x' },
  devDependencies: { y: '1' },
  dependencies: { z: '1' },
})}\n`;

describe('packing', () => {
  slow('swaps package.json for its published form and brings it back byte for byte', (context) => {
    const root = tempTree(context, { 'package.json': source, 'node_modules/keep': '' });
    const read = (): string => readFileSync(join(root, 'package.json'), 'utf8');
    for (const verb of ['swap', 'swap']) assert.equal(runScript('pack.ts', verb, '--root', root).code, 0);
    assert.deepEqual(JSON.parse(read()), {
      name: 'x',
      imports: { '#*.ts': { types: './dist/types/*.d.ts' } },
      exports: {
        '.': { types: './dist/types/public/talaria.d.ts', default: './dist/talaria.js' },
        './sessions': { types: './dist/types/public/sessions.d.ts', default: './dist/sessions.js' },
        './package.json': './package.json',
      },
      dependencies: { z: '1' },
    });
    for (const verb of ['restore', 'restore']) assert.equal(runScript('pack.ts', verb, '--root', root).code, 0);
    assert.equal(read(), source);
  });
});
