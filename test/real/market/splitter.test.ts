/** Where a price goes: the parts of a first sale and of a resale, the owner of a dead creator, and the places that the factory makes once. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { zeroAddress } from 'viem';
import type { Hex } from '#base/ethereum.ts';
import { type Chain, openChain, type Sale } from '#fleet/market/chain.ts';
import { verifies } from '../../verifies.ts';
import { factoryAbi, onChain, type Purse, splitterAbi } from './anvil.ts';
import { BUDGET, DELIVERABLE, eventsOf, FAR, NOTHING, REASON, refusal, type Stage, stageOn } from './roles.ts';

const COMMIT: Hex = `0x${'c0'.repeat(32)}`;
const CONTENT: Hex = `0x${'cc'.repeat(32)}`;
const PARTS = ['seller', 'styx', 'creator', 'gas'] as const;

onChain('the splitter', (chain) => {
  let stage: Stage;
  let seller: Purse;
  let agent: Purse;
  let owner: Purse;
  let market: Chain;
  let listings = 0;
  before(async () => {
    stage = await stageOn(chain());
    [seller, agent, owner] = [await chain().purse(), await chain().purse(), await chain().purse()];
    market = await openChain(chain().places, seller.key);
  });

  const nextId = (): Hex => {
    listings += 1;
    return `0x${String(listings).padStart(64, '0')}`;
  };
  /** With receivers that nobody paid yet. */
  const saleOf = async (creator: Hex, creatorOwner: Hex = owner.address): Promise<Sale> => {
    const [styx, gas] = [(await chain().purse()).address, (await chain().purse()).address];
    return { seller: seller.address, agent: agent.address, creator, creatorOwner, styx, gas };
  };
  const listed = async (sale: Sale): Promise<Hex> => {
    const id = nextId();
    await market.list(COMMIT, sale, id, CONTENT);
    return (await market.isListed(id, seller.address))!;
  };
  const paid = async (sale: Sale, work: () => Promise<unknown>): Promise<readonly bigint[]> => {
    const of = () => Promise.all(PARTS.map((part) => (sale[part] === zeroAddress ? 0n : stage.balance(sale[part]))));
    const was = await of();
    await work();
    return (await of()).map((amount, at) => amount - was[at]!);
  };

  test('shares of a first sale and of a resale, and of prices so small that they are nothing', async () => {
    const first = await saleOf(zeroAddress);
    const made = await listed(first);
    const own = await saleOf(seller.address);
    const madeOwn = await listed(own);
    const resale = await saleOf((await chain().purse()).address);
    const madeAgain = await listed(resale);
    const split = (sale: Sale, splitter: Hex, price: bigint) =>
      paid(sale, async () => {
        await chain().mint(splitter, price);
        await market.release(splitter);
        assert.equal(await stage.balance(splitter), 0n);
      });
    assert.deepEqual(await split(first, made, BUDGET), [930_000n, 50_000n, 0n, 20_000n]);
    assert.deepEqual((await split(own, madeOwn, BUDGET)).toSpliced(2, 1), [930_000n, 50_000n, 20_000n]);
    for (const [price, ...parts] of [
      [1_000_000n, 880_000n, 50_000n, 50_000n, 20_000n],
      [400_001n, 352_001n, 20_000n, 20_000n, 8_000n],
      [99n, 90n, 4n, 4n, 1n],
      [1n, 1n, 0n, 0n, 0n],
      [0n, 0n, 0n, 0n, 0n],
    ] as const)
      assert.deepEqual(await split(resale, madeAgain, price), parts);
  });

  verifies('R2.48', 'the owner of a dead creator takes its place, nobody else does, and it stays so', async () => {
    const creator = (await chain().purse()).address;
    const sale = await saleOf(creator);
    const splitter = await listed(sale);
    const inherit = (by: Purse) => stage.sendTo(splitter, splitterAbi, by, 'inherit');
    for (const other of [seller, agent, stage.who.stranger])
      await assert.rejects(inherit(other), (error) => refusal(error) === 'NotYours');
    const pay = async () => {
      await chain().mint(splitter, BUDGET);
      await market.release(splitter);
    };
    assert.deepEqual(await paid(sale, pay), [880_000n, 50_000n, 50_000n, 20_000n]);
    assert.deepEqual(
      eventsOf(await inherit(owner), splitterAbi).map(({ eventName }) => eventName),
      ['Inherited'],
    );
    await inherit(owner);
    const was = await stage.balance(owner.address);
    assert.deepEqual(await paid(sale, pay), [880_000n, 50_000n, 0n, 20_000n]);
    assert.equal((await stage.balance(owner.address)) - was, 50_000n);
  });

  test('seller and agent deliver, nobody else; what is completed is parted', async () => {
    const sale = await saleOf((await chain().purse()).address);
    const splitter = await listed(sale);
    const { client, evaluator, stranger } = stage.who;
    for (const by of [seller, agent]) {
      const made = await stage.send(
        client,
        'createJob',
        splitter,
        evaluator.address,
        (await stage.now()) + FAR,
        'one',
        zeroAddress,
      );
      const job = eventsOf(made)[0]!.args.jobId as bigint;
      await stage.send(client, 'setBudget', job, BUDGET, NOTHING);
      await stage.send(client, 'fund', job, BUDGET, NOTHING);
      const submit = (who: Purse) => stage.sendTo(splitter, splitterAbi, who, 'submit', job, DELIVERABLE);
      for (const other of [client, evaluator, stranger, owner])
        await assert.rejects(submit(other), (error) => refusal(error) === 'NotYours');
      await submit(by);
      await stage.send(evaluator, 'complete', job, REASON, NOTHING);
    }
    const parts = await paid(sale, () => stage.sendTo(splitter, splitterAbi, stranger, 'release'));
    assert.deepEqual(parts, [1_760_000n, 100_000n, 100_000n, 40_000n]);
  });

  test('a sale has one place, told before it is there; listing again changes nothing; withdrawn, it is not listed', async () => {
    const sale = await saleOf(zeroAddress);
    const place = await market.splitterOf(COMMIT, sale);
    assert.equal(await chain().client.getCode({ address: place }), undefined);
    const [one, two] = [nextId(), nextId()];
    const list = (id: Hex) =>
      stage.sendTo(market.places.factory, factoryAbi, seller, 'list', COMMIT, sale, id, CONTENT);
    const told = eventsOf(await list(one), factoryAbi);
    assert.deepEqual(
      told.map(({ eventName, args }) => [
        eventName,
        args.listingId,
        String(args.splitter).toLowerCase(),
        args.contentHash,
      ]),
      [['Listed', one, place, CONTENT]],
    );
    assert.deepEqual(eventsOf(await list(one), factoryAbi), []);
    assert.equal(eventsOf(await list(two), factoryAbi).length, 1);
    assert.deepEqual(await Promise.all([one, two].map((id) => market.isListed(id, seller.address))), [place, place]);
    await market.withdraw(one);
    assert.deepEqual(await Promise.all([one, two].map((id) => market.isListed(id, seller.address))), [
      undefined,
      place,
    ]);
    await assert.rejects(market.withdraw(one), /NotListed/);
    const other = `0x${'0c'.repeat(32)}` as const;
    assert.notEqual(await market.splitterOf(other, sale), place);
    assert.notEqual(await market.splitterOf(COMMIT, { ...sale, gas: agent.address }), place);
  });

  test('only the seller lists; under the same id somebody else lists only its own', async () => {
    const sale = await saleOf(zeroAddress);
    const id = nextId();
    const { stranger } = stage.who;
    const list = (by: Purse, of: Sale) =>
      stage.sendTo(market.places.factory, factoryAbi, by, 'list', COMMIT, of, id, CONTENT);
    await assert.rejects(list(stranger, sale), (error) => refusal(error) === 'NotYours');
    await list(stranger, { ...sale, seller: stranger.address });
    assert.equal(await market.isListed(id, seller.address), undefined);
    await list(seller, sale);
    assert.equal(await market.isListed(id, seller.address), await market.splitterOf(COMMIT, sale));
    await assert.rejects(list(seller, { ...sale, styx: zeroAddress }), (error) => refusal(error) === 'NoReceiver');
  });
});
