import assert from 'node:assert/strict';
import { selectChunks } from '#extensions/rlm/scaffold/chunks.ts';
import { planChunks } from '#extensions/rlm/scaffold/plan-chunks.ts';
import { STRUCTURES } from '#extensions/rlm/scaffold/structure.ts';
import { verifies } from '../verifies.ts';

verifies('rlm:chunk:lossless', 'ten million lines are planned in every structure, in linear time', () => {
  const bytes = Buffer.alloc(60_000_000, 'ab cd\n');
  for (const structure of STRUCTURES) {
    const started = performance.now();
    const plan = planChunks('big', bytes, { structure, overlap_lines: 5 });
    assert.equal(plan.line_count, 10_000_000);
    assert.equal(plan.spans.at(-1)?.end_byte, bytes.length);
    const { selected, dropped } = selectChunks([plan], 6);
    assert.equal(selected.length + dropped.length, plan.spans.length);
    const took = performance.now() - started;
    assert.ok(took < 20_000, `${structure} ${Math.round(took)} ms`);
    console.log(`# ${structure} ${Math.round(took)} ms ${plan.spans.length} chunks`);
  }
});
