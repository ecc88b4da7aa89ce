import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { redactSecrets } from '#base/secrets.ts';
import { redactJson, redactObject } from '#mind/evidence/redact-json.ts';
import type { JsonValue } from '#public/talaria.ts';

const KEY = 'sk-ant-api03-k3JH2kj4h5KJH34kjh5KJh345kjh';

describe('redaction of JSON data', () => {
  test('takes secrets out wherever they stand, also those that only their key gives away', () => {
    const clean = redactObject(
      { a: [`x ${KEY}`], env: { password: 'hunter2!Xyz', user: 'sam' }, n: 1, no: null, gone: undefined },
      redactSecrets,
    );
    assert.deepEqual(clean, {
      a: ['x [redacted:anthropic-key]'],
      env: { password: '[redacted:password]', user: 'sam' },
      n: 1,
      no: null,
    });
  });

  test('leaves what holds no secret as it is, twice as once', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = redactJson(value as JsonValue, redactSecrets);
        assert.deepEqual(redactJson(once, redactSecrets), once);
        assert.deepEqual(
          redactJson(value as JsonValue, (text) => text),
          value,
        );
      }),
    );
  });
});
