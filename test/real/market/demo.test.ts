/** `npm run demo:market`, as somebody who looks at it first types it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { findChain } from '../../../scripts/compile-contracts.ts';
import { verifies } from '../../verifies.ts';
import { CHAIN_SKIP } from './anvil.ts';

const root = join(import.meta.dirname, '../../..');
const play = (environment: NodeJS.ProcessEnv) =>
  spawnSync(process.execPath, ['scripts/demo-market.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });

if (findChain() === undefined) test('the demo of the market', { skip: CHAIN_SKIP }, () => undefined);
else
  verifies(
    ['R2.22', 'R2.47'],
    'the demo of the market: each state, what everybody has, and why the buyer holds it',
    () => {
      const { status, stdout, stderr } = play({});
      assert.equal(status, 0, stderr);
      for (const side of ['sale: closed', 'purchase: completed', 'purchase: ingested'])
        assert.ok(stdout.includes(side), stdout);
      const [before, after] = [...stdout.matchAll(/^balances: (.*)$/gm)].map(([, line = '']) => sumOf(line));
      assert.deepEqual([before, after], [2_000_000, 2_000_000]);
      assert.match(stdout, /alpha-gen1: ADOPT, accepted: from outside the clade: 0\.5 ×/);
    },
  );

/** Micro-dollars of all. */
function sumOf(line: string): number {
  return [...line.matchAll(/\$(\d+\.\d+)/g)].reduce((sum, [, text = '']) => sum + Math.round(Number(text) * 1e6), 0);
}

test('without the chain it says which script fetches it', () => {
  const { status, stderr } = play({ TALARIA_TEST_CHAIN: '/nowhere', XDG_CACHE_HOME: '/nowhere', HOME: '/nowhere' });
  assert.deepEqual([status, /sh scripts\/fetch-chain\.sh/.test(stderr)], [1, true]);
});
