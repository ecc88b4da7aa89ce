import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createFileTools } from '#core/tools/files/file-tools.ts';
import { verifies } from '../../verifies.ts';
import { makeToolPlace, type ToolPlaceForTest } from './place.ts';

describe('core/tools/file', () => {
  let place: ToolPlaceForTest;
  before(() => {
    place = makeToolPlace();
  });
  after(() => place.remove());
  const tool = (name: string) => {
    const found = createFileTools({ home: place.home, userHome: join(place.folder, 'user') }).find(
      (one) => one.name === name,
    );
    assert.ok(found);
    return found;
  };
  const read = (input: unknown) => place.run(tool('read_file'), input);
  const write = (input: unknown) => place.run(tool('write_file'), input);
  const patch = (input: unknown) => place.run(tool('patch'), input);
  const bytes = (path: string) => readFileSync(join(place.cwd, path));

  describe('read_file', () => {
    it('gives the text as it is', async () => {
      place.write('a.txt', 'one\n\ttwo\n\nfour\n');
      const output = await read({ path: 'a.txt' });
      assert.equal(output.text, 'one\n\ttwo\n\nfour');
      assert.equal(output.isError, undefined);
    });

    verifies('core:files:read-window', 'shows a window and says how to go on', async () => {
      place.write('n.txt', Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join(''));
      assert.equal(
        (await read({ path: 'n.txt', offset: 3, limit: 2 })).text,
        'line 3\nline 4\n[lines 3-4 of 10; go on with offset 5]',
      );
      assert.equal((await read({ path: 'n.txt', offset: 9 })).text, 'line 9\nline 10\n[lines 9-10 of 10]');
      assert.equal((await read({ path: 'n.txt', offset: 11 })).text, '[nothing at line 11: the file has 10 lines]');
      assert.equal((await read({ path: 'n.txt', limit: 10 })).text.split('\n').length, 10);
    });

    it('names an empty file, and counts a last line without a line end', async () => {
      place.write('empty', '');
      place.write('noend', 'a\nb');
      assert.equal((await read({ path: 'empty' })).text, '[the file is empty]');
      assert.equal((await read({ path: 'noend', offset: 2 })).text, 'b\n[lines 2-2 of 2]');
    });

    it('cuts long lines and long windows, and loses no line between two windows', async () => {
      place.write('long', `${'x'.repeat(5_000)}\nshort\n`);
      assert.match((await read({ path: 'long' })).text, /^x{2000}… \[3000 more characters in this line\]\nshort$/);
      const rows = Array.from({ length: 3_000 }, (_, i) => `${i} ${'y'.repeat(90)}`);
      place.write('wide', rows.join('\n'));
      const seen: string[] = [];
      for (let offset: number | undefined = 1; offset !== undefined; ) {
        const { text }: { readonly text: string } = await read({ path: 'wide', offset });
        seen.push(...text.split('\n').filter((line) => !line.startsWith('[')));
        const next = /offset (\d+)\]$/.exec(text)?.[1];
        offset = next === undefined ? undefined : Number(next);
      }
      assert.deepEqual(seen, rows);
    });

    verifies('core:files:binary', 'a binary file is named and not shown', async () => {
      place.write('p.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
      place.write('d.pdf', '%PDF-1.4\n%âãÏÓ\n');
      place.write('z.bin', Buffer.from([1, 2, 0, 3]));
      place.write('u.txt', Buffer.from('fffe680069000a00', 'hex'));
      assert.match((await read({ path: 'p.png' })).text, /a PNG image, 16 bytes/);
      assert.match((await read({ path: 'd.pdf' })).text, /a PDF document.*pdftotext/);
      assert.match((await read({ path: 'z.bin' })).text, /a binary file, 4 bytes/);
      assert.match((await read({ path: 'u.txt' })).text, /UTF-16/);
      for (const path of ['p.png', 'd.pdf', 'z.bin']) assert.equal((await read({ path })).isError, true);
      place.write('BM.txt', 'BMW is a car, MZ is a country code\n');
      assert.equal((await read({ path: 'BM.txt' })).isError, undefined);
    });

    it('shows stray bytes as such and says so', async () => {
      place.write('latin1', Buffer.from('caf\xe9\n', 'latin1'));
      assert.match((await read({ path: 'latin1' })).text, /^caf\uFFFD\n\[some bytes are not UTF-8/);
    });

    it('helps with a wrong path', async () => {
      place.write('src/Config.ts', '1');
      assert.match((await read({ path: 'src' })).text, /is a folder. It holds: Config.ts/);
      assert.match((await read({ path: 'src/config.js' })).text, /no such file. Near names.*Config.ts/);
      assert.match((await read({ path: 'no/where.txt' })).text, /no such file/);
      assert.match((await read({ path: '/dev/null' })).text, /no ordinary file/);
    });

    it('says that /tmp is another one for commands behind walls', async () => {
      const [behind] = createFileTools({ home: place.home, tempIsPrivate: () => true });
      assert.ok(behind?.name === 'read_file');
      const hint = /no such file\..*Commands have a \/tmp of their own: read it with a command/;
      for (const path of ['/tmp/not-there-7.txt', '/var/tmp/not/there-7'])
        assert.match((await place.run(behind, { path })).text, hint);
      assert.doesNotMatch((await place.run(behind, { path: 'gone.txt' })).text, hint);
      assert.doesNotMatch((await read({ path: '/tmp/not-there-7.txt' })).text, hint);
    });

    it('takes what models send instead of the right arguments', async () => {
      place.write('a.txt', 'one\ntwo\n');
      assert.equal((await read({ file_path: 'a.txt', offset: '2', limit: null })).text, 'two\n[lines 2-2 of 2]');
    });
  });

  describe('write_file', () => {
    verifies('core:files:write-atomic', 'writes whole files, makes folders, leaves no other file', async () => {
      const output = await write({ path: 'new/deep/x.txt', content: 'hé\n' });
      assert.equal(output.text, 'wrote new/deep/x.txt (1 line, 4 bytes)');
      assert.equal(bytes('new/deep/x.txt').toString(), 'hé\n');
      assert.deepEqual(readdirSync(join(place.cwd, 'new/deep')), ['x.txt']);
      assert.match((await write({ path: 'new/deep/x.txt', content: '' })).text, /^replaced .*0 lines, 0 bytes/);
    });

    it('keeps the mode, line ends and byte order mark of what was there', async () => {
      const path = place.write('run.sh', '\uFEFFa\r\nb\r\n');
      chmodSync(path, 0o755);
      await write({ path: 'run.sh', content: 'c\nd\n' });
      assert.equal(bytes('run.sh').toString(), '\uFEFFc\r\nd\r\n');
      assert.equal(statSync(path).mode & 0o777, 0o755);
    });

    it('writes through a link and leaves the link', async () => {
      const target = place.write('target.txt', 'old');
      symlinkSync(target, join(place.cwd, 'link.txt'));
      await write({ path: 'link.txt', content: 'new' });
      assert.equal(readFileSync(target, 'utf8'), 'new');
      assert.ok(existsSync(join(place.cwd, 'link.txt')));
    });

    it('refuses folders and pipes, and names what stands in the way', async () => {
      mkdirSync(join(place.cwd, 'dir'), { recursive: true });
      assert.match((await write({ path: 'dir', content: 'x' })).text, /cannot write dir: it is a folder/);
      place.write('file', 'x');
      const below = await write({ path: 'file/x', content: 'x' });
      assert.equal(below.isError, true);
      assert.match((await write({ path: '/dev/full', content: 'x' })).text, /no ordinary file/);
    });
  });

  describe('patch', () => {
    verifies('core:files:patch-unique', 'changes one place, or all when asked, else nothing', async () => {
      place.write('p.txt', 'a\nb\na\n');
      assert.equal((await patch({ path: 'p.txt', old_string: 'b', new_string: 'B' })).text, 'patched p.txt: line 2');
      const twice = await patch({ path: 'p.txt', old_string: 'a', new_string: 'x' });
      assert.match(twice.text, /unchanged: old_string occurs 2 times \(lines 1, 3\)/);
      assert.equal(bytes('p.txt').toString(), 'a\nB\na\n');
      assert.match(
        (await patch({ path: 'p.txt', old_string: 'a', new_string: 'x', replace_all: true })).text,
        /2 places, the first in line 1/,
      );
      assert.equal(bytes('p.txt').toString(), 'x\nB\nx\n');
    });

    it('shows the nearest lines when nothing fits', async () => {
      place.write('q.ts', 'const first = 1;\nfunction greet(name) {\n  return name;\n}\n');
      const output = await patch({ path: 'q.ts', old_string: 'function greet(nam) {', new_string: 'x' });
      assert.match(output.text, /Nearest lines:\n1: const first[\s\S]*2: function greet\(name\)/);
    });

    it('keeps CRLF and the byte order mark', async () => {
      place.write('w.txt', '\uFEFFone\r\ntwo\r\nthree\r\n');
      await patch({ path: 'w.txt', old_string: 'one\ntwo', new_string: '1\n2\n2b' });
      assert.equal(bytes('w.txt').toString(), '\uFEFF1\r\n2\r\n2b\r\nthree\r\n');
    });

    it('refuses what it cannot write back', async () => {
      place.write('l.txt', Buffer.from('caf\xe9', 'latin1'));
      assert.match(
        (await patch({ path: 'l.txt', old_string: 'caf', new_string: 'x' })).text,
        /not valid UTF-8 \(byte 0xe9 at 3\)/,
      );
      assert.match((await patch({ path: 'gone', old_string: 'a', new_string: 'b' })).text, /no such file/);
    });

    it('names the file behind a link as the one that it changes', () => {
      const target = place.write('d.txt', 'a\nb\n');
      symlinkSync('d.txt', join(place.cwd, 'to-d'));
      const input = { path: 'to-d', content: '', old_string: 'b', new_string: 'c' };
      for (const name of ['patch', 'write_file'])
        assert.deepEqual(tool(name).writes?.(input as never, place.context()), [target]);
    });
  });

  describe('where they may write and what they may read', () => {
    const risk = (name: string, path: string) =>
      place.risk(tool(name), { path, content: '', old_string: 'a', new_string: 'b', pattern: 'x' });

    it('writes in the working folder without asking, asks outside', () => {
      assert.equal(risk('write_file', 'a/b.txt').level, 'none');
      assert.equal(risk('patch', './x').level, 'none');
      const outside = risk('write_file', '/opt/some/thing.txt');
      assert.ok(outside.level === 'ask' && outside.key === 'write /opt/some/' && /outside/.test(outside.reason));
      assert.equal(risk('write_file', '~/notes.txt').level === 'none', place.folder.startsWith(tmpdir()));
    });

    it('remembers no answer about a path with control characters, and shows it in one line', () => {
      for (const [name, path] of [
        ['read_file', 'docs\nread /home/u/.ssh/id_ed25519\nreach network\nx/.env'],
        ['write_file', '/opt/a\nwrite /home/u/\nreach write /home/u/b/c'],
        ['write_file', '.git/a\rreach network'],
        ['read_file', 'a\u202egp/.env'],
      ] as const) {
        const asked = risk(name, path);
        assert.ok(asked.level === 'ask' && asked.key === '' && /^\P{C}+$/u.test(asked.preview), path);
        assert.match(asked.preview, /\\u\{(?:a|d|202e)\}/);
      }
    });

    it('follows links before it judges', () => {
      mkdirSync(join(place.cwd, 'links'), { recursive: true });
      symlinkSync('/opt', join(place.cwd, 'links/out'));
      symlinkSync('/etc/passwd', join(place.cwd, 'links/harmless.txt'));
      assert.equal(risk('write_file', 'links/out/x.txt').level, 'ask');
      assert.equal(risk('write_file', 'links/harmless.txt').level, 'never');
      symlinkSync(join(place.home, 'memories'), join(place.cwd, 'links/m'));
      assert.equal(risk('write_file', 'links/m/MEMORY.md').level, 'never');
    });

    it('keeps memory, skills and keys for their own tools', () => {
      const memory = risk('write_file', join(place.home, 'memories/MEMORY.md'));
      assert.ok(memory.level === 'never' && /only by the memory tool/.test(memory.reason));
      const skill = risk('patch', join(place.home, 'skills/x/y/SKILL.md'));
      assert.ok(skill.level === 'never' && /skill tools/.test(skill.reason));
      for (const name of ['.env', 'config.yaml', 'state.db', 'SOUL.md'])
        assert.equal(risk('write_file', join(place.home, name)).level, 'never');
      assert.equal(risk('read_file', join(place.home, '.env')).level, 'never');
    });

    it('asks for instruction files, start-up files and secrets', () => {
      for (const path of [
        'AGENTS.md',
        'sub/CLAUDE.md',
        '.talaria.md',
        '.git/hooks/pre-commit',
        '.git/commondir',
        '.git',
        'sub/.git/HEAD',
        '.git/modules/libs/foo/hooks/pre-push',
        '.git/worktrees/one/gitdir',
        'hub.git/hooks/post-receive',
        '.githooks/pre-commit',
        'sub/.cargo/config.toml',
        '.github/copilot-instructions.md',
        '.github/instructions/ts.instructions.md',
        '~/.config/git/config',
        '.env',
        '~/.bashrc',
        '~/.ssh/authorized_keys',
      ]) {
        assert.equal(risk('write_file', path).level, 'ask', path);
      }
      for (const path of ['.env', '~/.ssh/id_rsa', '~/.aws/credentials', '/etc/shadow'])
        assert.equal(risk('read_file', path).level, 'ask', path);
      const kept =
        `.config/git/credentials .bash_history .config/rclone/rclone.conf .config/BraveSoftware/Default/Cookies
        .local/share/uv/credentials/x .terraform.d/credentials.tfrc.json .docker/config.json .kube/config
        x/.npmrc x/.git/config x/.aws/credentials`.split(/\s+/);
      for (const path of [...kept.map((name) => `~/${name}`), 'prod.env', '/var/mail/root', '~/.before/state.db.seal'])
        assert.equal(risk('read_file', path).level, 'ask', path);
    });

    it('asks for what walls hide in a home, and for its own home but saved outputs and skills', () => {
      const hidden =
        `.ssh/config .ssh/id_rsa.pub .aws/config .config/fish/config.fish .yarnrc.yml .config/pip/pip.conf .curlrc .profile
        .local/share/vercel/auth.json .tsh/keys/x .cargo/config.toml .cargo/registry/x`.split(/\s+/);
      for (const path of [
        ...hidden.map((name) => `~/${name}`),
        join(place.home, 'config.yaml'),
        join(place.home, 'USER.md'),
      ])
        assert.deepEqual([risk('read_file', path).level, risk('search_files', path).level], ['ask', 'ask'], path);
      const open = ['cache/spill/s1/call.txt', 'skills/a/SKILL.md'].map((name) => join(place.home, name));
      for (const path of [
        ...open,
        '~/.config/git/config',
        '~/.nvm/x',
        '~/.cargo/bin/x',
        '~',
        '~/notes/.hidden',
        'README.md',
      ])
        assert.equal(risk('read_file', path).level, 'none', path);
      for (const path of ['.env.example', '.hidden', '/etc/hosts'])
        assert.equal(risk('read_file', path).level, 'none', path);
    });

    it('looks into what is hidden in a home only where that was named itself', async () => {
      const user = join(place.folder, 'user');
      for (const name of ['.tool/conf', 'notes/.rc', '.cargo/bin/x']) {
        mkdirSync(join(user, name, '..'), { recursive: true });
        writeFileSync(join(user, name), 'needle');
      }
      const found = async (path: string) => (await place.run(tool('search_files'), { pattern: 'needle', path })).text;
      assert.equal(
        await found(user),
        '.cargo/bin/x:1:needle\nnotes/.rc:1:needle\n[1 file with secrets or hidden not searched]',
      );
      assert.equal(await found(join(user, '.tool')), 'conf:1:needle');
    });

    it('makes new files in a temporary folder, and asks before it changes what another has there', () => {
      const other = place.write('../other.txt', 'theirs');
      const next = join(place.folder, 'new.txt');
      assert.equal(risk('write_file', next).level, 'none');
      for (const name of ['write_file', 'patch']) {
        const asked = risk(name, other);
        assert.ok(asked.level === 'ask' && asked.key === `write ${other}`);
        const own = { path: other, content: '', old_string: 'a', new_string: 'b' };
        assert.equal(place.risk(tool(name), own, { isOwnFile: () => true }).level, 'none');
      }
      assert.equal(risk('write_file', join(place.home, 'cache/spill/s1/x.txt')).level, 'never');
    });

    it('knows keys by their names, and what is public beside them', () => {
      const keys =
        `.env .env.local prod.env .dev.vars id_rsa id_ed25519 id_ed25519_work id_ed25519_sk id_rsa.bak server.pem ca.key
        master.key my.ovpn kubeconfig kubeconfig.yaml terraform.tfvars serviceAccountKey.json service-account.json
        client_secret_1.apps.json secrets.env .netrc .git-credentials .pypirc a.p12`.split(/\s+/);
      const plain =
        `.env.example .env.sample .env.local.example prod.env.template example.env .dev.vars.example id_rsa.pub
        id_ed25519_work.pub cacert.pem ca-root.pem my-cert.pem fullchain.pem public.pem server-ca.pem .key .items[].key
        process.env key.ts kubeconfig.ts variables.tf .npmrc`.split(/\s+/);
      for (const name of keys) assert.equal(risk('read_file', name).level, 'ask', name);
      for (const name of plain) assert.equal(risk('read_file', name).level, 'none', name);
    });

    it('never writes to disks and vital files', () => {
      for (const path of ['/dev/sda', '/etc/passwd', '/boot/vmlinuz', '/etc/sudoers.d/x'])
        assert.equal(risk('write_file', path).level, 'never', path);
    });
  });
});
