import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { slow } from '../slow.ts';
import { runScript, tempTree } from './temp-tree.ts';

describe('the reference pages', () => {
  slow(
    'are stale until they are written, hold keys and commands, and are stale when a line was changed by hand',
    (context) => {
      const root = tempTree(context, { 'docs/README.md': '' });
      assert.equal(runScript('reference.ts', '--check', '--root', root).code, 1);
      assert.equal(runScript('reference.ts', '--root', root).code, 0);
      assert.equal(runScript('reference.ts', '--check', '--root', root).code, 0);
      assertHeld((name) => readFileSync(join(root, 'docs/reference', name), 'utf8'));
      appendFileSync(join(root, 'docs/reference/config.md'), 'by hand\n');
      const { code, text } = runScript('reference.ts', '--check', '--root', root);
      assert.equal(code, 1);
      assert.match(text, /config\.md stale, run: node scripts\/reference\.ts/);
    },
  );
});

/** Keys with default and meaning, commands with flags. */
function assertHeld(page: (name: string) => string): void {
  assert.match(page('config.md'), /^\| `approvals\.mode` \| `ask`, `off`, `deny` \| `"ask"` \| \S.+ \|$/m);
  assert.match(page('config.md'), /^\| `providers\.NAME\.base_url` \| text \|/m);
  assert.match(page('commands.md'), /^## sessions list\n\n\S.+\n\n```sh\ntalaria sessions list\n```\n[^#]+`--limit`/m);
  for (const row of page('config.md').matchAll(/^\| `(\S+)` .*\| (.*) \|$/gm))
    assert.notEqual(row[2]?.trim(), '', `${row[1]} has no meaning`);
}
