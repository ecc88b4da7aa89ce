/** Either side of a sale is killed at each of its steps: it ends as it would have, and is paid once. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { buy, goOn } from '#fleet/market/purchase.ts';
import { verifies } from '../../verifies.ts';
import { onChain } from './anvil.ts';
import { buyer, offer, type Seller, seller, skillText } from './market-stage.ts';

onChain('a shop that is killed', (chain) => {
  for (const via of ['escrow', 'direct'] as const)
    verifies(
      ['R2.21', 'R2.34'],
      `${via}: at each step it goes on where it was: one payment, one key, one end`,
      async (t) => {
        const one = await seller(t, chain());
        let died = 0;
        // Before one step, behind the next.
        for (let step = 1; await killedAt(t, one, { via, step, isBehind: step % 2 === 0 }); step += 1) died = step;
        assert.ok(died >= 10, String(died));
      },
    );

  /** Did it come to that step? */
  async function killedAt(
    t: TestContext,
    one: Seller,
    { via, step, isBehind }: { readonly via: 'escrow' | 'direct'; readonly step: number; readonly isBehind: boolean },
  ): Promise<boolean> {
    const text = skillText([`${via} ${step} ${isBehind}`]);
    const { id } = await offer(one, [one], text);
    const two = await buyer(t, chain());
    const mortal = await startShop(t, one, { dies: step, isBehind });
    const first = await buy(two, { shop: mortal.address, id, via }).catch((error: unknown) => error);
    const isDead = await fetch(mortal.address).then(
      () => false,
      () => true,
    );
    mortal.child.kill('SIGKILL');
    const again = await startShop(t, one, {});
    const [begun] = two.rows.purchases(9);
    // Where nothing was signed nothing is gone on with.
    const ended =
      begun === undefined ? await buy(two, { shop: again.address, id, via }) : await goOn(two, begun.id, again.address);
    again.child.kill('SIGKILL');
    const about = `${via}, step ${step}, ${isBehind ? 'behind' : 'before'}: ${first instanceof Error ? first.message : 'went through'}`;
    assert.equal(ended.state, 'completed', about);
    assert.equal(Buffer.from(ended.content ?? []).toString(), text, about);
    assert.equal(await two.chain.balance(two.chain.me), 4_600_000n, about);
    assert.equal(one.rows.keysGiven().filter(({ listing }) => listing === id).length, 1, about);
    return isDead;
  }
});

async function startShop(
  t: TestContext,
  { chain, purse, home, box }: Seller,
  deadly: { readonly dies?: number; readonly isBehind?: boolean },
): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const given = { places: chain.places, key: purse.key, home, box: box.privateKey, port: 0, ...deadly };
  const script = join(import.meta.dirname, 'shop-child.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(given)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => void child.kill('SIGKILL'));
  const [address] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), once(child, 'exit')]);
  assert.match(String(address), /^http/);
  return { child, address: String(address) };
}
