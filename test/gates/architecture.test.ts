import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { slow } from '../slow.ts';
import { runScript, tempTree } from './temp-tree.ts';

const page = '# A\n\n<!-- picture: written by scripts/architecture.ts -->\nold\n<!-- end of picture -->\n\nrest\n';

describe('the picture', () => {
  slow('is stale until it is written, and writing it leaves the rest of the page', (context) => {
    const root = tempTree(context, { 'ARCHITECTURE.md': page, 'src/core/model/message.ts': 'export const a = 1;\n' });
    assert.equal(runScript('architecture.ts', '--check', '--root', root).code, 1);
    assert.equal(runScript('architecture.ts', '--root', root).code, 0);
    assert.equal(runScript('architecture.ts', '--check', '--root', root).code, 0);
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    assert.match(text, /core_model\["model"\]/);
    assert.ok(text.startsWith('# A\n') && text.endsWith('\n\nrest\n') && !text.includes('old'));
  });

  test('needs its place in the page', (context) => {
    const root = tempTree(context, { 'ARCHITECTURE.md': '# A\n' });
    assert.notEqual(runScript('architecture.ts', '--root', root).code, 0);
  });
});
