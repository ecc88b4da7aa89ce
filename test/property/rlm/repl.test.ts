/** Whatever program runs in the sandbox: the host never throws, the outcome is typed, and the same program gives the same outcome. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { BlockOutcome } from '#extensions/rlm/repl/repl-session.ts';
import { type Ground, openGround } from '../../extensions/rlm/repl/session/session-ground.ts';
import { many } from '../../property-runs.ts';

const TEXT = Array.from({ length: 30 }, (_, at) => `Row ${at}: the büro keeps ${at * 7} files.`).join('\n');
const REASONS = ['threw', 'out_of_memory', 'out_of_time', 'sub_call_limit', 'sandbox_died'];

const name = fc.constantFrom('a', 'b', 'c', 'row', 'print', 'context', 'h1');
const literal = fc.oneof(
  fc.integer({ min: -5, max: 400 }).map(String),
  fc.string({ maxLength: 6 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('null', 'undefined', 'NaN', '[]', '{}', 'Symbol()', '1n', '/r/g', '`t${a}`', '() => 1', 'new Map()'),
);

const { value } = fc.letrec<{ value: string; list: string }>((tie) => ({
  list: fc.array(tie('value'), { maxLength: 3 }).map((items) => items.join(', ')),
  value: fc.oneof(
    { maxDepth: 3 },
    literal,
    name,
    fc
      .tuple(
        fc.constantFrom('slice', 'line', 'lines', 'find', 'search', 'lineRange', 'lineAt', 'chunks', 'nothing'),
        tie('list'),
      )
      .map(([method, list]) => `context.${method}(${list})`),
    fc
      .tuple(
        fc.constantFrom(
          'span',
          'print',
          'finish',
          'handle',
          'compute',
          'eval',
          'Object.freeze',
          'new Proxy',
          'Reflect.ownKeys',
        ),
        tie('list'),
      )
      .map(([call, list]) => `${call}(${list})`),
    fc
      .tuple(fc.constantFrom('llmQuery', 'llmQueryBatched', 'rlmQuery'), tie('list'))
      .map(([call, list]) => `(await ${call}(${list}))`),
    fc
      .tuple(tie('value'), fc.constantFrom('+', '-', '===', '??', '&&', ','), tie('value'))
      .map(([left, mark, right]) => `(${left} ${mark} ${right})`),
    fc
      .tuple(tie('value'), fc.constantFrom('.length', '.text', '.constructor', '?.[0]', '.__proto__', '.then'))
      .map(([one, key]) => `(${one})${key}`),
    tie('list').map((list) => `[${list}]`),
    fc.tuple(name, tie('value')).map(([key, one]) => `({ ${key}: ${one}, get text() { return ${one} } })`),
  ),
}));

const statement = fc.oneof(
  fc
    .tuple(fc.constantFrom('const', 'let', 'var', ''), name, value)
    .map(([kind, left, right]) => `${kind} ${left} = ${right};`),
  value.map((one) => `print(${one});`),
  value.map((one) => `try { ${one} } catch (error) { print(error) }`),
  fc.tuple(name, value).map(([left, one]) => `for (const ${left} of ${one}) { print(${left}) }`),
  fc.tuple(value, value).map(([test, one]) => `if (${test}) { ${one} } else throw ${one}`),
  fc.tuple(name, value).map(([left, one]) => `async function ${left}() { return ${one} }`),
  fc.string({ maxLength: 20 }),
);
const program = fc.array(statement, { minLength: 1, maxLength: 6 }).map((lines) => lines.join('\n'));

describe('any program', () => {
  let one: Ground;
  let other: Ground;
  before(async () => {
    const limits = { block_ms: 2_000, sub_calls: 1_000_000, output_chars: 500 };
    [one, other] = await Promise.all([openGround(TEXT, { limits }), openGround(TEXT, { limits })]);
  });
  after(() => Promise.all([one.session.close(), other.session.close()]));

  test('ends with a typed outcome, twice with the same', async () => {
    let whole = 0;
    await fc.assert(
      fc.asyncProperty(program, async (code) => {
        const [first, second] = await Promise.all([one.run(code), other.run(code)]);
        assertTyped(first);
        if (first.failure === null) whole += 1;
        assert.deepEqual(second, first);
      }),
      { numRuns: many(300, 60), endOnFailure: true },
    );
    assert.ok(whole >= many(15, 3), `only ${whole} programs ran to their end`);
    assert.deepEqual(other.session.handles(), one.session.handles());
    assert.deepEqual(other.session.shown(), one.session.shown());
  });
});

function assertTyped(outcome: BlockOutcome): void {
  assert.deepEqual(Object.keys(outcome).sort(), ['answer', 'cut', 'failure', 'output', 'variables']);
  assert.ok(outcome.output.length <= 500 && outcome.cut >= 0);
  assert.ok(outcome.failure === null || REASONS.includes(outcome.failure.reason));
  for (const part of outcome.answer ?? []) assert.ok(typeof part.text === 'string' && Array.isArray(part.handles));
}
