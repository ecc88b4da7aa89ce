/** What a program of a family is given and what is read of it, for any prompt and any output. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { programCall, programEnvironment, readProcessReply, withoutFrame } from '#extensions/rlm/call/process-call.ts';
import { runs } from '../../property-runs.ts';

const text = fc.string({ unit: 'binary', maxLength: 200 });
const requests = fc.record({
  call_id: text,
  system: text,
  prompt: fc.oneof(text, fc.constantFrom('{prompt}', '{system}', '$&', "$'", '{max_output_tokens}{prompt}')),
  max_output_tokens: fc.integer({ min: 1, max: 9_999 }),
  timeout_ms: fc.constant(1),
});

describe('rlm: program calls, for any text', () => {
  test('standard input is the request, whole', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const { argv, stdin } = programCall({ command: ['p', '-x'], env: [], input: 'json' }, request);
        const { timeout_ms: _, ...sent } = request;
        assert.deepEqual(argv, ['p', '-x']);
        assert.deepEqual(JSON.parse(stdin), sent);
        assert.equal(stdin.indexOf('\n'), stdin.length - 1);
      }),
    );
  });

  test('a filled argument is the text and nothing of it is filled again', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const command = ['p', 'a={prompt}!', '{system}', 'plain'];
        const { argv, stdin } = programCall({ command, env: [], input: 'json' }, request);
        assert.deepEqual(argv, ['p', `a=${request.prompt}!`, request.system, 'plain']);
        assert.equal(stdin, '');
      }),
    );
  });

  test('no variable passes that is not listed', () => {
    const names = fc.constantFrom(
      'PATH',
      'HOME',
      'LANG',
      'SECRET_KEY',
      'TALARIA_HOME',
      'LD_PRELOAD',
      'NODE_OPTIONS',
      'A',
    );
    fc.assert(
      fc.property(
        fc.dictionary(names, text),
        fc.array(names),
        fc.integer({ min: 0, max: 4 }),
        (variables, listed, outside) => {
          const given = programEnvironment(listed, { variables, outside }, 'c1');
          const allowed = new Set(['PATH', 'HOME', 'LANG', ...listed, 'TALARIA_RLM_DEPTH', 'TALARIA_RLM_CALL_ID']);
          assert.ok(Object.keys(given).every((name) => allowed.has(name)));
          assert.equal(given.TALARIA_RLM_DEPTH, String(outside + 1));
        },
      ),
    );
  });

  test('whatever is printed, the reply is well-formed text with figures that make sense or none', () => {
    const object = fc.record({
      completion: fc.anything(),
      model: fc.anything(),
      usage: fc.anything(),
      cost: fc.anything(),
    });
    const printed = fc.oneof(
      text,
      fc.json(),
      object.map((value) => String(JSON.stringify(value))),
    );
    fc.assert(
      fc.property(printed, (output) => {
        for (const shown of [output, withoutFrame(output)]) {
          const { completion, usage, cost, model } = readProcessReply(shown);
          assert.ok(completion.isWellFormed());
          assert.ok(usage === null || (Number.isSafeInteger(usage.input_tokens) && usage.output_tokens >= 0));
          assert.ok(cost === null || (Number.isFinite(cost) && cost >= 0));
          assert.notEqual(model, '');
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
