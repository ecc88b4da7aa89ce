/** Payment on the wire, with the packages of x402 on the other side: their client pays our shop, and our purse pays their server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { x402Facilitator } from '@x402/core/facilitator';
import { x402HTTPResourceServer } from '@x402/core/http';
import { x402ResourceServer } from '@x402/core/server';
import { ExactEvmScheme as ExactClient } from '@x402/evm/exact/client';
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator';
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server';
import type { Hex } from '#base/ethereum.ts';
import { type Chain, openChain } from '#fleet/market/chain.ts';
import { signPayment, ZERO } from '#fleet/market/payment.ts';
import { newBox, openContent, openKey } from '#fleet/market/seal.ts';
import { verifies } from '../../verifies.ts';
import { onChain } from './anvil.ts';
import { buyer, offer, seller, skillText } from './market-stage.ts';

onChain('payment by x402', (chain) => {
  const network = 'eip155:31337' as const;

  verifies('R2.20', 'a client that knows x402 alone buys from our shop, and opens what it gets', async (t) => {
    const one = await seller(t, chain());
    const shop = (await one.serve()).address;
    const listing = await offer(one, [one], skillText());
    const { account, address } = await chain().purse(1_000_000n);
    const client = new x402Client().register(network, new ExactClient(account as never));
    client.setSpendControls({ allowedAssets: [{ network, asset: one.chain.places.token }] });
    const http = new x402HTTPClient(client);
    const box = newBox();
    const ask = (headers: Record<string, string> = {}) =>
      fetch(`${shop}/api/v1/skills/${listing.id}/purchase`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ box: box.publicKey }),
      });
    const unpaid = await ask();
    assert.equal(unpaid.status, 402);
    const required = http.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
    assert.deepEqual([required.x402Version, required.accepts.map(({ scheme }) => scheme)], [2, ['exact', 'erc8183']]);
    const payload = await http.createPaymentPayload(required);
    const paid = await ask(http.encodePaymentSignatureHeader(payload));
    assert.equal(paid.status, 200);
    const settled = http.getPaymentSettleResponse((name) => paid.headers.get(name));
    assert.deepEqual([settled.success, settled.network], [true, network]);
    const { sale } = (await paid.json()) as Record<string, string>;
    const delivered = await fetch(`${shop}/api/v1/deliver/${sale}`);
    const { sealed_key = '', ciphertext = '' } = (await delivered.json()) as Record<string, string>;
    const secret = await openKey(Buffer.from(sealed_key, 'base64'), box.privateKey, listing.id);
    assert.ok(secret.ok);
    const content = await openContent(Buffer.from(ciphertext, 'base64'), secret.value, listing);
    assert.ok(content.ok && content.value.toString() === skillText());
    assert.equal(await one.chain.balance(address), 600_000n);
    assert.equal((await ask(http.encodePaymentSignatureHeader(payload))).status, 402);
    assert.equal(await one.chain.balance(address), 600_000n);
  });

  verifies(
    'R2.20',
    'our purse pays a server that knows x402 alone; asked for too much, another asset or another payee it signs nothing',
    async (t) => {
      const theirs = await openChain(chain().places, (await chain().purse()).key);
      const { chain: ours, key } = await buyer(t, chain());
      const payTo = theirs.me;
      const server = await plainServer(t, theirs, payTo);
      const unpaid = await fetch(server);
      assert.equal(unpaid.status, 402);
      const header = unpaid.headers.get('PAYMENT-REQUIRED') ?? '';
      const wish = { via: 'direct', payTo, evaluator: ZERO, most: 300_000n, description: '' } as const;
      const { header: payment, amount } = await signPayment(ours, key, header, wish);
      const paid = await fetch(server, { headers: { 'PAYMENT-SIGNATURE': payment } });
      assert.deepEqual([paid.status, await paid.text(), amount], [200, 'a picture', 250_000n]);
      assert.deepEqual(await Promise.all([ours.balance(ours.me), ours.balance(payTo)]), [4_750_000n, 250_000n]);
      const refused = { code: 'offer-refused' };
      await assert.rejects(signPayment(ours, key, header, { ...wish, most: 249_999n }), refused);
      await assert.rejects(signPayment(ours, key, header, { ...wish, payTo: ours.me }), refused);
      await assert.rejects(signPayment(ours, key, header, { ...wish, via: 'escrow' }), refused);
      for (const change of [
        { asset: ours.me },
        { network: 'eip155:1' },
        { amount: '1000000000' },
        { amount: '-1' },
        { amount: '0' },
        { maxTimeoutSeconds: 10_000_000_000_000 },
        { maxTimeoutSeconds: 0 },
        { maxTimeoutSeconds: '600' },
      ]) {
        await assert.rejects(signPayment(ours, key, altered(header, change), wish), refused, JSON.stringify(change));
      }
      for (const none of ['', '!', Buffer.from('{}').toString('base64')])
        await assert.rejects(signPayment(ours, key, none, wish), refused);
      assert.equal(await ours.balance(ours.me), 4_750_000n);
    },
  );
});

/** Each offer of a 402 with another value in it. */
function altered(header: string, change: object): string {
  const required = JSON.parse(Buffer.from(header, 'base64').toString());
  required.accepts = required.accepts.map((offer: object) => ({ ...offer, ...change }));
  return Buffer.from(JSON.stringify(required)).toString('base64');
}

/** A picture for a quarter of a dollar, sold as the packages' own documentation does it. */
async function plainServer(t: TestContext, chain: Chain, payTo: Hex): Promise<string> {
  const network = 'eip155:31337';
  const facilitator = new x402Facilitator().register(network, new ExactFacilitator(chain.facilitator()));
  const client = {
    verify: (...given: Parameters<typeof facilitator.verify>) => facilitator.verify(...given),
    settle: (...given: Parameters<typeof facilitator.settle>) => facilitator.settle(...given),
    getSupported: async () => facilitator.getSupported() as never,
  };
  const { name, version } = await chain.domain();
  const price = { asset: chain.places.token, amount: '250000', extra: { name, version } };
  const resources = new x402ResourceServer(client).register(network, new ExactServer());
  const sold = new x402HTTPResourceServer(resources, {
    'GET /picture': { accepts: { scheme: 'exact', payTo, price, network } },
  });
  await sold.initialize();
  const server = createServer(async (request, response) => {
    const asked = contextOf(request);
    const result = await sold.processHTTPRequest(asked);
    if (result.type === 'payment-error') {
      response
        .writeHead(result.response.status, result.response.headers)
        .end(JSON.stringify(result.response.body ?? {}));
    } else if (result.type === 'payment-verified') {
      const settled = await sold.processSettlement(result.paymentPayload, result.paymentRequirements);
      response.writeHead(settled.success ? 200 : 402, settled.headers).end('a picture');
    } else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/picture`;
}

function contextOf(request: IncomingMessage) {
  const header = (name: string) => {
    const value = request.headers[name.toLowerCase()];
    return typeof value === 'string' ? value : undefined;
  };
  const url = `http://${request.headers.host}${request.url}`;
  const paymentHeader = header('payment-signature');
  return {
    adapter: {
      getHeader: header,
      getMethod: () => request.method ?? 'GET',
      getPath: () => new URL(url).pathname,
      getUrl: () => url,
      getAcceptHeader: () => 'application/json',
      getUserAgent: () => 'test',
    },
    path: new URL(url).pathname,
    method: request.method ?? 'GET',
    ...(paymentHeader === undefined ? {} : { paymentHeader }),
  };
}
