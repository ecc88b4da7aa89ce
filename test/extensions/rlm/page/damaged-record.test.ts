import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { renderRunPage } from '#extensions/rlm/page/render-run-page.ts';
import type { RunRecord } from '#extensions/rlm/trace/run-record.ts';
import type { JsonObject, JsonValue } from '#public/talaria.ts';
import { runs } from '../../../property-runs.ts';
import { pageTags } from './page-tags.ts';
import { sampleAsk } from './sample-ask.ts';
import { samplePage } from './sample-run.ts';

type Path = readonly (string | number)[];

function pathsOf(value: JsonValue | undefined, at: Path = []): readonly Path[] {
  if (value === null || typeof value !== 'object') return [at];
  return [at, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner as JsonValue, [...at, key]))];
}

function replaced(value: JsonValue | undefined, [key, ...rest]: Path, by: JsonValue): JsonValue {
  if (key === undefined) return by;
  const copy = structuredClone(value) as Record<string | number, JsonValue>;
  copy[key] = replaced(copy[key], rest, by);
  return copy as unknown as JsonValue;
}

/** A record of which one value, anywhere in outcome, request or the data of the events, is another. */
function damaged(input: RunRecord): fc.Arbitrary<RunRecord> {
  const { outcome, request } = input.row;
  const data = input.events.map((event) => event.data);
  const whole: JsonObject = { outcome, request, data };
  const paths = pathsOf(whole).filter((path) => path.length > 1);
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
    fc.constantFrom(null, -1, 1e300, '', []),
  );
  return fc.record({ path: fc.constantFrom(...paths), value }).map(({ path, value: by }) => {
    const other = replaced(whole, path, by) as unknown as {
      outcome: JsonObject;
      request: JsonObject;
      data: JsonObject[];
    };
    const events = input.events.map((event, at) => ({ ...event, data: (other.data[at] ?? {}) as JsonObject }));
    return { ...input, events, row: { ...input.row, outcome: other.outcome, request: other.request } };
  });
}

describe('the page of a damaged record', () => {
  for (const [name, input] of Object.entries({ run: samplePage(), ask: sampleAsk() })) {
    test(`${name}: whatever one value is, the page is drawn`, () => {
      fc.assert(
        fc.property(damaged(input), (record) => {
          const tags = pageTags(renderRunPage(record));
          assert.ok(tags.some(({ name: tag }) => tag === '/html'));
        }),
        { numRuns: runs(400) },
      );
    });
  }
});
