import assert from 'node:assert/strict';
import {
  assertKept,
  assertSeldomTwice,
  figuresOf,
  killAmongMany,
  killGateway,
} from '../surfaces/gateway/gateway-kills.ts';
import { verifies } from '../verifies.ts';

/** Two homes at once, for two cores. */
verifies(
  ['R5.102', 'R5.104', 'R5.105', 'R5.106', 'R5.121'],
  '500 kills: every message is answered, in order, and no command runs twice',
  {
    options: { timeout: 1_500_000 },
    run: async (t) => {
      const all = await Promise.all([4711, 4712].map((seed) => killGateway(t, 250, seed)));
      for (const kills of all) t.diagnostic(figuresOf(kills));
      for (const kills of all) {
        assertKept(kills);
        assert.equal(kills.lines.length, kills.wanted);
      }
      assertSeldomTwice(all);
    },
  },
);

verifies(['R5.102', 'R5.104', 'R5.121'], '50 chats × 20 messages, and processes that die at random', {
  options: { timeout: 600_000 },
  run: async (t) => {
    const kills = await killAmongMany(t, 50, 20, 30);
    t.diagnostic(figuresOf(kills));
    // How often a kill falls between what Telegram showed and our row of it hangs on the machine; each such one is counted.
    assertKept(kills);
  },
});
