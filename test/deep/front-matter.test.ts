/** 100,000 random and mutated texts through the front-matter splitter: no throw, linear time. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { splitFrontMatter } from '#base/text/front-matter.ts';

const RUNS = 100_000;

describe('front matter, at length', () => {
  test('100,000 texts', () => {
    const line = fc.oneof(fc.constantFrom('---', '--- ', '---js', '...', '- -', '-'), fc.string({ maxLength: 30 }));
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, (value) => {
        const { front, body } = splitFrontMatter(value);
        assert.ok(value.endsWith(body) && (front === undefined || value.includes(front)));
      }),
      { numRuns: RUNS, seed: 7 },
    );
  });

  test('time grows with the length and no faster', () => {
    const shapes = ['---\n', '---js\n', '-', '\n', '---\n---', '... \n', '\r'];
    for (const shape of shapes) {
      const small = `---\n${shape.repeat(100_000 / shape.length)}`;
      const ratio = elapsed(small.repeat(4)) / Math.max(elapsed(small), 0.2);
      assert.ok(ratio < 12, `${JSON.stringify(shape)}: ${ratio.toFixed(1)} times the time for 4 times the length`);
    }
  });
});

function elapsed(text: string): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5; i++) {
    const from = performance.now();
    splitFrontMatter(text);
    best = Math.min(best, performance.now() - from);
  }
  return best;
}
