import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Tier } from '#core/model/model-client.ts';
import {
  defaultWindow,
  LARGEST_DEFAULT_WINDOW,
  USUAL_WINDOW,
  type WindowMind,
} from '#extensions/rlm/call/call-limits.ts';

function mind(T1: number, T2: number, more: { answering?: Tier; replaced?: boolean } = {}): WindowMind {
  const families = more.replaced === true ? { default: { model: 'a/b' } } : {};
  return {
    answering: () => more.answering ?? 'T2',
    window: (tier) => (tier === 'T1' ? T1 : T2),
    config: (_section, schema) => schema.parse({ families }),
  };
}

const plain = { families: [], least: 4_096 };

describe('rlm: the window when nobody names one', () => {
  test('is that of the smaller of the two models that answer, within bounds', () => {
    assert.equal(defaultWindow(mind(16_384, 128_000), plain), 16_384);
    assert.equal(defaultWindow(mind(200_000, 12_000), plain), 12_000);
    assert.equal(defaultWindow(mind(128_000, 1_000_000), plain), LARGEST_DEFAULT_WINDOW);
    assert.equal(defaultWindow(mind(2_048, 128_000), plain), 4_096);
    assert.equal(defaultWindow(mind(16_384, 16_384), { ...plain, families: ['default'] }), 16_384);
  });

  test('is the usual one for rules, for programs and for models of a family', () => {
    assert.equal(defaultWindow(mind(1_000_000, 1_000_000, { answering: 'T0' }), plain), USUAL_WINDOW);
    for (const families of [['reflex'], ['cheap'], ['default', 'cheap']])
      assert.equal(defaultWindow(mind(128_000, 128_000), { ...plain, families }), USUAL_WINDOW);
    assert.equal(defaultWindow(mind(128_000, 128_000, { replaced: true }), plain), USUAL_WINDOW);
  });
});
