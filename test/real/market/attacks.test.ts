/** Buyers, sellers and evaluators who take what the protocol leaves open: none gets a key or money that is not his, and each row says what became of it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { openChain } from '#fleet/market/chain.ts';
import type { Listing } from '#fleet/market/listing.ts';
import { openTill, signPayment, ZERO } from '#fleet/market/payment.ts';
import { buy, goOn } from '#fleet/market/purchase.ts';
import { newBox, openKey, sealKey } from '#fleet/market/seal.ts';
import { describeJob } from '#fleet/market/shop.ts';
import { verifies } from '../../verifies.ts';
import { onChain } from './anvil.ts';
import { buyer, offer, type Seller, seller, skillText, spoil } from './market-stage.ts';

const RECEIVE = ['from address', 'to address', 'value uint256', 'validAfter uint256', 'validBefore uint256']
  .concat('nonce bytes32')
  .map((field) => ({ name: field.split(' ')[0] ?? '', type: field.split(' ')[1] ?? '' }));

onChain('attacks on the market', (chain) => {
  const stage = async (t: TestContext) => {
    const one = await seller(t, chain());
    const agent = await seller(t, chain());
    const [shop, other] = [(await one.serve()).address, (await agent.serve()).address];
    return { one, agent, shop, other, two: await buyer(t, chain()) };
  };
  const ask = (shop: string, id: string, box: string, payment?: string) =>
    fetch(`${shop}/api/v1/skills/${id}/purchase`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(payment ? { 'PAYMENT-SIGNATURE': payment } : {}) },
      body: JSON.stringify({ box }),
    });
  const offersOf = async (shop: string, id: string, box: string) =>
    (await ask(shop, id, box)).headers.get('PAYMENT-REQUIRED') ?? '';
  const wrongKey = async (of: Seller, shops: readonly Seller[], { id }: Listing) => {
    const other = await offer(of, shops, skillText(['another text']));
    for (const one of shops) {
      const secret = await openKey(Buffer.from(one.rows.lot(other.id)?.sealed ?? []), one.box.privateKey, other.id);
      assert.ok(secret.ok);
      await spoil(one, id, await sealKey(secret.value, one.box.publicKey, id));
    }
  };

  verifies(
    ['R2.12', 'R2.21'],
    'a nonce that was claimed for a dear skill is not opened by paying a cheap one',
    async (t) => {
      const { one, shop, two } = await stage(t);
      const [cheap, dear] = [
        await offer(one, [one], skillText(['cheap']), { base_price: '10000' }),
        await offer(one, [one], skillText()),
      ];
      const thief = newBox().publicKey;
      const wish = { via: 'direct', payTo: cheap.splitter, evaluator: ZERO, most: 400_000n, description: '' } as const;
      const paid = await signPayment(two.chain, two.key, await offersOf(shop, cheap.id, thief), wish);
      const { accepts } = JSON.parse(Buffer.from(await offersOf(shop, dear.id, thief), 'base64').toString());
      const terms = { client: two.chain.me, provider: dear.splitter, evaluator: two.chain.me, budget: '400000' };
      const authorization = { validAfter: '0', validBefore: '9999999999', signature: `0x${'11'.repeat(65)}` };
      const junk = {
        ...{ x402Version: 2, accepted: accepts.find(({ scheme }: { scheme: string }) => scheme === 'erc8183') },
        payload: {
          ...{ terms: { ...terms, expiredAt: '9999999999' }, description: describeJob(dear.id, thief) },
          ...{ nonce: paid.nonce, authorization },
        },
      };
      assert.equal((await ask(shop, dear.id, thief, Buffer.from(JSON.stringify(junk)).toString('base64'))).status, 402);
      assert.equal(one.rows.sale(paid.nonce), undefined, 'what nobody paid leaves no row');
      // All of it right, but for the signature.
      const [expiredAt, description] = [(await two.chain.now()) + 3_600, describeJob(dear.id, thief)];
      const whole = { ...terms, client: two.chain.me, budget: 400_000n, expiredAt };
      const nonce = await two.chain.nonceOf({ ...whole, evaluator: two.chain.me }, description);
      const unsigned = {
        ...junk,
        payload: { ...junk.payload, terms: { ...terms, expiredAt: String(expiredAt) }, description, nonce },
      };
      const sent = Buffer.from(JSON.stringify(unsigned)).toString('base64');
      assert.deepEqual([(await ask(shop, dear.id, thief, sent)).status, one.rows.sale(nonce)], [402, undefined]);
      // As if the shop had been killed before it knew.
      const left = { id: paid.nonce, listing: dear.id, via: 'escrow', payer: two.chain.me, box: thief } as const;
      await one.rows.beginSale({ ...left, amount: '400000', payment: JSON.stringify(junk), block: 0 });
      assert.equal((await ask(shop, cheap.id, thief, paid.header)).status, 402);
      assert.equal((await fetch(`${shop}/api/v1/deliver/${paid.nonce}`)).status, 409);
      assert.deepEqual([one.rows.keysGiven().length, await two.chain.balance(two.chain.me)], [0, 5_000_000n]);
    },
  );

  verifies(
    ['R2.42'],
    'an evaluator who never decides: after its hour the money comes back, right or wrong',
    async (t) => {
      for (const isWrong of [false, true]) {
        const mark = await chain().mark();
        const { one, agent, shop, other, two } = await stage(t);
        const listing = await offer(one, [one, agent], skillText([String(isWrong)]), { evaluator: agent.chain.me });
        if (isWrong) await wrongKey(one, [agent], listing);
        const asked = { id: listing.id, via: 'escrow' } as const;
        await assert.rejects(buy(two, { shop, ...asked }), { code: 'shop-refused' }, 'it is sold by its agent');
        await assert.rejects(buy(two, { shop: other, ...asked }), { code: 'undecided' });
        const begun = two.rows.purchases(9)[0];
        await chain().pass(4_000);
        assert.equal((await goOn(two, begun?.id ?? '')).state, 'refunded');
        assert.equal(await two.chain.balance(two.chain.me), 5_000_000n);
        await chain().back(mark);
      }
    },
  );

  verifies(
    ['R2.36'],
    'an evaluator who takes junk for what was described: the row says that the money is gone',
    async (t) => {
      const { one, agent, other, two } = await stage(t);
      const listing = await offer(one, [one, agent], skillText(), { evaluator: agent.chain.me });
      await wrongKey(one, [agent], listing);
      await assert.rejects(buy(two, { shop: other, id: listing.id, via: 'escrow' }), { code: 'undecided' });
      const [begun] = two.rows.purchases(9);
      await agent.chain.complete(BigInt(begun?.job ?? 0), listing.content_hash);
      await assert.rejects(goOn(two, begun?.id ?? ''), { code: 'wrong-delivery', message: /the money is gone/ });
      assert.deepEqual([two.rows.purchases(9)[0]?.state, two.rows.spentToday(two.chain.me)], ['paid', 400_000]);
      const own = await offer(one, [one], skillText(['own']), { evaluator: one.chain.me });
      const { address } = await one.serve();
      await assert.rejects(buy(two, { shop: address, id: own.id, via: 'escrow' }), { code: 'not-neutral' });
    },
  );

  verifies(
    ['R2.21'],
    'what its seller has submitted nobody else delivers, and no key is given for a job that ends at once',
    async (t) => {
      const { one, agent, shop, other, two } = await stage(t);
      const { id, splitter } = await offer(one, [one, agent], skillText());
      const box = newBox().publicKey;
      const description = describeJob(id, box);
      const wish = { via: 'escrow', payTo: splitter, evaluator: ZERO, most: 400_000n, description } as const;
      const { header, nonce } = await signPayment(two.chain, two.key, await offersOf(shop, id, box), wish);
      assert.equal((await ask(shop, id, box, header)).status, 200);
      const deliver = (of: string, sale: string) => fetch(`${of}/api/v1/deliver/${sale}?listing=${id}&box=${box}`);
      assert.ok((await deliver(other, nonce)).status >= 400);
      assert.equal((await deliver(shop, nonce)).status, 200);
      const poor = await chain().purse(400_000n);
      const own = await openChain(chain().places, poor.key);
      for (const seconds of [60, 86_400]) {
        const expiredAt = (await own.now()) + seconds;
        const terms = { client: own.me, provider: splitter, evaluator: own.me, budget: 400_000n, expiredAt };
        const lent = await own.nonceOf(terms, description);
        const window = { validAfter: 0n, validBefore: BigInt(expiredAt) };
        const signature = await privateKeyToAccount(`0x${poor.key}`).signTypedData({
          domain: await own.domain(),
          types: { ReceiveWithAuthorization: RECEIVE },
          primaryType: 'ReceiveWithAuthorization',
          message: { from: own.me, to: chain().places.escrow, value: 400_000n, ...window, nonce: lent },
        });
        const job = await own.fund(terms, description, { ...window, signature });
        assert.equal((await deliver(other, lent)).status, 404, `${seconds} s`);
        await own.reject(job, `0x${'00'.repeat(32)}`);
      }
      assert.equal(agent.rows.keysGiven().length, 0);
    },
  );

  verifies(['R2.21'], 'a shop that was away for a night finds what it was paid before', async (t) => {
    const { one, shop, two } = await stage(t);
    const { id, splitter } = await offer(one, [one], skillText());
    const box = newBox().publicKey;
    const wish = { via: 'direct', payTo: splitter, evaluator: ZERO, most: 400_000n, description: '' } as const;
    const { header, nonce, amount } = await signPayment(two.chain, two.key, await offersOf(shop, id, box), wish);
    const payload = Buffer.from(header, 'base64').toString();
    const sale = { id: nonce, listing: id, via: 'direct', payer: two.chain.me, box, amount: String(amount) } as const;
    await one.rows.beginSale({ ...sale, payment: payload, block: Number(await one.chain.height()) });
    assert.ok((await (await openTill(one.chain)).settle(payload)).ok);
    await chain().client.mine({ blocks: 12_000 });
    assert.equal((await one.shop.goOn(nonce)).state, 'closed');
    assert.equal((await fetch(`${shop}/api/v1/deliver/${nonce}`)).status, 200);
  });

  verifies(
    ['R2.18'],
    'withdrawn on the chain it is sold by no shop, also not by the agent who was not told',
    async (t) => {
      const { one, agent, other } = await stage(t);
      const { id } = await offer(one, [one, agent], skillText());
      await one.chain.withdraw(id);
      assert.equal((await ask(other, id, newBox().publicKey)).status, 404);
    },
  );
});
