/** A sale from end to end on a real EVM: by escrow, at once, rejected, expired, by the agent; replayed, dearer than allowed, and searched for. */
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { openChain } from '#fleet/market/chain.ts';
import { buy, goOn, readListing, searchShop, sendReview } from '#fleet/market/purchase.ts';
import { newBox, openKey, sealKey } from '#fleet/market/seal.ts';
import { describeJob } from '#fleet/market/shop.ts';
import { realClock } from '../../ground.ts';
import { verifies } from '../../verifies.ts';
import { onChain } from './anvil.ts';
import { buyer, filesOf, GAS, offer, STYX, seller, sentTo, skillText, spoil } from './market-stage.ts';

const RECEIVE = [
  'from address',
  'to address',
  'value uint256',
  'validAfter uint256',
  'validBefore uint256',
  'nonce bytes32',
].map((field) => {
  const [name = '', type = ''] = field.split(' ');
  return { name, type };
});

onChain('a sale', (chain) => {
  const stage = async (t: TestContext) => {
    const one = await seller(t, chain());
    const shop = await one.serve();
    const two = await buyer(t, chain());
    return { one, shop: shop.address, two };
  };

  verifies(['R2.4', 'R2.20', 'R2.21', 'R2.40'], 'by escrow: paid, delivered, opened, completed, parted', async (t) => {
    const { one, shop, two } = await stage(t);
    const text = skillText();
    const { id, splitter } = await offer(one, [one], text);
    const styx = await two.chain.balance(STYX);
    const bought = await buy(two, { shop, id, via: 'escrow' });
    assert.deepEqual([bought.state, bought.amount], ['completed', 400_000]);
    assert.equal(Buffer.from(bought.content ?? []).toString('utf8'), text);
    assert.equal((await two.chain.job(BigInt(bought.job ?? 0)))?.status, 'completed');
    assert.equal(one.rows.sale(bought.nonce)?.state, 'closed');
    const balances = [two.chain.me, splitter, one.chain.me].map((of) => two.chain.balance(of));
    assert.deepEqual(await Promise.all(balances), [4_600_000n, 0n, 372_000n]);
    assert.equal((await two.chain.balance(STYX)) - styx, 20_000n);
    assert.equal(one.rows.keysGiven().length, 1);
  });

  verifies(
    ['R2.20', 'R2.31'],
    'at once: any x402 client of the packages pays a resale, and the first creator gets his part',
    async (t) => {
      const { one, shop, two } = await stage(t);
      const creator = (await chain().purse()).address;
      const { id } = await offer(one, [one], skillText(), { creator });
      const gas = await two.chain.balance(GAS);
      const bought = await buy(two, { shop, id, via: 'direct' });
      assert.deepEqual([bought.state, bought.job], ['completed', null]);
      assert.deepEqual(await Promise.all([creator, one.chain.me].map((of) => two.chain.balance(of))), [
        20_000n,
        352_000n,
      ]);
      assert.equal((await two.chain.balance(GAS)) - gas, 8_000n);
    },
  );

  describe('what goes wrong', () => {
    verifies(['R2.12', 'R2.21'], 'what was paid to others, too little, or sent by others opens nothing', async (t) => {
      const { one, shop } = await stage(t);
      const agent = await seller(t, chain());
      const other = (await agent.serve()).address;
      const [cheap, dear] = [
        await offer(one, [one, agent], skillText(['cheap'])),
        await offer(one, [one, agent], skillText()),
      ];
      const thief = newBox().publicKey;
      const ask = (id: string, signature: string) =>
        fetch(`${other}/api/v1/skills/${id}/purchase`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'PAYMENT-SIGNATURE': signature },
          body: JSON.stringify({ box: thief }),
        });
      for (const via of ['direct', 'escrow'] as const) {
        const [mine, wanted] = via === 'direct' ? [cheap, dear] : [dear, cheap];
        const bought = await buy(await buyer(t, chain()), { shop, id: mine.id, via });
        const { header } = JSON.parse(bought.payment);
        // Sent again to a shop that holds the lot and never saw it, with a box of one's own.
        assert.equal((await ask(mine.id, header)).status, 402);
        // And as if it had been for the other listing.
        const payload = JSON.parse(Buffer.from(header, 'base64').toString());
        payload.accepted.payTo = wanted.splitter;
        if (via === 'escrow') payload.payload.description = describeJob(wanted.id, thief);
        assert.equal((await ask(wanted.id, Buffer.from(JSON.stringify(payload)).toString('base64'))).status, 402);
        const delivered = await fetch(`${other}/api/v1/deliver/${bought.nonce}?listing=${wanted.id}&box=${thief}`);
        assert.ok([404, 409].includes(delivered.status), String(delivered.status));
      }
      // A job of one's own, for a millionth of a dollar.
      const poor = await chain().purse(10n);
      const own = await openChain(chain().places, poor.key);
      const expiredAt = (await own.now()) + 3_600;
      const terms = { client: own.me, provider: dear.splitter, evaluator: own.me, budget: 1n, expiredAt };
      const nonce = await own.nonceOf(terms, describeJob(dear.id, thief));
      const window = { validAfter: 0n, validBefore: BigInt(expiredAt) };
      const signature = await privateKeyToAccount(`0x${poor.key}`).signTypedData({
        domain: await own.domain(),
        types: { ReceiveWithAuthorization: RECEIVE },
        primaryType: 'ReceiveWithAuthorization',
        message: { from: own.me, to: chain().places.escrow, value: 1n, ...window, nonce },
      });
      await own.fund(terms, describeJob(dear.id, thief), { ...window, signature });
      assert.equal((await fetch(`${other}/api/v1/deliver/${nonce}?listing=${dear.id}&box=${thief}`)).status, 404);
      assert.equal(agent.rows.keysGiven().length, 0);
    });

    verifies(['R2.41'], 'a wrong key is rejected, and the money comes back', async (t) => {
      const { one, shop, two } = await stage(t);
      const { id } = await offer(one, [one], skillText());
      const other = await offer(one, [one], skillText(['another text']));
      // Of the other listing, sealed for this one.
      const secret = await openKey(Buffer.from(one.rows.lot(other.id)?.sealed ?? []), one.box.privateKey, other.id);
      assert.ok(secret.ok);
      await spoil(one, id, await sealKey(secret.value, one.box.publicKey, id));
      const bought = await buy(two, { shop, id, via: 'escrow' });
      assert.deepEqual([bought.state, bought.content], ['rejected', null]);
      assert.equal(await two.chain.balance(two.chain.me), 5_000_000n);
      assert.equal(one.rows.sale(bought.nonce)?.state, 'returned');
    });

    verifies(
      ['R2.10', 'R2.41'],
      'what does not hold its preview is rejected; an hour of listing that lies ahead is refused',
      async (t) => {
        const { one, shop, two } = await stage(t);
        const { id } = await offer(one, [one], skillText(), { preview: 'It makes coffee, too.' });
        assert.equal((await buy(two, { shop, id, via: 'escrow' })).state, 'rejected');
        assert.equal(await two.chain.balance(two.chain.me), 5_000_000n);
        const ahead = await offer(one, [one], skillText(['later']), { listed_at: realClock.now() + 86_400_000 });
        await assert.rejects(buy(two, { shop, id: ahead.id, via: 'escrow' }), { code: 'not-listed' });
      },
    );

    verifies(['R2.42'], 'a seller who never submits: after its time the money comes back', async (t) => {
      const mark = await chain().mark();
      const { one, shop, two } = await stage(t);
      const { id } = await offer(one, [one], skillText());
      await spoil(one, id, new Uint8Array(112));
      await assert.rejects(buy(two, { shop, id, via: 'escrow' }), { code: 'shop-refused' });
      const [begun] = two.rows.purchases(1);
      assert.equal(begun?.state, 'paid');
      await chain().pass(4_000);
      const ended = await goOn(two, begun.id);
      assert.equal(ended.state, 'refunded');
      assert.equal(await two.chain.balance(two.chain.me), 5_000_000n);
      await chain().back(mark);
    });

    verifies(
      ['R2.20'],
      'what costs more than is allowed, or than its formula says, is refused before anything is signed',
      async (t) => {
        const { one, shop } = await stage(t);
        const poor = await buyer(t, chain(), { payment: 300_000n });
        const { id } = await offer(one, [one], skillText());
        await assert.rejects(buy(poor, { shop, id, via: 'escrow' }), { code: 'offer-refused' });
        const used = await buyer(t, chain(), { day: 500_000n });
        await buy(used, { shop, id, via: 'escrow' });
        const { id: second } = await offer(one, [one], skillText(['more']));
        await assert.rejects(buy(used, { shop, id: second, via: 'direct' }), { code: 'offer-refused' });
        await assert.rejects(buy(used, { shop, id, via: 'direct' }), { code: /already-bought|offer-refused/ });
        assert.deepEqual([poor.rows.purchases(9).length, used.rows.purchases(9).length], [0, 1]);
      },
    );

    verifies(['R2.20'], 'a payment that was made gets 402 when it is made again, and nothing moves', async (t) => {
      const { one, shop, two } = await stage(t);
      const { id } = await offer(one, [one], skillText());
      for (const via of ['escrow', 'direct'] as const) {
        const listing = via === 'escrow' ? id : (await offer(one, [one], skillText(['again']))).id;
        const bought = await buy(two, { shop, id: listing, via });
        const before = await two.chain.balance(two.chain.me);
        const { header } = JSON.parse(bought.payment);
        const box = JSON.stringify({ box: JSON.parse(bought.box).publicKey });
        const headers = { 'Content-Type': 'application/json', 'PAYMENT-SIGNATURE': header };
        const again = await fetch(`${shop}/api/v1/skills/${listing}/purchase`, { method: 'POST', headers, body: box });
        assert.equal(again.status, 402);
        assert.equal(await two.chain.balance(two.chain.me), before);
      }
    });
  });

  verifies(['R2.21'], 'a seller who is gone: his agent delivers what he sold, and keeps a row of it', async (t) => {
    const { one, two } = await stage(t);
    const agent = await seller(t, chain());
    const { id } = await offer(one, [one, agent], skillText());
    const shop = (await agent.serve()).address;
    const bought = await buy(two, { shop, id, via: 'escrow' });
    assert.deepEqual([bought.state, agent.rows.keysGiven().length, one.rows.keysGiven().length], ['completed', 1, 0]);
  });

  verifies(
    ['R2.12', 'R2.21'],
    'a job that was paid for at the seller’s is delivered by the agent who never saw the payment',
    async (t) => {
      const { one, shop, two } = await stage(t);
      const agent = await seller(t, chain());
      const { id } = await offer(one, [one, agent], skillText());
      await spoil(one, id, new Uint8Array(112));
      await assert.rejects(buy(two, { shop, id, via: 'escrow' }), { code: 'shop-refused' });
      const [begun] = two.rows.purchases(1);
      const other = (await agent.serve()).address;
      const ended = await goOn(two, begun?.id ?? '', other);
      assert.equal(ended.state, 'completed');
    },
  );

  verifies(
    ['R2.5', 'R2.17', 'R2.18', 'R2.19'],
    'it is found by words that do not leave, read before it is paid, and reviewed by who bought it',
    async (t) => {
      const { one, shop, two } = await stage(t);
      const { id } = await offer(one, [one], skillText());
      assert.deepEqual(
        (await searchShop(shop, ['Compiler', 'build'])).map((found) => found.id),
        [id],
      );
      assert.deepEqual(await searchShop(shop, ['zeppelin']), []);
      const { preview, lineage, confidence } = await readListing(shop, id);
      assert.deepEqual([[...preview].length, lineage, confidence], [500, ['alpha-gen1'], 1]);
      const bought = await buy(two, { shop, id, via: 'escrow' });
      const said = { stars: 4, text: 'It mends builds.', record: { uses: 3, successes: 2 } };
      await sendReview({ chain: two.chain, key: two.key }, bought, said);
      await assert.rejects(sendReview({ chain: two.chain, key: two.key }, bought, said), { code: 'shop-refused' });
      const page = await (await fetch(`${shop}/skills/${id}`)).text();
      assert.match(page, /4 of 5: It mends builds\. \(worked 2 of 3 times there\)/);
    },
  );

  verifies(
    ['R2.12', 'R2.15'],
    'neither chain nor log, catalogue, rows or audit hold a sentence of the content or the key before it is delivered',
    async (t) => {
      const { one, shop } = await stage(t);
      const sentinels = Array.from({ length: 20 }, (_, at) => `Sentinel ${at} walks the wall at ${at * 7919}.`);
      const { id } = await offer(one, [one], skillText(sentinels));
      const lot = one.rows.lot(id);
      const secret = await openKey(Buffer.from(lot?.sealed ?? []), one.box.privateKey, id);
      assert.ok(secret.ok);
      assert.equal(one.log.length, 1);
      const pages = await Promise.all(
        ['/', `/skills/${id}`, `/api/v1/skills/${id}`, '/api/v1/skills'].map(async (path) =>
          (await fetch(shop + path)).text(),
        ),
      );
      const seen = [...(await sentTo(chain())), JSON.stringify(one.log), ...pages, ...filesOf(one.home)];
      const wanted = [
        ...sentinels,
        ...[secret.value.key, secret.value.salt].flatMap((bytes) => [
          bytes.toString('hex'),
          bytes.toString('base64'),
          bytes.toString('latin1'),
        ]),
      ];
      for (const text of wanted)
        assert.ok(
          seen.every((one) => !one.includes(text)),
          text,
        );
    },
  );
});
