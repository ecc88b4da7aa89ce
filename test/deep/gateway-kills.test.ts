import { assertKept, killGateway } from '../surfaces/gateway/gateway-kills.ts';
import { verifies } from '../verifies.ts';

/** Two homes at once, for two cores. */
verifies(
  ['R5.102', 'R5.104', 'R5.105', 'R5.106', 'R5.121'],
  '500 kills: every message is answered, in order, and no command runs twice',
  {
    options: { timeout: 900_000 },
    run: async (t) => {
      for (const kills of await Promise.all([4711, 4712].map((seed) => killGateway(t, 250, seed)))) {
        t.diagnostic(JSON.stringify({ ...kills, lines: kills.lines.length }));
        assertKept(kills);
      }
    },
  },
);
