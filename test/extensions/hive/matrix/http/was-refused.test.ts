import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wasRefused } from '#extensions/hive/matrix/http/was-refused.ts';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';

test('a plain no is told from what may have taken effect', () => {
  const error = (
    code: 'peers-forbidden' | 'peers-server-error' | 'peers-bad-response' | 'peers-timeout',
    status?: number,
  ) => new PeerError('x', { code, ...(status === undefined ? {} : { status }) });
  assert.equal(wasRefused(error('peers-forbidden', 403)), true);
  assert.equal(wasRefused(error('peers-server-error', 502)), false);
  assert.equal(wasRefused(error('peers-bad-response', 200)), false);
  assert.equal(wasRefused(error('peers-timeout')), false);
  assert.equal(wasRefused(new Error('stopped')), false);
});
