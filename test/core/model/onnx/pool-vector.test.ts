import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Pooling, poolVector } from '#core/model/onnx.ts';

/** Three tokens of two numbers, the last one padding. */
const HIDDEN = { data: [3, 4, 0, 2, 8, 6], dims: [1, 3, 2] };
const MASK = { data: [1n, 1n, 0n], dims: [1, 3] };

describe('pooling', () => {
  const pooled = (pooling: Pooling, mask = MASK) =>
    [...(poolVector(HIDDEN, mask, pooling) ?? [])].map((value) => Math.round(value * 1e4) / 1e4);

  test('takes the first, the last or all tokens that are no padding, and gives length 1', () => {
    assert.deepEqual(pooled('cls'), [0.6, 0.8]);
    assert.deepEqual(pooled('last_token'), [0, 1]);
    assert.deepEqual(pooled('mean'), [0.4472, 0.8944]);
    assert.deepEqual(pooled('last_token', { data: [1n, 1n, 1n], dims: [1, 3] }), [0.8, 0.6]);
  });

  test('leaves what the model pooled as it is, and refuses what is no vector', () => {
    assert.deepEqual([...(poolVector({ data: [0, 5], dims: [1, 2] }, MASK, 'last_token') ?? [])], [0, 1]);
    assert.deepEqual([...(poolVector({ data: [0, 0], dims: [1, 2] }, undefined, 'mean') ?? [])], [0, 0]);
    for (const wrong of [
      { data: [1, 2], dims: [2, 1] },
      { data: [1, 2], dims: [1, 1, 1, 2] },
      { data: [1], dims: [1, 2] },
      { data: [Number.NaN, 1], dims: [1, 2] },
      { data: [], dims: [1, 0, 2] },
    ]) {
      assert.equal(poolVector(wrong, undefined, 'mean'), undefined, JSON.stringify(wrong));
    }
  });
});
