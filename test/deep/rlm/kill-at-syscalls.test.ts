/** An rlm run killed at its system calls: its record is whole, and it can be gone on with. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import { openTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { type Command, keeps, survivesKills } from '../killed-commands.ts';

const RUN: Command = {
  args: ['rlm', 'run', 'notes.md', '--question', 'When was the lighthouse painted?'],
  check: (place, _killed, next) => {
    keeps(place, next);
    const store = openTraceStore(place.home);
    try {
      assert.deepEqual(store.notices, []);
      for (const row of store.list()) {
        assert.deepEqual(verifyRun(readRunRecord(store, row)), []);
        if (row.ended_at === null) assert.equal(store.reopen(row.run_id).ok, true, 'it can be gone on with');
      }
    } finally {
      store.close();
    }
  },
};

describe('kill −9 at system calls of a run', () => {
  survivesKills('rlm run', RUN);
});
