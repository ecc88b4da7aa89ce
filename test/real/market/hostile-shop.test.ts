/** What a strange shop, a strange clock, two at once and a chain that takes back what it said come to: nothing is signed, or a row says where it stands. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { openTill, ZERO } from '#fleet/market/payment.ts';
import { buy, goOn, readListing, searchShop } from '#fleet/market/purchase.ts';
import { openKey, sealKey } from '#fleet/market/seal.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { realClock } from '../../ground.ts';
import { verifies } from '../../verifies.ts';
import { onChain } from './anvil.ts';
import { buyer, offer, seller, skillText, spoil } from './market-stage.ts';

const DAY = 86_400_000;

onChain('strange shops', (chain) => {
  const stage = async (t: TestContext) => {
    const one = await seller(t, chain());
    return { one, shop: (await one.serve()).address, two: await buyer(t, chain()) };
  };
  const serving = async (t: TestContext, answer: (path: string, response: ServerResponse) => void) => {
    const server = createServer((request, response) => answer(request.url ?? '', response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.closeAllConnections());
    t.after(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  verifies(
    'R2.20',
    'a redirect, ten megabytes and more, a catalogue without end: each ends with its name',
    async (t) => {
      const { one } = await stage(t);
      const listing = await offer(one, [one], skillText());
      const elsewhere = await serving(t, (_, response) =>
        response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
      );
      await assert.rejects(readListing(elsewhere, listing.id), { code: 'shop-silent' });
      const large = await serving(t, (_, response) => response.end(Buffer.alloc(40 * 1024 ** 2, 32)));
      await assert.rejects(readListing(large, listing.id), { code: /^shop-/ });
      let pages = 0;
      const endless = await serving(t, (path, response) => {
        pages += 1;
        const isFilter = path.endsWith('/filter');
        response.end(JSON.stringify(isFilter ? {} : { listings: [{ name: 'x' }], next: String(pages) }));
      });
      assert.deepEqual(await searchShop(endless, []), []);
      assert.ok(pages <= 502, String(pages));
    },
  );

  verifies('R2.20', 'of fifty offers none that is dearer, elsewhere or of another scheme is signed', async (t) => {
    const { one, two } = await stage(t);
    const listing = await offer(one, [one], skillText());
    const till = await openTill(one.chain);
    const dear = {
      via: 'direct',
      amount: 900_000_000n,
      payTo: listing.splitter,
      evaluator: ZERO,
      jobSeconds: 60,
    } as const;
    const { header } = await till.required(
      'http://127.0.0.1',
      Array.from({ length: 50 }, () => dear),
    );
    const shop = await serving(t, (path, response) => {
      if (path.endsWith('/purchase')) response.writeHead(402, { 'PAYMENT-REQUIRED': header }).end('{}');
      else response.end(JSON.stringify({ listing }));
    });
    for (const via of ['direct', 'escrow'] as const)
      await assert.rejects(buy(two, { shop, id: listing.id, via }), { code: 'offer-refused' });
    assert.equal(two.rows.purchases(9).length, 0);
  });

  verifies(
    'R2.24',
    'a clock that is a day off buys nothing dearer: ahead it is offered too much, behind nothing is listed yet',
    async (t) => {
      const { one, shop } = await stage(t);
      const { id } = await offer(one, [one], skillText());
      for (const [off, code] of [
        [DAY, 'offer-refused'],
        [-DAY, 'not-listed'],
      ] as const) {
        const two = await buyer(t, chain(), { clock: createManualClock({ now: realClock.now() + off }) });
        await assert.rejects(buy(two, { shop, id, via: 'escrow' }), { code });
        assert.equal(two.rows.purchases(9).length, 0);
      }
    },
  );

  verifies(
    ['R2.20', 'R2.21'],
    'two buyers at once are two sales; two processes of one purse do not pass its day',
    async (t) => {
      const { one, shop, two } = await stage(t);
      const { id } = await offer(one, [one], skillText());
      const three = await buyer(t, chain());
      const both = await Promise.all([two, three].map((each) => buy(each, { shop, id, via: 'escrow' })));
      assert.deepEqual([both.map(({ state }) => state), one.rows.keysGiven().length], [['completed', 'completed'], 2]);
      const poor = await buyer(t, chain(), { day: 500_000n });
      const ids = [await offer(one, [one], skillText(['a'])), await offer(one, [one], skillText(['b']))];
      const settled = await Promise.allSettled(ids.map((each) => buy(poor, { shop, id: each.id, via: 'direct' })));
      assert.deepEqual(settled.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      assert.deepEqual([poor.rows.purchases(9).length, await poor.chain.balance(poor.chain.me)], [1, 4_600_000n]);
    },
  );

  verifies(
    'R2.21',
    'a wrong delivery that was paid at once: nothing is given out, and the row and the day say that it was paid',
    async (t) => {
      const { one, shop, two } = await stage(t);
      const [listing, other] = [await offer(one, [one], skillText()), await offer(one, [one], skillText(['another']))];
      const secret = await openKey(Buffer.from(one.rows.lot(other.id)?.sealed ?? []), one.box.privateKey, other.id);
      assert.ok(secret.ok);
      await spoil(one, listing.id, await sealKey(secret.value, one.box.publicKey, listing.id));
      await assert.rejects(buy(two, { shop, id: listing.id, via: 'direct' }), { code: 'wrong-delivery' });
      const [row] = two.rows.purchases(9);
      assert.deepEqual([row?.state, row?.content, two.rows.spentToday(two.chain.me)], ['paid', null, 400_000]);
    },
  );

  verifies('R2.21', 'a chain that takes back what it said: neither side comes to an end by it', async (t) => {
    const { one, shop, two } = await stage(t);
    const { id } = await offer(one, [one], skillText());
    await spoil(one, id, new Uint8Array(112));
    const before = await chain().mark();
    await assert.rejects(buy(two, { shop, id, via: 'escrow' }), { code: 'shop-refused' });
    const [begun] = two.rows.purchases(9);
    await chain().back(before);
    await assert.rejects(goOn(two, begun?.id ?? ''), { code: 'chain-behind' });
    await assert.rejects(one.shop.goOn(begun?.nonce ?? '0x'), { code: 'chain-behind' });
    assert.deepEqual(
      [two.rows.purchases(9)[0]?.state, one.rows.sale(begun?.nonce ?? '')?.state, one.rows.keysGiven().length],
      ['paid', 'paid', 0],
    );
    await chain().pass(5_000);
    assert.equal((await goOn(two, begun?.id ?? '')).state, 'dropped');
    assert.deepEqual([await two.chain.balance(two.chain.me), two.rows.spentToday(two.chain.me)], [5_000_000n, 0]);
  });
});
