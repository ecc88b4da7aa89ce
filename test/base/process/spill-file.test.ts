import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { createSpillFile, SPILL_FOLDER_BYTES, spillRoom } from '#base/process/spill-file.ts';
import { capOutput } from '#core/agent/turn/execute-tools.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';

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

  slow('finds a secret wherever chunks are cut', () => {
    const filler = 'ä line of text\n'.repeat(600);
    const bytes = Buffer.from(`${filler}${SECRET}${filler}${SECRET}`);
    for (const size of [1, 7, 4_095, 4_096, 4_097, 9_010, 100_000]) {
      assert.equal(spilled(cut(bytes, size)).toString(), `${filler}[redacted]${filler}[redacted]`, `chunks of ${size}`);
    }
  });

  verifies('core:tools:spill-bound', 'stops where its folder may take no more, and says how much it has', () => {
    const own = join(folder, 'bounded');
    const write = (name: string, size: number) => {
      const file = createSpillFile(join(own, name), undefined, 10_000);
      file.start([]);
      for (const chunk of cut(Buffer.alloc(size, 'x'), 1_000)) file.append(chunk);
      file.close();
      return file.state();
    };
    assert.deepEqual(write('a.txt', 6_000), { spill: join(own, 'a.txt') });
    assert.deepEqual(write('b.txt', 6_000), { spill: join(own, 'b.txt'), spillBytes: 4_000 });
    assert.deepEqual(write('c.txt', 6_000), { spill: join(own, 'c.txt'), spillBytes: 0 });
    assert.equal(readFileSync(join(own, 'b.txt')).length, 4_000);
    assert.equal(spillRoom(own, 10_000), 0);
  });

  verifies(
    'core:tools:spill-bound',
    'a result that is too long is not saved any more when the session has saved enough',
    () => {
      const cap = { limit: 100, spillFolder: folder, sessionId: 'full', callId: 'c1' };
      assert.ok(capOutput('y'.repeat(500), cap).spill);
      truncateSync(join(folder, 'full/c1.txt'), SPILL_FOLDER_BYTES);
      assert.throws(
        () => capOutput('y'.repeat(500), { ...cap, callId: 'c2' }),
        /saved outputs of a session may take 256 MB/,
      );
    },
  );

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
