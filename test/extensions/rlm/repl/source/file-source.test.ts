import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { openDescribed } from '#extensions/rlm/repl/file-bytes.ts';
import { createFileSource, findSourceFiles } from '#extensions/rlm/repl/file-source.ts';
import { bytesOfUnits, type ContextSource } from '#extensions/rlm/repl/parted-source.ts';
import { contextSourceContract } from './context-source.contract.ts';

const root = mkdtempSync(join(tmpdir(), 'talaria source '));
let count = 0;

function fileOf(content: string | Uint8Array): string {
  count += 1;
  const path = join(root, `file-${count}.txt`);
  writeFileSync(path, content);
  return path;
}

async function opened(target: string | readonly string[], below = root) {
  const made = await createFileSource(target, { root: below });
  if (!made.ok) assert.fail(`${made.reason}: ${made.detail}`);
  return made.value;
}

function lineText(source: ContextSource, line: number): string {
  const { start_byte, end_byte } = source.lineBounds(line);
  return source.slice(start_byte, end_byte).text;
}

async function refusal(target: string | readonly string[], below = root): Promise<string> {
  const made = await createFileSource(target, { root: below });
  return made.ok ? 'opened' : made.reason;
}

describe('a source over files', () => {
  after(() => rmSync(root, { recursive: true, force: true }));

  contextSourceContract(async (text) => {
    const { source } = await opened(fileOf(text));
    return { source, close: () => source.close() };
  });

  test('what is missing, empty, binary or no file is refused by name', async () => {
    const empty = join(root, 'empty folder');
    mkdirSync(join(empty, '.git'), { recursive: true });
    writeFileSync(join(empty, '.git', 'config'), 'x');
    assert.equal(await refusal(join(root, 'nowhere.txt')), 'context-not-found');
    assert.equal(await refusal(join(fileOf('a'), 'below')), 'context-not-found');
    assert.equal(await refusal(fileOf('')), 'context-empty');
    assert.equal(await refusal(empty), 'context-empty');
    assert.equal(await refusal(fileOf(new Uint8Array([80, 75, 0, 1]))), 'context-binary');
    assert.equal(await refusal('/dev/null', '/'), 'context-unreadable');
    assert.equal(await refusal(['gone.txt']), 'context-not-found');
  });

  test('a file that cannot be read is refused', async () => {
    const path = fileOf('secret');
    chmodSync(path, 0);
    // Root reads whatever its mode is, but not this.
    const target = process.getuid?.() === 0 ? '/proc/self/mem' : path;
    assert.equal(await refusal(target, '/'), 'context-unreadable');
  });

  test('a folder is its files in the order of their paths; what is no text is skipped by name', async () => {
    const folder = join(root, 'tree');
    for (const path of ['b', 'a/z', '.git', 'node_modules/x', 'a/__pycache__'])
      mkdirSync(join(folder, path), { recursive: true });
    const files = {
      'b/one.md': 'of b\n',
      'a/z/deep.md': 'deep',
      'a/two.md': 'of a',
      'last.txt': 'end\n',
      'void.txt': '',
    };
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
    for (const path of ['.git/HEAD', 'node_modules/x/i.js', 'a/__pycache__/c.txt'])
      writeFileSync(join(folder, path), 'no');
    writeFileSync(join(folder, 'b/image.png'), new Uint8Array([1, 0, 2]));
    symlinkSync('/etc/hostname', join(folder, 'a/link'));
    const { source, skipped } = await opened(folder, folder);
    const paths = ['a/two.md', 'a/z/deep.md', 'b/one.md', 'last.txt', 'void.txt'];
    assert.deepEqual(
      source.files.map(({ path }) => path),
      paths,
    );
    assert.deepEqual(skipped, [
      { path: 'a/link', reason: 'link' },
      { path: 'b/image.png', reason: 'binary' },
    ]);
    assert.equal(source.slice(0, source.byte_count).text, 'of adeepof b\nend\n');
    assert.equal(source.line_count, 4);
    assert.deepEqual(
      [1, 2, 3, 4].map((line) => lineText(source, line)),
      ['of a', 'deep', 'of b', 'end'],
    );
    assert.equal(source.find('deepof', 0), -1, 'nothing is found across two files');
    assert.deepEqual(source.place(4, 8), {
      source_path: 'a/z/deep.md',
      start_line: 1,
      end_line: 1,
      start_byte: 0,
      end_byte: 4,
    });
    const again = await opened(
      source.stamps.map(({ path }) => path),
      folder,
    );
    assert.deepEqual(again.source.stamps, source.stamps);
    source.close();
    again.source.close();
  });

  test('a folder of binaries alone is refused', async () => {
    const folder = join(root, 'images');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.png'), new Uint8Array([0, 0]));
    assert.equal(await refusal(folder), 'context-binary');
  });

  test('what was piped in is told by its name', async () => {
    const made = await createFileSource(fileOf('text'), { root, name: '-' });
    assert.ok(made.ok);
    assert.equal(made.value.source.stamps[0]?.path, '-');
    assert.equal(made.value.source.place(0, 1).source_path, '-');
    made.value.source.close();
  });

  test('bytes that are no UTF-8 show as U+FFFD, and offsets stay those of the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 60 }), fc.nat(60), async (given, units) => {
        const bytes = Buffer.from([97, ...given.map((byte) => byte || 10)]);
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        const length = bytesOfUnits(bytes, units);
        const shown = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, length));
        assert.ok(shown.length >= Math.min(units, text.length) && shown.length <= units + 1);
        assert.ok(text.startsWith(shown) || units === 0);
      }),
      { numRuns: 300 },
    );
    const { source } = await opened(fileOf(Buffer.from([104, 0xff, 105, 10, 0xe2, 0x82, 10, 120])));
    assert.equal(lineText(source, 1), 'h\ufffdi');
    assert.equal(lineText(source, 2), '\ufffd');
    assert.equal(source.find('x', 0), 7);
    source.close();
  });

  test('a file that is written to while it is read is never read as if it were the same', async () => {
    const path = fileOf('x'.repeat(200_000));
    const { source } = await opened(path);
    appendFileSync(path, 'more');
    assert.throws(() => openDescribed(structuredClone(source.description)).slice(0, 9), { code: 'context-changed' });
    rmSync(path);
    assert.throws(() => openDescribed(structuredClone(source.description)).slice(0, 9), { code: 'context-unreadable' });
    source.close();
  });

  test('stops on request', async () => {
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    await assert.rejects(createFileSource(fileOf('text'), { root, signal: controller.signal }), /enough/);
  });

  test('a folder with more files than are looked at is refused, not half read', async () => {
    const many = join(root, 'many');
    for (const name of ['a', 'b', 'c/d']) mkdirSync(join(many, name), { recursive: true });
    for (const path of ['a/1', 'a/2', 'b/3', 'c/d/4', 'c/5']) writeFileSync(join(many, path), 'text');
    const most = async (files: number) => {
      const found = await findSourceFiles(many, root, files);
      return found.ok ? found.value.paths.length : found.reason;
    };
    assert.deepEqual([await most(5), await most(4), await most(1)], [5, 'context-unreadable', 'context-unreadable']);
  });
});
