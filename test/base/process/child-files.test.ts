/** Files that this process was given when it started are not handed on to commands. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runProcess } from '#base/process.ts';
import { slow } from '../../slow.ts';

const PROCESS = join(import.meta.dirname, '../../../src/base/process.ts');
const HELPER = join(import.meta.dirname, '../../../src/base/process/command-helper.ts');
const isLinux = process.platform === 'linux';

describe('base/process/child-files', { skip: isLinux ? false : 'skipped: other systems hand on nothing' }, () => {
  const using = (use: (folder: string) => void) => {
    const folder = mkdtempSync(join(tmpdir(), 'talaria-files-'));
    try {
      use(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  slow('neither by this process nor by its helper; this process keeps them', () =>
    using((folder) => {
      writeFileSync(join(folder, 'secret'), 'SENTINEL');
      writeFileSync(
        join(folder, 'try.ts'),
        `import { readFileSync } from 'node:fs';
        import { runProcess, startProcess } from ${JSON.stringify(PROCESS)};
        import { endHelper, warmHelper } from ${JSON.stringify(HELPER)};
        const never = new AbortController().signal;
        const script = 'cat /proc/self/fd/201/secret <&202; echo planted >&200; ls -l /proc/self/fd';
        const request = { argv: ['/bin/bash', '-c', script], cwd: '/', env: { PATH: process.env.PATH } };
        const said = [(await runProcess(request, never)).output.text, (await startProcess(request, never).result).output.text];
        await warmHelper();
        said.push((await runProcess(request, never)).output.text);
        endHelper();
        said.push(readFileSync('/proc/self/fd/202', 'utf8'));
        console.log(JSON.stringify(said));`,
      );
      const script = `exec '${process.execPath}' try.ts 200>>lock 201<. 202<secret 63< <(echo given)`;
      const { stdout, stderr } = spawnSync('/bin/bash', ['-c', script], { cwd: folder, encoding: 'utf8' });
      const said = JSON.parse(stdout || '[]') as readonly string[];
      assert.equal(said.length, 4, stderr);
      assert.equal(said[3], 'SENTINEL');
      for (const text of said.slice(0, 3)) {
        assert.match(text, /Not a directory|No such file/);
        assert.doesNotMatch(text, new RegExp(`SENTINEL|${folder}|63 -> pipe`));
      }
      assert.equal(readFileSync(join(folder, 'lock'), 'utf8'), '');
    }),
  );

  it('what a request names is there, from 3 on, to be read', async () => {
    const request = { argv: ['/bin/sh', '-c', 'cat <&3; cat <&4; echo x >&3'], cwd: '/', env: {} };
    const files = [join(import.meta.dirname, '../../../package.json'), '/dev/null'];
    const { output } = await runProcess({ ...request, files }, new AbortController().signal);
    assert.match(output.text, /"name": "talaria"/);
    assert.match(output.text, /Bad file descriptor|write error|I\/O error/i);
    const missing = await runProcess({ ...request, files: ['/nowhere/file'] }, new AbortController().signal);
    assert.equal(missing.ended, 'not-started');
  });
});
