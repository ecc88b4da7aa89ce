import assert from 'node:assert/strict';
import { verifies } from '../../verifies.ts';
import { assertKept, assertSeldomTwice, figuresOf, killGateway } from './gateway-kills.ts';

verifies(
  ['R5.104', 'R5.106', 'R5.121'],
  'killed at any moment, every message is answered, in order, and no command runs twice',
  async (t) => {
    const kills = await killGateway(t, 2, 4711);
    t.diagnostic(figuresOf(kills));
    assertKept(kills);
    assertSeldomTwice([kills]);
    assert.equal(kills.lines.length, kills.wanted);
  },
);
