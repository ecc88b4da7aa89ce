import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, describe, test } from 'node:test';
import { sha256 } from '#base/ids.ts';
import { spoolInput } from '#extensions/rlm/repl/file-source.ts';

const root = mkdtempSync(join(tmpdir(), 'talaria spool '));

describe('what is piped in', () => {
  after(() => rmSync(root, { recursive: true, force: true }));

  test('becomes a file named by its hash, for nobody else, once', async () => {
    const folder = join(root, 'kept');
    for (let run = 0; run < 2; run += 1) {
      const kept = await spoolInput(Readable.from([Buffer.from('one '), Buffer.from('two')]), folder);
      assert.ok(kept.ok);
      assert.equal(kept.value, join(folder, `${sha256('one two')}.txt`));
      assert.equal(readFileSync(kept.value, 'utf8'), 'one two');
      assert.equal(statSync(kept.value).mode & 0o777, 0o600);
    }
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.equal(readdirSync(folder).length, 1);
  });

  test('nothing and binary are refused, and leave nothing', async () => {
    const folder = join(root, 'refused');
    const empty = await spoolInput(Readable.from([]), folder);
    const binary = await spoolInput(Readable.from([Buffer.from([1, 0])]), folder);
    assert.deepEqual([empty.ok || empty.reason, binary.ok || binary.reason], ['context-empty', 'context-binary']);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('a stream that breaks or is stopped leaves nothing', async () => {
    const folder = join(root, 'broken');
    async function* breaking() {
      yield Buffer.from('begun');
      throw new Error('the pipe broke');
    }
    await assert.rejects(spoolInput(breaking(), folder), /the pipe broke/);
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    await assert.rejects(spoolInput(Readable.from([Buffer.from('x')]), folder, controller.signal), /enough/);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('a folder that cannot be made is told as what it is', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    await assert.rejects(spoolInput(Readable.from([Buffer.from('x')]), join(file, 'below')), { code: 'spool-failed' });
  });
});
