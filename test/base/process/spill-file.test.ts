import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { createSpillFile } from '#base/process/spill-file.ts';

const SECRET = 'pässword-of-4711';
const redact = (text: string) => text.replaceAll(SECRET, '[redacted]');

describe('base/process/spill-file', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'talaria-spill-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const spilled = (chunks: readonly Buffer[]): Buffer => {
    const file = createSpillFile(join(folder, 'out.txt'), redact);
    file.start([]);
    for (const chunk of chunks) file.append(chunk);
    file.close();
    return readFileSync(file.state().spill ?? '');
  };
  const cut = (bytes: Buffer, size: number) =>
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

  it('finds a secret wherever chunks are cut', () => {
    const filler = 'ä line of text\n'.repeat(600);
    const bytes = Buffer.from(`${filler}${SECRET}${filler}${SECRET}`);
    for (const size of [1, 7, 4_095, 4_096, 4_097, 9_010, 100_000]) {
      assert.equal(spilled(cut(bytes, size)).toString(), `${filler}[redacted]${filler}[redacted]`, `chunks of ${size}`);
    }
  });

  it('keeps every byte that is no part of a secret, also of what is no text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 9_000 }), fc.integer({ min: 500, max: 5_000 }), (array, size) => {
        assert.deepEqual(spilled(cut(Buffer.from(array), size)), Buffer.from(array));
      }),
      { numRuns: 50 },
    );
  });

  it('takes a secret out of bytes that are no text', () => {
    const noise = Buffer.from([0xff, 0xfe, 0x80, 0x00]);
    const found = spilled([noise, Buffer.from(SECRET), noise]);
    assert.deepEqual(found, Buffer.concat([noise, Buffer.from('[redacted]'), noise]));
  });
});
