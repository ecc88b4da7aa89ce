/** One signature pays for one job: what the client signed, once, and nothing that differs from it. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { encodeAbiParameters, keccak256, parseAbiParameters, toBytes } from 'viem';
import type { Hex } from '#base/ethereum.ts';
import { type Chain, deployMarket, openChain, type Terms } from '#fleet/market/chain.ts';
import { escrowAbi, onChain, type Purse } from './anvil.ts';
import { BUDGET, eventsOf, FAR, type Stage, stageOn } from './roles.ts';

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
const DESCRIPTION = 'listing 7';

onChain('funding by authorization', (chain) => {
  let stage: Stage;
  let market: Chain;
  let buyer: Purse;
  before(async () => {
    stage = await stageOn(chain());
    market = await openChain(chain().places, (await chain().purse()).key);
    buyer = await chain().purse(10n * BUDGET);
  });

  let made = 0;
  /** Never the same: the same terms have the same nonce, and are paid once. */
  const termsFor = async (): Promise<Terms> => {
    made += 10;
    const { provider, evaluator } = stage.who;
    const roles = { client: buyer.address, provider: provider.address, evaluator: evaluator.address };
    return { ...roles, budget: BUDGET, expiredAt: Number((await stage.now()) + FAR) + made };
  };
  /** As a buyer signs it; `not`: other times than from the beginning until far away. */
  const sign = async (
    terms: Terms,
    description = DESCRIPTION,
    not: { validAfter?: bigint; validBefore?: bigint } = {},
  ) => {
    const times = { validAfter: 0n, validBefore: (await stage.now()) + FAR, ...not };
    const nonce = await market.nonceOf(terms, description);
    const message = { from: buyer.address, to: stage.escrow, value: terms.budget, ...times, nonce };
    const domain = await market.domain();
    const signature = await buyer.account.signTypedData!({
      domain,
      types: TYPES,
      primaryType: 'ReceiveWithAuthorization',
      message,
    });
    return { ...times, signature };
  };
  const refused = (code: string, words: RegExp) => (error: unknown) => {
    assert.match(String(error), words);
    assert.equal((error as { code?: string }).code, code);
    return true;
  };

  test('anybody sends it: the job is there, funded, with its events, and the money is in escrow', async () => {
    const terms = await termsFor();
    const was = await Promise.all([buyer.address, stage.escrow].map(market.balance));
    const nonce = await market.nonceOf(terms, DESCRIPTION);
    assert.deepEqual([await market.jobOf(nonce), await market.isUsed(buyer.address, nonce)], [undefined, false]);
    const id = await market.fund(terms, DESCRIPTION, await sign(terms));
    assert.deepEqual([await market.jobOf(nonce), await market.isUsed(buyer.address, nonce)], [id, true]);
    const deliverable: Hex = `0x${'00'.repeat(32)}`;
    assert.deepEqual(await market.job(id), { ...terms, id, status: 'funded', deliverable });
    assert.equal(await stage.read('descriptionOf', id), DESCRIPTION);
    const is = await Promise.all([buyer.address, stage.escrow].map(market.balance));
    assert.deepEqual(is, [was[0]! - BUDGET, was[1]! + BUDGET]);
    const receipt = await chain().client.getBlock({ includeTransactions: false });
    const told = eventsOf(await chain().client.getTransactionReceipt({ hash: receipt.transactions[0]! }));
    assert.deepEqual(
      told.map(({ eventName }) => eventName),
      ['JobCreated', 'BudgetSet', 'JobFunded'],
    );
  });

  test('a second time it is refused by the token, and nothing moves', async () => {
    const terms = await termsFor();
    const authorization = await sign(terms);
    await market.fund(terms, DESCRIPTION, authorization);
    const was = await market.balance(buyer.address);
    await assert.rejects(market.fund(terms, DESCRIPTION, authorization), refused('reverted', /used or canceled/));
    assert.equal(await market.balance(buyer.address), was);
  });

  test('for altered terms, another job, another payee or another client it counts nothing', async () => {
    const terms = await termsFor();
    const authorization = await sign(terms);
    const { stranger } = stage.who;
    const altered: readonly [Terms, string][] = [
      [{ ...terms, provider: stranger.address }, DESCRIPTION],
      [{ ...terms, evaluator: stranger.address }, DESCRIPTION],
      [{ ...terms, client: stage.who.client.address }, DESCRIPTION],
      [{ ...terms, budget: terms.budget - 1n }, DESCRIPTION],
      [{ ...terms, budget: terms.budget + 1n }, DESCRIPTION],
      [{ ...terms, expiredAt: terms.expiredAt - 1 }, DESCRIPTION],
      [{ ...terms, expiredAt: terms.expiredAt + 1 }, DESCRIPTION],
      [terms, 'listing 8'],
      [terms, ''],
    ];
    for (const [given, description] of altered)
      await assert.rejects(market.fund(given, description, authorization), refused('reverted', /invalid signature/));
    const later = { ...authorization, validBefore: authorization.validBefore + 1n };
    await assert.rejects(market.fund(terms, DESCRIPTION, later), refused('reverted', /invalid signature/));
    await market.fund(terms, DESCRIPTION, authorization);
  });

  test('before its time, after its time, and beyond the purse it is refused', async () => {
    const terms = await termsFor();
    const now = await stage.now();
    const early = await sign(terms, DESCRIPTION, { validAfter: now + 1_000n });
    await assert.rejects(market.fund(terms, DESCRIPTION, early), refused('reverted', /not yet valid/));
    const late = await sign(terms, DESCRIPTION, { validBefore: now });
    await assert.rejects(market.fund(terms, DESCRIPTION, late), refused('reverted', /expired/));
    const rich = { ...terms, budget: 1_000n * BUDGET };
    await assert.rejects(market.fund(rich, DESCRIPTION, await sign(rich)), refused('reverted', /./));
  });

  test('of what the draft forbids nothing is funded: no evaluator, no provider, no budget, a past expiry', async () => {
    const terms = await termsFor();
    const zero: Hex = `0x${'00'.repeat(20)}`;
    const wrong: readonly [Terms, RegExp][] = [
      [{ ...terms, evaluator: zero }, /NoEvaluator/],
      [{ ...terms, provider: zero }, /NoProvider/],
      [{ ...terms, budget: 0n }, /NoBudget/],
      [{ ...terms, expiredAt: Number(await stage.now()) }, /PastExpiry/],
    ];
    for (const [given, words] of wrong)
      await assert.rejects(market.fund(given, DESCRIPTION, await sign(given)), refused('reverted', words));
  });

  test('the nonce is of this chain and this escrow', async () => {
    const terms = await termsFor();
    const { escrow } = await deployMarket(chain().places.rpc, buyer.key, stage.token);
    const read = (address: Hex) =>
      chain().client.readContract({ address, abi: escrowAbi, functionName: 'nonceOf', args: [terms, DESCRIPTION] });
    assert.notEqual(await read(escrow), await read(stage.escrow));
    assert.equal(await read(stage.escrow), nonceBy(await chain().client.getChainId(), stage.escrow, terms));
  });
});

/** As the notes say it: chain, escrow, terms, hash of the description. */
function nonceBy(chainId: number, escrow: Hex, { client, provider, evaluator, budget, expiredAt }: Terms): Hex {
  const types = parseAbiParameters('uint256, address, address, address, address, uint256, uint48, bytes32');
  const hash = keccak256(toBytes(DESCRIPTION));
  const values = [BigInt(chainId), escrow, client, provider, evaluator, budget, expiredAt, hash] as const;
  return keccak256(encodeAbiParameters(types, values));
}
