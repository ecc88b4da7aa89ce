/** Who pays for what Meta asks: a golem with its owner's signed word, by x402 from its own key, a call at a time; else a model of the owner's own hardware. */
import assert from 'node:assert/strict';
import { openChain } from '#fleet/market/chain.ts';
import { type Offered, openTill, ZERO } from '#fleet/market/payment.ts';
import { openConversation } from '#fleet/meta/conversation.ts';
import { type ServerRequest, type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { verifies } from '../../verifies.ts';
import { onChain } from './anvil.ts';
import { disk, killed, left, sold, trader } from './trade-stage.ts';

const PRICE = 60_000n;

onChain('a golem pays for Meta', (chain) => {
  verifies(
    ['RQ.3', 'R1.82', 'R0.137'],
    'with a word of its owner, up to its day; after that, or with an empty purse, the own model answers, and it is said',
    async (t) => {
      const theirs = await openChain(chain().places, (await chain().purse()).key);
      const till = await openTill(theirs);
      const offer: Offered = { via: 'direct', amount: PRICE, payTo: theirs.me, evaluator: ZERO, jobSeconds: 60 };
      const answer = JSON.stringify({
        type: 'DirectResponse',
        response: 'All is well.',
        skills_used: [],
        rows: 'none',
      });
      const sells = async ({ headers }: ServerRequest): Promise<ServerStep> => {
        const signature = headers['payment-signature'];
        const paid = signature === undefined ? undefined : await till.read(signature, [offer]);
        if (paid?.ok && (await till.settle(paid.value.payload)).ok) return answer;
        const required = await till.required('http://127.0.0.1/v1', [offer]);
        return { status: 402, headers: { 'PAYMENT-REQUIRED': required.header }, body: { error: 'payment required' } };
      };
      const paidModel = await startScriptedServer(
        Array.from({ length: 40 }, () => sells),
        { models: ['m-1'] },
      );
      const ownModel = await startScriptedServer(
        Array.from({ length: 40 }, () => answer),
        { models: ['small'] },
      );
      t.after(() => Promise.all([paidModel.close(), ownModel.close()]));
      const one = await trader(t, chain());
      const config = {
        clade: { payer: 'sponsor', model: 'bankr/m-1' },
        providers: {
          bankr: { base_url: paidModel.baseUrl },
          own: { base_url: ownModel.baseUrl, default_model: 'small' },
        },
      };
      for (const [name, value] of Object.entries(config)) await one.ground.keep({ config: [{ path: [name], value }] });
      const golems = await one.ground.door('golems');
      const born = await golems.create({ name: 'ada', domain: 'sim' }, one.stage.cwd);
      assert.ok(born.ok);
      const [{ signer = '0x' } = {}] = await golems.states();
      const asks = async () => {
        const conversation = openConversation(one.ground);
        const signal = new AbortController().signal;
        const outputs = await Array.fromAsync(
          conversation.say('how is the weather for us', { signal, cwd: one.stage.cwd }),
        );
        await conversation.close();
        return JSON.stringify(outputs);
      };
      assert.match(await asks(), /own\/small \(instead of bankr\/m-1: nobody pays[^)]*no golem may pay/);
      assert.equal(
        (await one.run('allow', { golem: 'bob', 'per-day': 1, until: '2999-01-01' })).failure?.code,
        'no-such-golem',
      );
      const allowed = await one.run('allow', { golem: 'ada', 'per-day': 0.1, until: '2999-01-01' });
      assert.match(
        allowed.text,
        /ada-gen1 may pay \$0\.10 a day for what Meta asks, until 2999-01-01; \$0\.10 is left/,
      );
      assert.match(await asks(), /instead of bankr\/m-1[^)]*its purse is empty/);
      await chain().mint(signer as `0x${string}`, 1_000_000n);
      assert.match(await asks(), /"bankr\/m-1 says: All is well\./);
      assert.deepEqual(await Promise.all([theirs.balance(signer as `0x${string}`), theirs.balance(theirs.me)]), [
        940_000n,
        PRICE,
      ]);
      assert.match((await one.run('allow')).text, /\$0\.04 is left today/);
      assert.match(await asks(), /instead of bankr\/m-1[^)]*ada-gen1: /);
      assert.equal(await theirs.balance(theirs.me), PRICE, 'above its day nothing is signed');
      await assert.rejects((await one.ground.door('market')).pay('x', 'chat'), { code: 'no-sponsor' });
      const [{ word = '' } = {}] = one.rows().allowances();
      await one.rows().allow('ada-gen1 meta', word.replace('"per_day":100000', '"per_day":900000'));
      assert.match(await asks(), /instead of bankr\/m-1[^)]*no golem may pay/, 'a word that was changed is none');
      assert.equal((await one.run('allow', { golem: 'ada', 'per-day': 0 })).failure, undefined);
      assert.match((await one.run('allow')).text, /No golem may pay/);
    },
  );

  verifies(
    ['R2.6', 'R2.20'],
    'a golem that may buys a skill with its own key, up to its day; killed on the way the same purse goes on',
    async (t) => {
      const seller = await trader(t, chain());
      await left(seller, [disk]);
      const id = await sold(seller);
      const { address: shop } = await seller.serve();
      const buyer = await trader(t, chain());
      await (await buyer.ground.door('golems')).create({ name: 'ada', domain: 'sim' }, buyer.stage.cwd);
      const [{ signer = '0x' } = {}] = await (await buyer.ground.door('golems')).states();
      const purse = signer as `0x${string}`;
      await chain().mint(purse, 1_000_000n);
      const asked = { id, shop, via: 'escrow', from: 'ada', yes: true };
      assert.equal((await buyer.run('buy', asked)).failure?.code, 'not-allowed');
      const allow = (dollars: number) =>
        buyer.run('allow', { golem: 'ada', 'per-day': dollars, until: '2999-01-01', for: 'market' });
      await allow(0.2);
      assert.equal((await buyer.run('buy', asked)).failure?.code, 'offer-refused', 'above its day');
      await allow(2);
      assert.equal(await killed(buyer, 'buy', { id, shop, via: 'escrow', from: 'ada' }, 'after paid'), 'SIGKILL');
      const resumed = await buyer.run('resume');
      assert.equal(resumed.failure, undefined, resumed.text);
      assert.deepEqual(
        buyer
          .rows()
          .purchases(9)
          .map((one) => [one.purse, one.state]),
        [[purse, 'ingested']],
      );
      const theirs = await openChain(chain().places, buyer.purse.key);
      assert.equal(await theirs.balance(purse), 640_000n);
      const said = await buyer.run('review', { purchase: id, stars: 4, text: 'Good.' });
      assert.equal(said.failure, undefined, said.text);
    },
  );
});
