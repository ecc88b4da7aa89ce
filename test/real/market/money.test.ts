/** Five hundred sales, resales, rejections and expiries on a real EVM: every micro-dollar is somewhere, and where it should be. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import fc from 'fast-check';
import type { Hex } from '#base/ethereum.ts';
import { type Chain, openChain, type Sale, type Terms } from '#fleet/market/chain.ts';
import { verifies } from '../../verifies.ts';
import { onChain, type Purse, splitterAbi } from './anvil.ts';
import { FAR, refusal } from './roles.ts';

const SALES = 500;
const PURSE = 1_000_000_000_000n;
const WORD: Hex = `0x${'0d'.repeat(32)}`;
const TYPES = {
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
};

/** What becomes of a sale. `left`: open when the test ends; `dead`: completed after the creator's owner took its place. */
const FATES = ['completed', 'completed', 'completed', 'dead', 'rejected', 'unread', 'expired', 'left'] as const;

interface Lot {
  readonly sale: Sale;
  readonly splitter: Hex;
  readonly owner: Purse;
  heir: boolean;
}

type Fate = (typeof FATES)[number];

interface Buyer {
  readonly purse: Purse;
  readonly chain: Chain;
}

interface Open {
  readonly fate: Fate;
  readonly job: bigint;
  readonly price: bigint;
  readonly buyer: Buyer;
}

onChain('money', (chain) => {
  let seller: Purse;
  let buyers: Buyer[];
  let market: Chain;
  before(async () => {
    seller = await chain().purse();
    market = await openChain(chain().places, seller.key);
    const purses = await Promise.all([1, 2, 3].map(() => chain().purse(PURSE)));
    buyers = await Promise.all(
      purses.map(async (purse) => ({ purse, chain: await openChain(chain().places, purse.key) })),
    );
  });

  const lotOf = async (at: number): Promise<Lot> => {
    const [creator, styx, gas, owner] = [
      await chain().purse(),
      await chain().purse(),
      await chain().purse(),
      await chain().purse(),
    ];
    const roles = { seller: seller.address, agent: owner.address, creatorOwner: owner.address };
    // Every third is a first sale.
    const sale = {
      ...roles,
      creator: at % 3 === 0 ? seller.address : creator.address,
      styx: styx.address,
      gas: gas.address,
    };
    const commit: Hex = `0x${String(at).padStart(64, '0')}`;
    await market.list(commit, sale, commit, WORD);
    return { sale, splitter: await market.splitterOf(commit, sale), owner, heir: false };
  };

  const fund = async (buyer: Buyer, lot: Lot, price: bigint, number: number) => {
    const now = BigInt(await market.now());
    const roles = { client: buyer.purse.address, provider: lot.splitter, evaluator: buyer.purse.address };
    const terms: Terms = { ...roles, budget: price, expiredAt: Number(now + 10_000n) };
    const description = `sale ${number}`;
    const times = { validAfter: 0n, validBefore: now + FAR };
    const message = {
      from: buyer.purse.address,
      to: market.places.escrow,
      value: price,
      ...times,
      nonce: await market.nonceOf(terms, description),
    };
    const signed = {
      domain: await market.domain(),
      types: TYPES,
      primaryType: 'ReceiveWithAuthorization',
      message,
    } as const;
    return market.fund(terms, description, { ...times, signature: await buyer.purse.account.signTypedData!(signed) });
  };

  const inherit = async (lot: Lot) => {
    const call = { address: lot.splitter, abi: splitterAbi, functionName: 'inherit', account: lot.owner.account };
    await chain()
      .client.writeContract(call)
      .catch((error: unknown) => assert.fail(refusal(error)));
    lot.heir = true;
  };

  /** Seller, styx, creator, its owner, gas: what the rules give them. */
  const partsOf = ({ sale, heir }: Lot, price: bigint): readonly bigint[] => {
    const [styx, gas] = [(price * 5n) / 100n, (price * 2n) / 100n];
    const royalty = sale.creator === sale.seller ? 0n : (price * 5n) / 100n;
    return [price - styx - gas - royalty, styx, heir ? 0n : royalty, heir ? royalty : 0n, gas];
  };

  const balances = (lot: Lot) => {
    const { seller: first, styx, creator, creatorOwner, gas } = lot.sale;
    // Of a first sale the creator is the seller, who is counted once.
    return Promise.all([first, styx, ...(creator === first ? [] : [creator]), creatorOwner, gas].map(market.balance));
  };

  const complete = async (lot: Lot, buyer: Buyer, job: bigint, price: bigint) => {
    const was = await balances(lot);
    await market.submit(lot.splitter, job, WORD);
    await buyer.chain.complete(job, WORD);
    assert.equal(await market.balance(lot.splitter), price);
    await market.release(lot.splitter);
    const change = (await balances(lot)).map((amount, at) => amount - was[at]!);
    const should = partsOf(lot, price).filter((_, at) => at !== 2 || lot.sale.creator !== lot.sale.seller);
    assert.deepEqual(change, should);
    assert.equal(sumOf(change), price);
  };

  const reject = async (buyer: Buyer, job: bigint, price: bigint) => {
    const was = await market.balance(buyer.purse.address);
    await buyer.chain.reject(job, WORD);
    assert.equal((await market.balance(buyer.purse.address)) - was, price);
  };

  const refund = async ({ job, price, buyer }: Open) => {
    const was = await market.balance(buyer.purse.address);
    await market.claimRefund(job);
    assert.equal((await market.balance(buyer.purse.address)) - was, price);
  };

  /** Gives what is still open. */
  const sell = async (fate: Fate, lot: Lot, buyer: Buyer, price: bigint, number: number): Promise<Open | undefined> => {
    const job = await fund(buyer, lot, price, number);
    if (fate === 'expired' || fate === 'left') return { fate, job, price, buyer };
    if (fate === 'dead' && !lot.heir) await inherit(lot);
    if (fate === 'rejected') await market.submit(lot.splitter, job, WORD);
    if (fate === 'rejected' || fate === 'unread') await reject(buyer, job, price);
    else await complete(lot, buyer, job, price);
    return undefined;
  };

  verifies(
    ['R2.33', 'R2.41', 'R2.42', 'R2.48'],
    `${SALES} random ends of sales: parts sum to the price, the escrow holds the open jobs`,
    async () => {
      const lots: Lot[] = [];
      for (let at = 0; at < 12; at++) lots.push(await lotOf(at));
      const price = fc.oneof(fc.bigInt(1n, 100n), fc.bigInt(1n, 1_000_000n), fc.bigInt(1n, 100_000_000n));
      const one = fc.record({ lot: fc.nat(11), buyer: fc.nat(2), price, fate: fc.constantFrom(...FATES) });
      const open: Open[] = [];
      for (const [number, drawn] of fc.sample(one, SALES).entries()) {
        const left = await sell(drawn.fate, lots[drawn.lot]!, buyers[drawn.buyer]!, drawn.price, number);
        if (left !== undefined) open.push(left);
      }
      await chain().pass(20_000);
      for (const late of open.filter(({ fate }) => fate === 'expired')) await refund(late);
      const held = sumOf(open.filter(({ fate }) => fate === 'left').map((left) => left.price));
      assert.equal(await market.balance(market.places.escrow), held);
      const named = lots.flatMap(({ sale, splitter }) => [...Object.values(sale), splitter]);
      const all = new Set([...named, ...buyers.map(({ purse }) => purse.address), market.places.escrow]);
      assert.equal(sumOf(await Promise.all([...all].map(market.balance))), 3n * PURSE);
    },
  );
});

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}
