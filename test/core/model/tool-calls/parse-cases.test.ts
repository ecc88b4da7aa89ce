import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collectTextCalls, createTextCallParser, parseTextCalls } from '#core/model/tool-calls/text-call-parser.ts';
import { stride } from '../../../property-runs.ts';
import { verifies } from '../../../verifies.ts';
import { CODER_GLM } from './cases/coder-glm.ts';
import { DAMAGED } from './cases/damaged.ts';
import { EXACT_VALUES } from './cases/exact-values.ts';
import { GEMMA_DEEPSEEK } from './cases/gemma-deepseek.ts';
import { HERMES_QWEN } from './cases/hermes-qwen.ts';
import { LLAMA_MISTRAL } from './cases/llama-mistral.ts';
import { PROSE } from './cases/prose.ts';
import { PROSE_QUOTED } from './cases/prose-quoted.ts';
import { PROSE_TOKENS } from './cases/prose-tokens.ts';
import { REASONING } from './cases/reasoning.ts';
import { WORST } from './cases/worst.ts';
import { type Case, TOOLS } from './tools.ts';

const GROUPS: Readonly<Record<string, readonly Case[]>> = {
  'hermes and qwen': HERMES_QWEN,
  'qwen coder, glm and markup': CODER_GLM,
  'llama, pythonic, mistral, granite, xlam': LLAMA_MISTRAL,
  'gemma, deepseek, kimi, cohere, lfm2, gpt-oss, react': GEMMA_DEEPSEEK,
  reasoning: REASONING,
  worst: WORST,
  'damaged markup': DAMAGED,
  'exact values': EXACT_VALUES,
  prose: PROSE,
  'prose with quoted calls': PROSE_QUOTED,
  'prose about tokens': PROSE_TOKENS,
};

function judge(row: Case): void {
  const result = parseTextCalls(row.text, TOOLS);
  assert.deepEqual(result.calls, row.calls);
  if (row.content !== undefined) assert.equal(result.content, row.content);
  if (row.reasoning !== undefined) assert.equal(result.reasoning, row.reasoning);
  assert.deepEqual(
    result.malformed.map(({ reason }) => reason),
    row.malformed ?? [],
  );
}

for (const [group, rows] of Object.entries(GROUPS)) {
  describe(`text calls: ${group}`, () => {
    for (const row of rows) test(row.title, () => judge(row));
  });
}

test('the cases are many', () => {
  const negative = PROSE.length + PROSE_QUOTED.length + PROSE_TOKENS.length;
  const all = Object.values(GROUPS).flat().length;
  assert.ok(negative >= 160, `negative ${negative}`);
  assert.ok(all - negative >= 350, `positive ${all - negative}`);
});

verifies.slow(
  'core:strategy:chunking-invariant',
  'split points of every case, and single characters, give the same result (each, in a deep run)',
  () => {
    for (const [at, { text, title }] of Object.values(GROUPS).flat().entries()) {
      const whole = parseTextCalls(text, TOOLS);
      for (let split = 1 + (at % stride()); split < text.length; split += stride()) {
        assert.deepEqual(inChunks([text.slice(0, split), text.slice(split)]), whole, `${title} at ${split}`);
      }
      if (at % stride(4) === 0) assert.deepEqual(inChunks([...text]), whole, `${title} by character`);
    }
  },
);

function inChunks(chunks: readonly string[]) {
  const parser = createTextCallParser(TOOLS);
  return collectTextCalls([...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()]);
}
