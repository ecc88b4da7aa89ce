import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  collectTextCalls,
  createTextCallParser,
  parseTextCalls,
  type TextCall,
  type TextToolSchema,
} from '#public/tool-calls.ts';
import { RENDERERS } from '../core/model/tool-calls/renderers.ts';
import { ADVERSARIAL, soup } from '../core/model/tool-calls/soup.ts';
import { TOOLS } from '../core/model/tool-calls/tools.ts';
import { ends } from '../ends.ts';
import { many, runs } from '../property-runs.ts';
import { verifies } from '../verifies.ts';

const NAMES = ['alpha', 'beta_two', 'ns.gamma', 'delta-3'];
const KEYS = ['path', 'text', 'count', 'flags', 'nested', 'free'];
const OPEN: readonly TextToolSchema[] = NAMES.map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: Object.fromEntries(KEYS.map((key) => [key, {}])) } },
}));

const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false }).map((value) => (Object.is(value, -0) ? 0 : value));
const callOf: fc.Arbitrary<TextCall> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    arguments: fc
      .dictionary(fc.constantFrom(...KEYS), json, { noNullPrototype: true })
      .map((args) => JSON.parse(JSON.stringify(args)) as Record<string, unknown>),
  })
  .map(({ name, arguments: args }) => ({ name, arguments: args }));
const callList = fc.array(callOf, { minLength: 1, maxLength: 3 });

verifies('core:strategy:text-tool-call-tag', 'render, then parse, is the identity in every JSON notation', () => {
  for (const [family, render] of Object.entries(RENDERERS)) {
    fc.assert(
      fc.property(callList, (calls) => {
        assert.deepEqual(parseTextCalls(render(calls), OPEN).calls, calls, family);
      }),
      { numRuns: runs(40) },
    );
  }
});

verifies('core:strategy:chunking-invariant', 'random cuts of token soup give the same result', () => {
  fc.assert(
    fc.property(soup(40), fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 }), (text, sizes) => {
      assert.deepEqual(cut(text, sizes), parseTextCalls(text, TOOLS));
    }),
    { numRuns: runs(1500) },
  );
});

verifies.slow('core:strategy:never-throws', 'any string, any token soup and hostile shapes are answered', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    soup(60),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(typeof parseTextCalls(text, TOOLS).content, 'string');
    }),
    { numRuns: runs(1500) },
  );
  for (const text of [
    '\ud800',
    '\0',
    '\udfff<tool_call>\ud83d',
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    '<tool_call>\0</tool_call>',
  ]) {
    assert.equal(typeof parseTextCalls(text, TOOLS).content, 'string');
  }
});

verifies.slow('core:strategy:linear-time', 'a long text of every hostile shape comes to an end', () => {
  for (const unit of ADVERSARIAL)
    ends(JSON.stringify(unit), () =>
      parseTextCalls(unit.repeat(Math.ceil(many(240_000, 60_000) / unit.length)), TOOLS),
    );
});

function cut(text: string, sizes: readonly number[]) {
  const parser = createTextCallParser(TOOLS);
  const events = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    events.push(...parser.push(text.slice(at, at + size)));
    at += size;
  }
  return collectTextCalls([...events, ...parser.end()]);
}
