/** What no namespace keeps: keys of the kernel, sockets to a virtual machine's host, files that were open before. Perl calls the kernel. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { warmHelper } from '#base/process/command-helper.ts';
import { makeWallsScene, noWalls } from '../../core/tools/walls-scene.ts';

/** add_key, request_key, keyctl, socket. */
const CALLS: Readonly<Partial<Record<string, readonly number[]>>> = {
  x64: [248, 249, 250, 41],
  arm64: [217, 218, 219, 198],
};
const [ADD = 0, REQUEST = 0, KEYCTL = 0, SOCKET = 0] = CALLS[process.arch] ?? [];
const hasPerl = spawnSync('perl', ['-e', '1']).status === 0 && ADD !== 0;
const skip = noWalls() ?? (hasPerl ? false : 'skipped: no perl here');
const SCENE = join(import.meta.dirname, '../../core/tools/walls-scene.ts');

const ATTACK = `
  my ($type, $owner, $planted, $payload, $room) = ("user", "talaria-test-owner", "talaria-test-planted", "x", "\\0" x 200);
  sub tried { my ($name, $r) = @_; print "$name ", ($r < 0 ? "refused" : "done"), "\\n"; $r }
  tried "request", syscall(${REQUEST}, $type, $owner, 0, 0);
  tried "add", syscall(${ADD}, $type, $planted, $payload, 1, -3);
  tried "keyctl", syscall(${KEYCTL}, 0, -3, 0);
  tried "io_uring", syscall(425, 1, $room);
  tried "vsock", syscall(${SOCKET}, 40, 1, 0);
  tried "inet", syscall(${SOCKET}, 2, 1, 0);
  tried "unix", syscall(${SOCKET}, 1, 1, 0);`;
const REFUSED = 'request refused\nadd refused\nkeyctl refused\nio_uring refused\nvsock refused\ninet done\nunix done\n';

describe('walls: past namespaces', { skip }, () => {
  it('keys of the login are neither found nor left, by a command, a later one, a job, and with the network open', async () => {
    const scene = makeWallsScene();
    try {
      assert.doesNotMatch(scene.walls.state().detail, /keys/);
      writeFileSync(join(scene.folder, 'attack.pl'), ATTACK);
      writeFileSync(
        join(scene.base, 'inner.ts'),
        `const { makeWallsScene } = await import(${JSON.stringify(SCENE)});
        const s = makeWallsScene();
        const { writeFileSync } = await import('node:fs');
        writeFileSync(s.folder + '/attack.pl', process.env.ATTACK);
        console.log((await s.run('perl attack.pl')).text);
        await s.close();`,
      );
      const login = `
        my ($type, $owner, $planted, $secret) = ("user", "talaria-test-owner", "talaria-test-planted", "SECRET");
        syscall(${KEYCTL}, 1, 0); # a session of keys, as a login has one
        my $key = syscall(${ADD}, $type, $owner, $secret, 6, -3);
        exit 7 if $key < 0;
        system($ENV{NODE}, $ENV{INNER});
        print "planted\\n" if syscall(${REQUEST}, $type, $planted, 0, 0) >= 0;
        print "kept\\n" if syscall(${REQUEST}, $type, $owner, 0, 0) == $key;`;
      const env = { ...process.env, NODE: process.execPath, INNER: join(scene.base, 'inner.ts'), ATTACK };
      const { status, stdout, stderr } = spawnSync('perl', ['-e', `$|=1;${login}`], { env, encoding: 'utf8' });
      // A machine may refuse keys to everybody, as containers do.
      if (status !== 7)
        assert.deepEqual(stdout.split('\n').filter(Boolean), [...REFUSED.trim().split('\n'), 'kept'], stderr);

      assert.equal((await scene.run('perl attack.pl')).text, REFUSED);
      await warmHelper();
      assert.equal((await scene.run('perl attack.pl')).text, REFUSED);
      assert.equal((await scene.run('perl attack.pl', { openings: [{ kind: 'network' }] })).text, REFUSED);
      const job = await scene.serve('perl attack.pl > job.txt; echo up; sleep 600', 'up');
      assert.equal((await scene.run('cat job.txt')).text, REFUSED);
      await job.stop();
    } finally {
      await scene.close();
    }
  });

  it('no command leaves a program that runs as its owner for whoever starts it', async () => {
    const scene = makeWallsScene();
    try {
      const script = 'cp /bin/sh s; chmod 4755 s; chmod u+s s; chmod 2755 . && chmod 755 s && stat -c %a s .';
      const { text } = await scene.run(
        `${script}; perl -e 'use Fcntl; sysopen(F, "t", O_CREAT|O_RDWR, 04755); print F "x"; close F'`,
      );
      assert.match(text, /Operation not permitted[\s\S]*Operation not permitted[\s\S]*\n755\n2755\n$/);
      assert.equal(existsSync(join(scene.folder, 't')), false);
      assert.equal(statSync(join(scene.folder, 's')).mode & 0o7777, 0o755);
    } finally {
      await scene.close();
    }
  });

  it('files that this process was given stay outside', () => {
    const scene = makeWallsScene();
    try {
      const inner = join(scene.base, 'inner.ts');
      writeFileSync(
        inner,
        `const { makeWallsScene } = await import(${JSON.stringify(SCENE)});
        const s = makeWallsScene();
        for (const n of [1, 2, 3]) console.log((await s.run('ls /proc/self/fd/201/; cat /proc/self/fd/201/notes.txt; echo planted >&200; cat <&3')).text);
        await s.close();`,
      );
      const script = `exec '${process.execPath}' '${inner}' 201<'${scene.home}' 200>>'${scene.base}/lock' 3<'${scene.home}/notes.txt'`;
      const { stdout, stderr } = spawnSync('/bin/bash', ['-c', script], { encoding: 'utf8', env: process.env });
      assert.equal(stdout.match(/fd\/201/g)?.length, 6, stdout + stderr);
      assert.doesNotMatch(stdout, /plain notes/);
      assert.equal(spawnSync('cat', [join(scene.base, 'lock')], { encoding: 'utf8' }).stdout, '');
    } finally {
      void scene.close();
    }
  });
});
