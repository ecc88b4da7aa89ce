/** What every embedder keeps, with a model or without one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Embedder } from '#core/model/embedders.ts';

export interface EmbedderHarness {
  readonly embedder: Embedder;
  /** Two texts that mean much the same, and one that has nothing to do with them. */
  readonly near: readonly [string, string];
  readonly far: string;
  readonly close?: () => Promise<void>;
}

const TEXTS = ['', 'a', 'Import a CSV file.', '計画を立てる', '\u{1F680} \u0000', 'x '.repeat(5_000)];

export function embedderContract(name: string, make: () => EmbedderHarness | Promise<EmbedderHarness>): void {
  const signal = new AbortController().signal;
  const using = async (use: (harness: EmbedderHarness) => Promise<void>) => {
    const harness = await make();
    try {
      await use(harness);
    } finally {
      await harness.close?.();
    }
  };

  describe(`embedder contract: ${name}`, () => {
    it('gives one finite vector of length 1 or 0 a text, in order', () =>
      using(async ({ embedder }) => {
        const vectors = await embedder.embed(TEXTS, signal);
        assert.equal(vectors.length, TEXTS.length);
        for (const [at, vector] of vectors.entries()) {
          assert.equal(vector.length, embedder.dimensions);
          const length = Math.hypot(...vector);
          assert.ok(
            length === 0 || Math.abs(length - 1) < 1e-3,
            `${JSON.stringify(TEXTS[at]?.slice(0, 20))}: ${length}`,
          );
        }
        assert.deepEqual(await embedder.embed([], signal), []);
      }));

    it('gives equal vectors for equal texts, whatever stands beside them', () =>
      using(async ({ embedder }) => {
        const [alone] = await embedder.embed(['Import a CSV file.'], signal);
        const among = (await embedder.embed(TEXTS, signal))[2];
        assert.ok(alone && among && dot(alone, among) > 0.999);
      }));

    it('puts like beside like', () =>
      using(async ({ embedder, near, far }) => {
        const [a, b, c] = await embedder.embed([...near, far], signal);
        assert.ok(a && b && c && dot(a, b) > dot(a, c));
      }));

    it('answers calls at the same time, and stops when aborted', () =>
      using(async ({ embedder }) => {
        const many = await Promise.all(['a', 'b', 'c'].map((text) => embedder.embed([text], signal)));
        assert.equal(many.flat().length, 3);
        await assert.rejects(embedder.embed(['a'], AbortSignal.abort(new Error('enough'))), /enough/);
      }));
  });
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}
