/** On real conversations: whatever evidence left the context is found again by its own words, and a question finds as much as before. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { replay } from '../../bench/compaction-run.ts';
import { readConversations } from '../../bench/locomo-data.ts';
import { verifies } from '../verifies.ts';

describe('what compression took out of the context', () => {
  verifies('core:compression:evidence-found', 'every evidence message is found by its own three rarest words', {
    options: { skip: readConversations() === undefined && 'skipped: set TALARIA_DATA' },
    run: async () => {
      for (const conversation of readConversations() ?? []) {
        const { compressions, left, missing, compressedRecall, plainRecall } = await replay(conversation);
        assert.ok(compressions > 1 && left > 20);
        assert.deepEqual(missing, []);
        assert.ok(compressedRecall >= plainRecall - 0.01, `${compressedRecall} against ${plainRecall}`);
      }
    },
  });
});
