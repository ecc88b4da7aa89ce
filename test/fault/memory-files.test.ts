/** Memory files while the disk fails, writers die and other processes write: old or new, never torn, nothing lost. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TalariaError } from '#base/errors.ts';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import { failEachOperation } from '#testing/faults.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { stride } from '../property-runs.ts';
import { verifies } from '../verifies.ts';
import { breakDisk, systemError } from './failing-disk.ts';

const WRITER = fileURLToPath(new URL('./memory-writer.ts', import.meta.url));
const OLD = 'one\n§\ntwo';
const NEW = 'one\n§\ntwo\n§\nthree';

function writer(...args: readonly string[]): Promise<{ code: number | null; signal: string | null; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WRITER, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stderr }));
  });
}

/** What reaches the caller is our error with the system's own as its cause. */
function assertFault(thrown: unknown, failed: string | undefined): void {
  if (thrown === undefined) return;
  assert.ok(thrown instanceof TalariaError, `${failed}: ${String(thrown)}`);
  assert.ok(thrown.cause instanceof Error);
}

describe('memory files: faults', () => {
  for (const code of ['ENOSPC', 'EACCES', 'EIO'] as const) {
    verifies(
      'core:memory:lock-and-rename',
      `${code} at every file operation leaves the old or the new file, and the next write works`,
      async () => {
        let root = '';
        const tried = await failEachOperation({
          every: stride(3),
          error: (operation) => systemError(code, operation),
          run: async (faults) => {
            root = mkdtempSync(join(tmpdir(), 'talaria-memory-'));
            writeFileSync(join(root, 'MEMORY.md'), OLD);
            const disk = breakDisk(root, faults);
            try {
              const files = createMemoryFiles({ root, clock: createManualClock({ auto: true }) });
              const result = await files.apply('memory', [{ action: 'add', content: 'three' }]);
              if (!result.ok) assert.equal(result.reason, 'unreadable');
            } finally {
              disk.mend();
            }
          },
          check: async ({ thrown, failed }) => {
            const now = readFileSync(join(root, 'MEMORY.md'), 'utf8');
            assert.ok(now === OLD || now === NEW, `torn after ${failed}: ${now}`);
            assertFault(thrown, failed);
            if (failed === undefined) assert.equal(now, NEW);
            const again = createMemoryFiles({ root, clock: createManualClock({ auto: true }) });
            const held = existsSync(join(root, 'MEMORY.md.lock'));
            if (!held) assert.ok((await again.apply('memory', [{ action: 'add', content: 'three' }])).ok, failed);
            rmSync(root, { recursive: true, force: true });
          },
        });
        assert.ok(tried >= 12, `${tried} operations`);
      },
    );
  }

  test('a full disk and a missing permission have their codes', async (context) => {
    for (const [code, expected] of [
      ['ENOSPC', 'disk-full'],
      ['EACCES', 'no-permission'],
    ] as const) {
      const root = createTempHome(context).path;
      const files = createMemoryFiles({ root });
      const disk = breakDisk(root, {
        step: (operation) => {
          if (operation === 'renameSync') throw systemError(code, operation);
        },
        wrap: (target) => target,
        failed: undefined,
        count: 0,
      });
      try {
        await assert.rejects(files.apply('memory', [{ action: 'add', content: 'x' }]), { code: expected });
      } finally {
        disk.mend();
      }
      assert.deepEqual(readdirSync(root), [], 'no temp file, no lock stays behind');
    }
  });

  test('a file that may not be read is refused, not replaced', async (context) => {
    const root = createTempHome(context).path;
    writeFileSync(join(root, 'MEMORY.md'), OLD);
    const files = createMemoryFiles({ root });
    let reads = 0;
    const disk = breakDisk(root, {
      step: (operation) => {
        if (operation === 'readFileSync' && reads++ === 0) throw systemError('EACCES', operation);
      },
      wrap: (target) => target,
      failed: undefined,
      count: 0,
    });
    try {
      const refused = await files.apply('memory', [{ action: 'add', content: 'x' }]);
      assert.ok(!refused.ok && refused.reason === 'unreadable');
    } finally {
      disk.mend();
    }
    assert.equal(readFileSync(join(root, 'MEMORY.md'), 'utf8'), OLD);
  });

  verifies(
    'core:memory:lock-and-rename',
    'a writer killed between temp write and rename leaves the old file; the next one takes its lock over',
    async (context) => {
      const root = createTempHome(context).path;
      writeFileSync(join(root, 'MEMORY.md'), OLD);
      const dead = await writer('die', root);
      assert.equal(dead.signal, 'SIGKILL', dead.stderr);
      assert.equal(readFileSync(join(root, 'MEMORY.md'), 'utf8'), OLD);
      assert.ok(
        readdirSync(root).some((name) => name.startsWith('.mem_')),
        'it died where it should',
      );
      const files = createMemoryFiles({ root });
      assert.ok((await files.apply('memory', [{ action: 'add', content: 'three' }])).ok);
      assert.deepEqual(readdirSync(root), ['MEMORY.md']);
      assert.equal(readFileSync(join(root, 'MEMORY.md'), 'utf8'), NEW);
    },
  );

  verifies(
    'core:memory:lock-and-rename',
    'two processes add 100 entries each while a third reads: none lost, no half file seen',
    async (context) => {
      const root = createTempHome(context).path;
      const files = createMemoryFiles({ root });
      let running = true;
      const both = Promise.all([writer('add', root, 'left', '100'), writer('add', root, 'right', '100')]).finally(
        () => {
          running = false;
        },
      );
      const clock = createManualClock();
      while (running) {
        const read = files.read('memory');
        assert.ok(read.ok);
        for (const entry of read.value.entries) assert.match(entry, /^(?:left|right) \d+$/);
        await clock.advance(1);
      }
      for (const { code, stderr } of await both) assert.equal(code, 0, stderr);
      const read = files.read('memory');
      assert.ok(read.ok);
      for (const side of ['left', 'right']) {
        const mine: readonly string[] = read.value.entries.filter((entry) => entry.startsWith(side));
        assert.deepEqual(
          mine,
          Array.from({ length: 100 }, (_, i) => `${side} ${i}`),
        );
      }
    },
  );

  test('a file edited by hand between two writes keeps the edit', async (context) => {
    const root = createTempHome(context).path;
    const files = createMemoryFiles({ root });
    await files.apply('user', [{ action: 'add', content: 'likes tea' }]);
    writeFileSync(files.path('user'), 'likes coffee\n§\nlives in Ulm\n');
    const refused = await files.apply('user', [{ action: 'replace', oldText: 'likes tea', content: 'likes cake' }]);
    assert.ok(!refused.ok && refused.reason === 'not_found');
    assert.ok((await files.apply('user', [{ action: 'replace', oldText: 'coffee', content: 'likes cake' }])).ok);
    assert.equal(readFileSync(files.path('user'), 'utf8'), 'likes cake\n§\nlives in Ulm');
  });
});
