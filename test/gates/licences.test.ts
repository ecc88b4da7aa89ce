import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../verifies.ts';
import { runScript, tempTree } from './temp-tree.ts';

const root = JSON.stringify({ dependencies: { a: '1.0.0' }, devDependencies: { dev: '1.0.0' } });
const manifest = (name: string, license: string, dependencies = {}): string =>
  JSON.stringify({ name, version: '1.0.0', license, dependencies });

describe('the licence gate', () => {
  verifies('core:house:licences', 'judges what is shipped, also what is needed by what is shipped', (context) => {
    const files = {
      'package.json': root,
      'node_modules/a/package.json': manifest('a', '(MIT OR GPL-3.0)', { b: '1.0.0' }),
      'node_modules/b/package.json': manifest('b', 'ISC'),
      'node_modules/dev/package.json': manifest('dev', 'GPL-3.0'),
    };
    const sound = runScript('licences.ts', '--root', tempTree(context, files));
    assert.equal(sound.code, 0, sound.text);
    const infected = { ...files, 'node_modules/b/package.json': manifest('b', 'AGPL-3.0-only') };
    const refused = runScript('licences.ts', '--root', tempTree(context, infected));
    assert.equal(refused.code, 1);
    assert.match(refused.text, /b@1\.0\.0 has the licence "AGPL-3\.0-only"/);
  });

  verifies('core:house:licences', 'refuses half of an AND, no licence, and a missing package', (context) => {
    const judge = (license: string): string =>
      runScript(
        'licences.ts',
        '--root',
        tempTree(context, { 'package.json': root, 'node_modules/a/package.json': manifest('a', license) }),
      ).text;
    assert.match(judge('MIT AND GPL-2.0'), /1 problems/);
    assert.match(judge(''), /the licence "none"/);
    assert.match(judge('MIT AND Apache-2.0'), /0 problems/);
    assert.match(
      runScript('licences.ts', '--root', tempTree(context, { 'package.json': root })).text,
      /is not installed/,
    );
  });
});
