import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { called, createBackfillStage, result, said, user } from './backfill-stage.ts';

const id = fc.option(fc.constantFrom('a', 'b', 'call_0', ''), { nil: undefined });
const name = fc.constantFrom('terminal', 'skill_view', 'read_file');
const message = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map(user),
  fc.string({ unit: 'binary', maxLength: 20 }).map(said),
  fc
    .array(fc.tuple(id, name, fc.oneof(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()))), { maxLength: 3 })
    .map((calls) => called(...calls)),
  fc.tuple(id, fc.oneof(fc.string(), fc.jsonValue())).map(([one, content]) => result(one, content)),
  fc.jsonValue(),
);

describe('any transcript', () => {
  test('is taken or counted as failed; a second time adds nothing; each call is one event', async (t) => {
    const stage = createBackfillStage(t);
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 12 }), async (messages) => {
        n += 1;
        const path = stage.file(`s${n}`, { messages });
        const first = await stage.fill({ limit: 1 });
        const asked = messages.flatMap((one) => {
          const call = one as { role?: unknown; tool_calls?: unknown } | null;
          return call?.role === 'assistant' && Array.isArray(call.tool_calls) ? call.tool_calls : [];
        });
        assert.deepEqual([first.files_failed, first.session_events_imported], [0, 1]);
        assert.equal(first.tool_events_imported, asked.length);
        const again = await stage.fill({ limit: 1 });
        assert.deepEqual([again.tool_events_imported, again.turn_events_imported, again.sessions_imported], [0, 0, 0]);

        rmSync(path);
      }),
      { numRuns: 40 },
    );
  });
});
