/** Memory files under random operations: caps, newest entry, round trip, atomic batches. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MemoryOperation } from '#mind/evidence/proposal.ts';
import {
  applyOperations,
  countCharacters,
  createMemoryFiles,
  joinEntries,
  normalizeEntry,
  parseEntries,
} from '#mind/memory/memory-files.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { runs } from '../property-runs.ts';
import { verifies } from '../verifies.ts';

const word = fc.constantFrom('tea', 'red', 'car', 'vim', '§', '\n', ' ', 'ö', '👩‍👩‍👧', 'x'.repeat(12));
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(word, { maxLength: 6 }).map((words) => words.join('')),
);
const operation: fc.Arbitrary<MemoryOperation> = fc.oneof(
  fc.record({ action: fc.constant('add' as const), content: text }),
  fc.record({ action: fc.constant('replace' as const), oldText: text, content: text }),
  fc.record({ action: fc.constant('remove' as const), oldText: text }),
);
const LIMITS = { memory: 60, user: 40 };

describe('memory files: properties', () => {
  verifies(
    ['core:memory:limits', 'core:memory:batch-atomic', 'core:memory:entry-format'],
    'no sequence of batches breaks the caps, the form or the newest entry',
    async (context) => {
      const root = createTempHome(context).path;
      const files = createMemoryFiles({ root, limits: LIMITS });
      const path = files.path('memory');
      const batches = fc.array(fc.array(operation, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(batches, async (run) => {
          rmSync(path, { force: true });
          for (const batch of run) {
            const before = readOrEmpty(path);
            const result = await files.apply('memory', batch);
            const now = readOrEmpty(path);
            assertSound(now);
            if (result.ok) assertNewestKept(now, batch);
            else assert.equal(now, before, 'a refused batch changes nothing');
          }
        }),
        { numRuns: runs(100) },
      );
    },
  );

  test('any text is stored so that it reads back equal, or refused', async (context) => {
    const root = createTempHome(context).path;
    const files = createMemoryFiles({ root });
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, fc.string({ unit: 'grapheme', maxLength: 200 })), async (content) => {
        rmSync(files.path('user'), { force: true });
        const result = await files.apply('user', [{ action: 'add', content }]);
        if (!result.ok) return assert.notEqual(result.reason, 'not_found');
        const read = files.read('user');
        assert.ok(read.ok);
        assert.deepEqual(read.value.entries, [normalizeEntry(content)]);
        assert.equal(normalizeEntry(normalizeEntry(content)), normalizeEntry(content));
      }),
      { numRuns: runs(120) },
    );
  });

  test('whatever stands in the file, reading never throws and a write keeps it or refuses', async (context) => {
    const root = createTempHome(context).path;
    const files = createMemoryFiles({ root, limits: LIMITS });
    const path = join(root, 'MEMORY.md');
    await fc.assert(
      fc.asyncProperty(text, text, async (found, addition) => {
        writeFileSync(path, found.toWellFormed());
        const before = files.read('memory');
        const result = await files.apply('memory', [{ action: 'add', content: `+${addition}` }]);
        const after = files.read('memory');
        assert.ok(before.ok && after.ok);
        if (!result.ok) return assert.deepEqual(after.value, before.value);
        for (const entry of before.value.entries)
          assert.ok(after.value.entries.includes(entry), JSON.stringify([found, entry]));
      }),
      { numRuns: runs(120) },
    );
  });

  test('operations on lists: an entry that was not meant is never touched', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 8 }),
        fc.string({ minLength: 1, maxLength: 3 }),
        (entries, piece) => {
          const result = applyOperations(entries, [{ action: 'remove', oldText: piece }]);
          if (result.ok) {
            const gone = entries.filter((entry) => !result.value.entries.includes(entry));
            assert.equal(gone.length, 1);
            assert.ok(gone[0]?.includes(piece) || piece.startsWith(gone[0] ?? ' '), JSON.stringify([gone, piece]));
          } else assert.ok(result.matches.every((entry) => entries.includes(entry)));
        },
      ),
    );
  });
});

function assertSound(text: string): void {
  assert.ok(countCharacters(text) <= LIMITS.memory);
  const parsed = parseEntries(text);
  assert.ok(parsed.canonical);
  assert.equal(joinEntries(parsed.entries), text);
}

function assertNewestKept(text: string, batch: readonly MemoryOperation[]): void {
  const newest = batch.at(-1);
  if (newest === undefined || newest.action === 'remove') return;
  assert.ok(parseEntries(text).entries.includes(normalizeEntry(newest.content)));
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
