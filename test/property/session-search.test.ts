import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { userMessage } from '#core/model/message.ts';
import { withStore } from '../mind/sessions/temp-store.ts';
import { runs } from '../property-runs.ts';
import { verifies } from '../verifies.ts';
import { anyQuestion, fillForQueries } from './query-strings.ts';

describe('any string is a legal question', () => {
  verifies('core:recall:any-string-legal', 'random, mutated and hostile strings are answered with a list', () =>
    withStore(async (store) => {
      await fillForQueries(store);
      const ask = fc.asyncProperty(anyQuestion, async (question) => {
        const hits = await store.search(question, { limit: 5, roles: ['user', 'assistant', 'tool'] });
        assert.ok(hits.length <= 5);
        assert.ok(hits.every((hit) => hit.snippet.isWellFormed() && Number.isFinite(hit.score)));
      });
      await fc.assert(ask, { numRuns: runs(1500) });
      assert.equal((await store.checkIndex()).agrees, true);
    }),
  );

  test('a megabyte is a question like any other', () =>
    withStore(async (store) => {
      await fillForQueries(store);
      for (const unit of ['lighthouse ', '" OR ', '東', 'x', ' ', '\u{d800}', "'"]) {
        await store.search(unit.repeat(Math.ceil(1_000_000 / unit.length)));
      }
    }));

  test('any message can be stored, read back and indexed as it is written', () =>
    withStore(async (store) => {
      const { id } = await store.create({ source: 'cli', cwd: '/' });
      const keep = fc.asyncProperty(anyQuestion, async (text) => {
        const stored = await store.append(id, userMessage(text.toWellFormed()));
        const read = (await store.messages(id)).at(-1);
        assert.deepEqual(read, stored);
      });
      await fc.assert(keep, { numRuns: runs(1500) });
      assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
    }));
});
