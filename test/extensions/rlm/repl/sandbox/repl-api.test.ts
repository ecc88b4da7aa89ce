/** The words that a model is given are those of the sandbox: nothing is missing, nothing is promised that is not there. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REPL_API, REPL_CALLS } from '#extensions/rlm/repl/repl-api.rules.ts';
import { withGround } from '../session/session-ground.ts';

describe('the API in words', () => {
  test('names what is there, and all of it', () =>
    withGround('text', {}, async ({ prints }) => {
      const told = new Set(REPL_CALLS.flatMap(({ call }) => call.match(/context\.\w+|\b\w+(?=\()/g) ?? []));
      const inside = await prints(
        'print([...Object.getOwnPropertyNames(context).map((name) => "context." + name), ..."print span handle llmQuery llmQueryBatched rlmQuery compute finish".split(" ").filter((name) => typeof globalThis[name] === "function")].join())',
      );
      const there = new Set(inside.split(',').filter((name) => name !== 'context.toString'));
      const methods = new Set([...told].filter((name) => !there.has(`context.${name}`) && name !== 'or'));
      assert.deepEqual([...methods].sort(), [...there].sort());
    }));

  test('is one text of some 40 lines at most', () => {
    assert.ok(REPL_API.split('\n').length <= 40);
    for (const { call, gives } of REPL_CALLS) assert.ok(call !== '' && gives.endsWith('.'));
  });
});
