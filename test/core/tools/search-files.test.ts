import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { globTest, isIgnored, parseIgnoreFile } from '#base/text/glob.ts';
import { createFileTools } from '#core/tools/files/file-tools.ts';
import { createLineMatcher } from '#core/tools/files/search-job.ts';
import { systemFolders } from '#core/tools/files/walk-folder.ts';
import { ends } from '../../ends.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';
import { makeToolPlace, type ToolPlaceForTest } from './place.ts';

describe('core/tools/search', () => {
  let place: ToolPlaceForTest;
  const found = async (input: unknown) => {
    const tool = createFileTools({ home: place.home, userHome: place.folder }).find(
      ({ name }) => name === 'search_files',
    );
    assert.ok(tool);
    return (await place.run(tool, input)).text;
  };
  before(() => {
    place = makeToolPlace();
    mkdirSync(join(place.cwd, '.git'));
    place.write('.gitignore', 'dist/\n*.log\n!keep.log\n/only-root.txt\n');
    place.write('src/a.ts', 'const needle = 1;\nother\nneedle again\n');
    place.write('src/b.js', 'no\r\nneedle here\r\n');
    place.write('dist/c.ts', 'needle');
    place.write('x.log', 'needle');
    place.write('keep.log', 'needle kept');
    place.write('only-root.txt', 'needle');
    place.write('sub/only-root.txt', 'needle deep');
    place.write('node_modules/m/i.js', 'needle');
    place.write('pic.png', Buffer.concat([Buffer.from('89504e470d0a1a0a00', 'hex'), Buffer.from('needle')]));
    place.write('.env', 'KEY=needle');
    place.write('.github/ci.yml', 'needle: yes');
    symlinkSync(join(place.cwd, '.env'), join(place.cwd, 'innocent.txt'));
    symlinkSync(place.cwd, join(place.cwd, 'src/loop'));
  });
  after(() => place.remove());

  verifies('core:files:search', 'finds lines by pattern, without what is ignored, binary or secret', async () => {
    assert.equal(
      await found({ pattern: 'needle' }),
      [
        '.github/ci.yml:1:needle: yes',
        'keep.log:1:needle kept',
        'src/a.ts:1:const needle = 1;',
        'src/a.ts:3:needle again',
        'src/b.js:2:needle here',
        'sub/only-root.txt:1:needle deep',
        '[2 files with secrets or hidden not searched]',
      ].join('\n'),
    );
  });

  it('limits, pages, and says that there is more', async () => {
    const first = await found({ pattern: 'needle', limit: 2 });
    assert.match(first, /ci.yml:1.*\nkeep.log:1.*\n\[more; go on with offset 2/s);
    assert.match(await found({ pattern: 'needle', limit: 2, offset: 4 }), /^src\/b.js:2:needle here\nsub\/only-root/);
    assert.match(await found({ pattern: 'needle', offset: 40 }), /nothing after 6 matches/);
    assert.match(await found({ pattern: 'absent' }), /^\[nothing found/);
  });

  it('gives lines around, counts, and names of files', async () => {
    assert.equal(
      await found({ pattern: 'other', context: 1 }),
      'src/a.ts-1-const needle = 1;\nsrc/a.ts:2:other\nsrc/a.ts-3-needle again\n--\n[2 files with secrets or hidden not searched]',
    );
    assert.match(await found({ pattern: 'needle', output_mode: 'count', file_glob: '*.ts' }), /^src\/a.ts: 2$/);
    assert.match(await found({ pattern: 'needle', output_mode: 'files', path: 'src' }), /^a.ts\nb.js$/);
  });

  it('finds files by name', async () => {
    assert.equal(await found({ pattern: '*.ts', target: 'files' }), 'src/a.ts');
    assert.equal(await found({ pattern: 'only-root', target: 'files' }), 'sub/only-root.txt');
    assert.equal(await found({ pattern: 'src/*.{ts,js}', target: 'files' }), 'src/a.ts\nsrc/b.js');
  });

  it('knows the rules of the repository when it searches a folder of it, and searches a named file always', async () => {
    place.write('pkg/deep.log', 'needle');
    place.write('pkg/deep.txt', 'needle');
    assert.equal(await found({ pattern: 'needle', path: 'pkg' }), 'deep.txt:1:needle');
    assert.equal(await found({ pattern: 'needle', path: 'pkg/deep.log' }), 'deep.log:1:needle');
    assert.match(await found({ pattern: 'x', path: 'nowhere' }), /there is no file or folder/);
  });

  it('treats a broken pattern as plain text, and ignores case on request', async () => {
    place.write('paren.txt', 'call(foo\nNEEDLE');
    assert.match(await found({ pattern: 'call(', path: 'paren.txt' }), /call\(foo/);
    assert.match(await found({ pattern: '(?i)needle', path: 'paren.txt' }), /NEEDLE/);
  });

  it('ends patterns that would run for ever', () => {
    const matcher = createLineMatcher('(a+)+$');
    assert.ok(matcher.ok);
    const result = matcher.value.match(`${'a'.repeat(40)}!\n`, 10, 200);
    assert.ok(!result.ok && result.reason === 'too-slow');
    const again = matcher.value.match('aaa\nb\n', 10, 30_000);
    assert.deepEqual(again.ok && again.value, [{ line: 1, text: 'aaa' }]);
  });

  verifies.slow(
    'core:files:search-bounds',
    'a search that is too large for at once goes on in a thread, with the same answer',
    async () => {
      for (let i = 0; i < 2_100; i += 1) place.write(`many/f${i}.txt`, i % 700 === 0 ? 'rare word' : 'x');
      place.write('many/z-large.txt', `${'line\n'.repeat(100_000)}rare word`);
      assert.equal(
        await found({ pattern: 'rare', path: 'many' }),
        ['f0.txt:1:rare word', 'f1400.txt:1:rare word', 'f700.txt:1:rare word', 'z-large.txt:100001:rare word'].join(
          '\n',
        ),
      );
      assert.equal(await found({ pattern: 'f2099', target: 'files', path: 'many' }), 'f2099.txt');
    },
  );

  verifies.slow(
    'core:files:search-bounds',
    'a pattern that would run for ever is ended, and names its file',
    async () => {
      place.write('slow.txt', `${'a'.repeat(60)}!\n`);
      assert.match(await found({ pattern: '(a+)+$', path: 'slow.txt' }), /^slow.txt: the pattern takes too long/);
      // One repetition over one long line is slow enough.
      place.write('long.txt', 'a'.repeat(10_000).concat('\n').repeat(20));
      assert.match(await found({ pattern: 'a*b', path: 'long.txt' }), /nothing found|takes too long/);
    },
  );

  verifies('core:files:search-bounds', 'the file systems of the kernel are not searched', async () => {
    assert.ok(['/proc', '/sys', '/dev'].every((folder) => systemFolders().has(folder)));
    for (const path of ['/proc', '/proc/self', '/sys/kernel'].filter(existsSync))
      assert.match(await found({ pattern: 'x', path }), /is not searched: the kernel shows itself there/);
  });

  verifies.slow('core:files:search-bounds', 'a search of everything ends on abort, also in its thread', async () => {
    const tool = createFileTools({}).find(({ name }) => name === 'search_files');
    assert.ok(tool);
    for (const ms of [0, 20, 400]) {
      const stop = new AbortController();
      const work = place.run(tool, { pattern: 'no such text 8231', path: '/' }, {}, stop.signal);
      setTimeout(() => stop.abort(new Error('enough')), ms);
      await assert.rejects(work, /enough/);
    }
  });

  it('stops on abort', async () => {
    const tool = createFileTools({}).find(({ name }) => name === 'search_files');
    assert.ok(tool);
    await assert.rejects(place.run(tool, { pattern: 'needle' }, {}, AbortSignal.abort()));
  });

  it('matches globs', () => {
    const fits = (glob: string, path: string) => globTest(glob)(path);
    for (const [glob, path] of [
      ['*.ts', 'a/b.ts'],
      ['a/*.ts', 'a/b.ts'],
      ['**/b.ts', 'b.ts'],
      ['**/b.ts', 'x/y/b.ts'],
      ['a/**', 'a/x/y'],
      ['?.ts', 'a.ts'],
      ['[ab].ts', 'b.ts'],
      ['[!a].ts', 'b.ts'],
      ['*.{js,ts}', 'x.ts'],
      ['a*b*c', 'aXbYbZc'],
      ['*ab', 'aab'],
    ] as const) {
      assert.ok(fits(glob, path), `${glob} ${path}`);
    }
    for (const [glob, path] of [
      ['*.ts', 'a.tsx'],
      ['a/*.ts', 'a/b/c.ts'],
      ['?.ts', 'ab.ts'],
      ['[!a].ts', 'a.ts'],
      ['a.ts', 'abts'],
      ['a*b*c', 'aXcYb'],
    ] as const) {
      assert.ok(!fits(glob, path), `${glob} ${path}`);
    }
  });

  it('reads any glob and any ignore file, in time', () => {
    const text = fc
      .array(fc.constantFrom('*', '**', '/', 'a', '[', ']', '!', '{', '}', ',', '\\', '?', '#', '\n', ' ', '-'), {
        maxLength: 20,
      })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (pattern, path) => {
        globTest(pattern)(path);
        isIgnored(path, false, [{ prefix: '', above: '', rules: parseIgnoreFile(pattern) }]);
      }),
      { numRuns: runs(2_000) },
    );
    ends('stars', () => globTest(`${'*a'.repeat(30)}b`)('a'.repeat(250)));
    ends('folders', () => globTest(`${'**/'.repeat(30)}b`)('a/'.repeat(120)));
  });
});
