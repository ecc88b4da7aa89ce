/** What every reranker keeps, with a model or without one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Reranker } from '#core/model/embedders.ts';

export interface RerankerHarness {
  readonly reranker: Reranker;
  readonly query: string;
  /** One text that answers the query, and one that has nothing to do with it. */
  readonly good: string;
  readonly bad: string;
  readonly close?: () => Promise<void>;
}

const TEXTS = ['', 'a', 'Import a CSV file.', '計画を立てる', '\u{1F680} \u0000', 'x '.repeat(5_000)];

export function rerankerContract(name: string, make: () => RerankerHarness | Promise<RerankerHarness>): void {
  const signal = new AbortController().signal;
  const using = async (use: (harness: RerankerHarness) => Promise<void>) => {
    const harness = await make();
    try {
      await use(harness);
    } finally {
      await harness.close?.();
    }
  };

  describe(`reranker contract: ${name}`, () => {
    it('gives one score from 0 to 1 a text, in order', () =>
      using(async ({ reranker, query }) => {
        assert.notEqual(reranker.id, '');
        for (const asked of [query, '', ...TEXTS]) {
          const scores = await reranker.score(asked, TEXTS, signal);
          assert.equal(scores.length, TEXTS.length);
          for (const score of scores) assert.ok(score >= 0 && score <= 1, String(score));
        }
        assert.deepEqual(await reranker.score(query, [], signal), []);
      }));

    it('gives a text the same score, whatever stands beside it', () =>
      using(async ({ reranker, query, good }) => {
        const [alone] = await reranker.score(query, [good], signal);
        const among = (await reranker.score(query, [...TEXTS, good], signal)).at(-1);
        assert.ok(alone !== undefined && among !== undefined && Math.abs(alone - among) < 1e-6);
      }));

    it('puts the answer above what is no answer', () =>
      using(async ({ reranker, query, good, bad }) => {
        const [better, worse] = await reranker.score(query, [good, bad], signal);
        assert.ok(better !== undefined && worse !== undefined && better > worse, `${better} ${worse}`);
      }));

    it('answers calls at the same time, and stops when aborted', () =>
      using(async ({ reranker, query }) => {
        const many = await Promise.all(['a', 'b', 'c'].map((text) => reranker.score(query, [text], signal)));
        assert.equal(many.flat().length, 3);
        await assert.rejects(reranker.score(query, ['a'], AbortSignal.abort(new Error('enough'))), /enough/);
      }));
  });
}
