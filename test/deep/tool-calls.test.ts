import assert from 'node:assert/strict';
import fc from 'fast-check';
import { collectTextCalls, createTextCallParser, parseTextCalls } from '#public/tool-calls.ts';

import { CODER_GLM } from '../core/model/tool-calls/cases/coder-glm.ts';
import { DAMAGED } from '../core/model/tool-calls/cases/damaged.ts';
import { EXACT_VALUES } from '../core/model/tool-calls/cases/exact-values.ts';
import { GEMMA_DEEPSEEK } from '../core/model/tool-calls/cases/gemma-deepseek.ts';
import { HERMES_QWEN } from '../core/model/tool-calls/cases/hermes-qwen.ts';
import { LLAMA_MISTRAL } from '../core/model/tool-calls/cases/llama-mistral.ts';
import { ADVERSARIAL, FRAGMENTS, soup } from '../core/model/tool-calls/soup.ts';
import { TOOLS } from '../core/model/tool-calls/tools.ts';
import { verifies } from '../verifies.ts';

const SEEDS = [...HERMES_QWEN, ...CODER_GLM, ...LLAMA_MISTRAL, ...GEMMA_DEEPSEEK, ...DAMAGED, ...EXACT_VALUES].map(
  ({ text }) => text,
);
const RUNS = 100_000;

/** A real emission with pieces deleted, doubled, replaced or swapped in. */
const mutated = fc
  .tuple(
    fc.constantFrom(...SEEDS),
    fc.array(fc.tuple(fc.nat(), fc.nat(30), fc.option(fc.constantFrom(...FRAGMENTS))), { minLength: 1, maxLength: 6 }),
  )
  .map(([text, edits]) => edits.reduce(edit, text));

function edit(text: string, [where, size, piece]: [number, number, string | null]): string {
  const at = text.length === 0 ? 0 : where % text.length;
  return (
    text.slice(0, at) + (piece ?? text.slice(at, at + size) + text.slice(at, at + size)) + text.slice(at + (size % 7))
  );
}

verifies(
  ['core:strategy:never-throws', 'core:strategy:chunking-invariant'],
  '100,000 random and mutated inputs: no throw, and a sample cut in chunks gives the same',
  () => {
    let run = 0;
    fc.assert(
      fc.property(
        fc.oneof(mutated, soup(30), fc.string({ unit: 'binary', maxLength: 120 })),
        fc.integer({ min: 1, max: 9 }),
        (text, size) => {
          const whole = parseTextCalls(text, TOOLS);
          run += 1;
          if (run % 4 === 0) assert.deepEqual(inChunks(text, size), whole);
        },
      ),
      { numRuns: RUNS },
    );
  },
);

verifies('core:strategy:linear-time', 'a megabyte of every hostile shape, whole and in small chunks', () => {
  for (const unit of [...ADVERSARIAL, ...FRAGMENTS]) {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    const start = performance.now();
    parseTextCalls(text, TOOLS);
    inChunks(text.slice(0, 100_000), 5);
    const spent = performance.now() - start;
    assert.ok(spent < 15_000, `${JSON.stringify(unit)}: ${spent.toFixed(0)} ms`);
  }
});

function inChunks(text: string, size: number) {
  const parser = createTextCallParser(TOOLS);
  const events = [];
  for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
  return collectTextCalls([...events, ...parser.end()]);
}
