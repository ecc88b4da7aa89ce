/** What is asked of a chain before anything is sent, what is carried for somebody without gas, and what the calls cost. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Hex } from '#base/ethereum.ts';
import { type Carried, type Chain, deployMarket, openChain, readCarried } from '#fleet/market/chain.ts';
import dollar from '#testing/market/local-dollar.json' with { type: 'json' };
import { compile, findChain } from '../../../scripts/compile-contracts.ts';
import { onChain, type Purse, startChain } from './anvil.ts';
import { BUDGET, FAR, REASON, type Stage, stageOn } from './roles.ts';

const coded = (code: string, words: RegExp) => (error: unknown) => {
  const { message, code: found, fix } = error as { message: string; code?: string; fix?: string };
  assert.match(message, words);
  assert.equal(found, code, message);
  assert.ok(fix, message);
  return true;
};

onChain('the chain', (chain) => {
  let stage: Stage;
  let own: Purse;
  let market: Chain;
  before(async () => {
    stage = await stageOn(chain());
    own = await chain().purse();
    market = await openChain(chain().places, own.key);
  });
  const as = (purse: Purse) => openChain(chain().places, purse.key);

  test('another chain, another contract, another token: nothing is opened', async () => {
    const { places } = chain();
    const open = (given: Partial<typeof places>) => openChain({ ...places, ...given }, own.key);
    const nobody = own.address;
    await assert.rejects(open({ chainId: 8453 }), coded('wrong-chain', /31337, not 8453/));
    for (const name of ['token', 'escrow', 'factory', 'forwarder'] as const)
      await assert.rejects(open({ [name]: nobody }), coded('not-deployed', /no contract/));
    await assert.rejects(open({ escrow: places.factory }), coded('not-deployed', /other contracts/));
    await assert.rejects(open({ token: places.escrow }), coded('wrong-token', /no token/));
    await assert.rejects(open({ forwarder: places.token }), coded('not-deployed', /trust/));
    const second = await deployMarket(places.rpc, own.key, places.token);
    await assert.rejects(open({ factory: second.factory }), coded('not-deployed', /factory is of the escrow/));
    const made = compile(findChain()!, [join(import.meta.dirname, 'Hostile.sol')]);
    const long = await chain().deploy(made.LongToken!);
    await assert.rejects(open({ token: long }), coded('wrong-token', /18 decimals/));
    await assert.rejects(deployMarket(places.rpc, own.key, long), coded('wrong-token', /18 decimals/));
    const six = await deployMarket(places.rpc, own.key, await chain().deploy(dollar.LocalDollar));
    await assert.rejects(open({ token: six.token }), coded('wrong-token', /escrow keeps/));
    await assert.rejects(openChain(places, 'no key'), coded('key-invalid', /no secp256k1 key/));
  });

  test('a chain that is down is told as that, before and after it was opened', async () => {
    const { chain: other, end } = await startChain(findChain()!);
    const line = await openChain(other.places, (await other.purse()).key);
    await end();
    await assert.rejects(line.balance(own.address), coded('chain-down', /does not answer/));
    await assert.rejects(line.claimRefund(1n), coded('chain-down', /does not answer/));
    await assert.rejects(openChain(other.places, own.key), coded('chain-down', /does not answer/));
  });

  test('a refusal names the reason of the contract, and a purse without gas says so', async () => {
    const job = await stage.jobIn('Funded');
    await assert.rejects(market.complete(job, REASON), coded('reverted', /WrongStatus\(1\)/));
    await assert.rejects(market.reject(job, REASON), coded('reverted', /NotYours/));
    await assert.rejects(market.claimRefund(job), coded('reverted', /NotExpired/));
    const poor = await chain().purse();
    await chain().client.setBalance({ address: poor.address, value: 0n });
    const splitter = await market.splitterOf(REASON, saleOf(own.address));
    await market.list(REASON, saleOf(own.address), REASON, REASON);
    await assert.rejects((await as(poor)).release(splitter), /funds|gas/);
  });

  test('what one key sends at once goes out one after another', async () => {
    const sale = saleOf(own.address);
    const ids = Array.from({ length: 8 }, (_, at): Hex => `0x${String(at + 1).padStart(64, 'a')}`);
    await Promise.all(ids.map((id) => market.list(REASON, sale, id, REASON)));
    assert.ok((await Promise.all(ids.map((id) => market.isListed(id, own.address)))).every((one) => one !== undefined));
  });

  const signed = async (state: 'Funded' | 'Submitted', call: 'complete' | 'reject') => {
    const job = await stage.jobIn(state);
    return { job, call: await (await as(stage.who.evaluator)).signCall(call, job, REASON) };
  };

  test('a completion and a rejection are carried for who has no gas, and once', async () => {
    const { evaluator, client, provider } = stage.who;
    await chain().client.setBalance({ address: evaluator.address, value: 0n });
    const was = await Promise.all([client, provider].map(({ address }) => stage.balance(address)));
    const done = await signed('Submitted', 'complete');
    // As it comes over a wire.
    const read = readCarried(JSON.parse(JSON.stringify(done.call)));
    assert.deepEqual(read, done.call);
    await market.carry(read!);
    assert.equal(await stage.stateOf(done.job), 'Completed');
    await assert.rejects(market.carry(done.call), coded('reverted', /WrongStatus/));
    const back = await signed('Funded', 'reject');
    await market.carry(back.call);
    assert.equal(await stage.stateOf(back.job), 'Rejected');
    const is = await Promise.all([client, provider].map(({ address }) => stage.balance(address)));
    assert.deepEqual(is, [was[0]! - BUDGET, was[1]! + BUDGET]);
    await chain().client.setBalance({ address: evaluator.address, value: 10n ** 20n });
  });

  test("a carried call that was altered, is another signer's or is too old does nothing", async () => {
    const { job, call } = await signed('Submitted', 'complete');
    const other = await stage.jobIn('Submitted');
    const altered: readonly Partial<Carried>[] = [
      { call: 'reject' },
      { job: String(other) },
      { reason: `0x${'00'.repeat(32)}` },
      { deadline: call.deadline + 1 },
    ];
    for (const change of altered)
      await assert.rejects(market.carry({ ...call, ...change }), coded('reverted', /ERC2771ForwarderInvalidSigner/));
    await assert.rejects(market.carry({ ...call, from: own.address }), coded('reverted', /NotYours/));
    const stranger = await (await as(stage.who.stranger)).signCall('complete', job, REASON);
    await assert.rejects(
      market.carry({ ...stranger, from: stage.who.evaluator.address }),
      coded('reverted', /InvalidSigner/),
    );
    const mark = await chain().mark();
    await chain().pass(3_601);
    await assert.rejects(market.carry(call), coded('reverted', /ExpiredRequest/));
    await chain().back(mark);
    assert.equal(await stage.stateOf(job), 'Submitted');
  });

  test('what is not wholly a carried call is none', async () => {
    const { call } = await signed('Submitted', 'complete');
    const wrong = [
      ...[
        null,
        'x',
        [],
        {},
        { ...call, more: 1 },
        { ...call, call: 'submit' },
        { ...call, job: '-1' },
        { ...call, job: 1 },
      ],
      ...[
        { ...call, from: call.from.toUpperCase() },
        { ...call, deadline: 2 ** 48 },
        { ...call, signature: '0x' },
      ],
    ];
    for (const one of wrong) assert.equal(readCarried(one as never), undefined);
  });

  test('what it costs: funding by signature, completing, parting', async (t) => {
    const { client } = chain();
    const used = async () => {
      const block = await client.getBlock();
      return (await client.getTransactionReceipt({ hash: block.transactions[0]! })).gasUsed;
    };
    const sale = { ...saleOf(own.address), creator: (await chain().purse()).address };
    await market.list(REASON, sale, `0x${'9a'.repeat(32)}`, REASON);
    const listing = await used();
    const provider = await market.splitterOf(REASON, sale);
    const buyer = await chain().purse(BUDGET);
    const terms = {
      client: buyer.address,
      provider,
      evaluator: own.address,
      budget: BUDGET,
      expiredAt: Number((await stage.now()) + FAR),
    };
    const description = 'thirty characters, not a more..';
    const nonce = await market.nonceOf(terms, description);
    const times = { validAfter: 0n, validBefore: (await stage.now()) + FAR };
    const message = { from: buyer.address, to: stage.escrow, value: BUDGET, ...times, nonce };
    const domain = await market.domain();
    const signature = await buyer.account.signTypedData!({
      domain,
      types: TYPES,
      primaryType: 'ReceiveWithAuthorization',
      message,
    });
    const job = await market.fund(terms, description, { ...times, signature });
    const funding = await used();
    await market.submit(provider, job, REASON);
    const submitting = await used();
    await market.complete(job, REASON);
    const completing = await used();
    await market.release(provider);
    const parting = await used();
    t.diagnostic(
      `gas: list ${listing}, fund ${funding}, submit ${submitting}, complete ${completing}, release ${parting}`,
    );
    assert.ok(
      funding <= 260_000n && completing <= 80_000n && parting <= 160_000n,
      `${funding} ${completing} ${parting}`,
    );
  });
});

const TYPES = {
  ReceiveWithAuthorization: [
    'address from',
    'address to',
    'uint256 value',
    'uint256 validAfter',
    'uint256 validBefore',
    'bytes32 nonce',
  ].map((field) => ({ type: field.split(' ')[0]!, name: field.split(' ')[1]! })),
};

function saleOf(seller: Hex) {
  const zero: Hex = `0x${'00'.repeat(20)}`;
  const [styx, gas]: [Hex, Hex] = [`0x${'57'.repeat(20)}`, `0x${'6a'.repeat(20)}`];
  return { seller, agent: zero, creator: zero, creatorOwner: zero, styx, gas };
}
