/** Tokens that take a fee, say no softly, call back in the middle, or bar somebody: nobody's money is lost, moved twice or held up. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { type Account, encodeFunctionData, toFunctionSelector, zeroAddress } from 'viem';
import type { Hex } from '#base/ethereum.ts';
import market from '#fleet/market/contracts/artifacts.json' with { type: 'json' };
import { type Artifact, compile, findChain } from '../../../scripts/compile-contracts.ts';
import { verifies } from '../../verifies.ts';
import { escrowAbi, factoryAbi, onChain, type Purse, splitterAbi } from './anvil.ts';
import { BUDGET, eventsOf, NOTHING, REASON, refusal, type Stage, stageOn } from './roles.ts';

const GUARD = toFunctionSelector('ReentrancyGuardReentrantCall()');

onChain('hostile tokens', (chain) => {
  let made: Record<string, Artifact>;
  before(() => {
    made = compile(findChain()!, [join(import.meta.dirname, 'Hostile.sol')]);
  });

  const stageWith = async (name: string): Promise<Stage> => {
    const token = await chain().deploy(made[name]!);
    const escrow = await chain().deploy(market.JobEscrow, [token, chain().places.forwarder]);
    return stageOn(chain(), { escrow, token });
  };
  const says = (name: string) => (error: unknown) => {
    assert.equal(refusal(error), name);
    return true;
  };

  verifies('R2.43', 'a token that takes a fee funds nothing', async () => {
    const stage = await stageWith('FeeToken');
    await assert.rejects(stage.jobIn('Funded'), says('WrongAmount'));
    assert.equal(await stage.balance(stage.escrow), 0n);
  });

  verifies('R2.43', 'a token that answers false moves no job, in or out', async () => {
    const stage = await stageWith('FalseToken');
    const abi = made.FalseToken!.abi as typeof escrowAbi;
    const refuse = (on: boolean) => stage.sendTo(stage.token, abi, stage.who.stranger, 'refuse', on);
    const [open, submitted] = [await stage.jobIn('Open'), await stage.jobIn('Submitted', 1_000n)];
    await chain().pass(1_000);
    await refuse(true);
    const { client, evaluator, stranger } = stage.who;
    const tries: readonly [Purse, string, ...unknown[]][] = [
      [client, 'fund', open, BUDGET, NOTHING],
      [evaluator, 'complete', submitted, REASON, NOTHING],
      [evaluator, 'reject', submitted, REASON, NOTHING],
      [stranger, 'claimRefund', submitted],
    ];
    for (const [by, name, ...args] of tries)
      assert.equal(await stage.outcome(by, name, ...args), 'SafeERC20FailedOperation');
    assert.deepEqual([await stage.stateOf(open), await stage.stateOf(submitted)], ['Open', 'Submitted']);
    await refuse(false);
    await stage.send(evaluator, 'complete', submitted, REASON, NOTHING);
    assert.equal(await stage.balance(stage.escrow), 0n);
  });

  verifies('R2.43', 'a token that calls back in the middle comes in nowhere, whatever role it has', async () => {
    const stage = await stageWith('EnteringToken');
    const inner = await jobsOf(stage, await puppet(stage));
    const { client, evaluator, stranger } = stage.who;
    const [open, submitted, funded, late] = [
      ...[await stage.jobIn('Open'), await stage.jobIn('Submitted'), await stage.jobIn('Funded')],
      await stage.jobIn('Funded', 500n),
    ];
    await chain().pass(1_000);
    const outer: readonly [Purse, string, ...unknown[]][] = [
      [client, 'fund', open, BUDGET, NOTHING],
      [evaluator, 'complete', submitted, REASON, NOTHING],
      [evaluator, 'reject', funded, REASON, NOTHING],
      [stranger, 'claimRefund', late],
    ];
    const abi = made.EnteringToken!.abi as typeof escrowAbi;
    const of = (functionName: string) => chain().client.readContract({ address: stage.token, abi, functionName });
    for (const [by, name, ...args] of outer)
      for (const [call, data] of inner) {
        const mark = await chain().mark();
        await stage.sendTo(stage.token, abi, stranger, 'aim', stage.escrow, data);
        await stage.send(by, name, ...args);
        const found = [await of('tries'), await of('entered'), await of('answer')];
        assert.deepEqual(found, [1n, 0n, GUARD], `${name} entered by ${call}`);
        await chain().back(mark);
      }
  });

  /** The token itself as a caller of its own. */
  const puppet = async ({ token }: Stage): Promise<Purse> => {
    await chain().client.impersonateAccount({ address: token });
    await chain().client.setBalance({ address: token, value: 10n ** 20n });
    return { key: '', address: token, account: { address: token, type: 'json-rpc' } as Account };
  };

  /** Calls that only the guard stops: each is tried first, without anything around it. */
  const jobsOf = async (stage: Stage, own: Purse): Promise<ReadonlyMap<string, Hex>> => {
    const mine: Stage = { ...stage, who: { ...stage.who, client: own, provider: own, evaluator: own } };
    const abi = made.EnteringToken!.abi as typeof escrowAbi;
    await stage.sendTo(stage.token, abi, own, 'mint', own.address, 100n * BUDGET);
    await stage.sendTo(stage.token, abi, own, 'approve', stage.escrow, 100n * BUDGET);
    const job = async (upTo: 'Open' | 'Funded' | 'Submitted', lasts: bigint) => {
      const expiry = (await stage.now()) + lasts;
      const receipt = await stage.send(own, 'createJob', own.address, own.address, expiry, 'own', zeroAddress);
      const id = eventsOf(receipt)[0]!.args.jobId as bigint;
      await stage.send(own, 'setBudget', id, BUDGET, NOTHING);
      if (upTo !== 'Open') await mine.send(own, 'fund', id, BUDGET, NOTHING);
      if (upTo === 'Submitted') await mine.send(own, 'submit', id, REASON, NOTHING);
      return id;
    };
    const calls: readonly [string, ...unknown[]][] = [
      ['fund', await job('Open', 10_000n), BUDGET, NOTHING],
      ['complete', await job('Submitted', 10_000n), REASON, NOTHING],
      ['reject', await job('Funded', 10_000n), REASON, NOTHING],
      ['claimRefund', await job('Funded', 500n)],
    ];
    await chain().pass(500);
    for (const [name, ...args] of calls) assert.equal(await stage.outcome(own, name, ...args), 'ok', name);
    return new Map(
      calls.map(([functionName, ...args]) => [
        functionName,
        encodeFunctionData({ abi: escrowAbi, functionName, args }),
      ]),
    );
  };

  const splitterOver = async (token: Hex, escrow: Hex, creator: Hex) => {
    const seller = await chain().purse();
    const sale = {
      ...{ seller: seller.address, agent: zeroAddress, creator, creatorOwner: zeroAddress },
      ...{ styx: (await chain().purse()).address, gas: (await chain().purse()).address },
    };
    const factory = await chain().deploy(market.SplitterFactory, [escrow, token, chain().places.forwarder]);
    const call = { address: factory, abi: factoryAbi, account: seller.account };
    const splitter = (await chain().client.readContract({
      ...call,
      functionName: 'splitterOf',
      args: [REASON, sale],
    })) as Hex;
    await chain().client.writeContract({ ...call, functionName: 'list', args: [REASON, sale, REASON, REASON] });
    return { splitter, sale };
  };

  test('who the token bars from being paid loses its share to the seller, and holds up nobody', async () => {
    const stage = await stageWith('BarringToken');
    const creator = await chain().purse();
    const { splitter, sale } = await splitterOver(stage.token, stage.escrow, creator.address);
    const abi = made.BarringToken!.abi as typeof escrowAbi;
    await stage.sendTo(stage.token, abi, stage.who.stranger, 'mint', splitter, BUDGET);
    await stage.sendTo(stage.token, abi, stage.who.stranger, 'bar', creator.address);
    await stage.sendTo(splitter, splitterAbi, stage.who.stranger, 'release');
    const parts = await Promise.all([sale.seller, sale.styx, creator.address, sale.gas, splitter].map(stage.balance));
    assert.deepEqual(parts, [930_000n, 50_000n, 0n, 20_000n, 0n]);
  });

  test('a token that calls back in the middle of a release parts it once', async () => {
    const stage = await stageWith('EnteringToken');
    const { splitter, sale } = await splitterOver(stage.token, stage.escrow, (await chain().purse()).address);
    const abi = made.EnteringToken!.abi as typeof escrowAbi;
    await stage.sendTo(stage.token, abi, stage.who.stranger, 'mint', splitter, BUDGET);
    const data = encodeFunctionData({ abi: splitterAbi, functionName: 'release' });
    await stage.sendTo(stage.token, abi, stage.who.stranger, 'aim', splitter, data);
    await stage.sendTo(splitter, splitterAbi, stage.who.stranger, 'release');
    const parts = await Promise.all([sale.seller, sale.styx, sale.creator, sale.gas, splitter].map(stage.balance));
    assert.deepEqual(parts, [880_000n, 50_000n, 50_000n, 20_000n, 0n]);
    assert.equal(await chain().client.readContract({ address: stage.token, abi, functionName: 'entered' }), 0n);
  });

  test('a token of eighteen decimals is counted as exactly as any', async () => {
    const stage = await stageWith('LongToken');
    await stage.jobIn('Completed');
    await stage.jobIn('Rejected');
    await stage.jobIn('Expired', 100n);
    assert.equal(await stage.balance(stage.escrow), 0n);
    assert.equal(await stage.balance(stage.who.provider.address), BUDGET);
  });
});
