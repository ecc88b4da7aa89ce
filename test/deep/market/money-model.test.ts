/** A million sales, resales, rejections and expiries in the model that random walks hold against the contract: every micro-dollar is somewhere. */
import assert from 'node:assert/strict';
import { split } from '#fleet/market/listing.ts';
import { EscrowModel, type Step } from '../../real/market/model.ts';
import { verifies } from '../../verifies.ts';

const SALES = 1_000_000;
/** Sales of one model; of each some stay open to its end. */
const EACH = 1_000;
const PURSE = 10n ** 15n;
const [BUYER, SPLITTER, OTHER] = [0, 1, 2];
const FATES = ['completed', 'completed', 'completed', 'rejected', 'unread', 'expired', 'left'] as const;

verifies(
  ['R2.33', 'R2.40', 'R2.41', 'R2.42'],
  'parts sum to the price, the escrow holds the open jobs, nobody receives without a completed job',
  { options: { timeout: 600_000 }, run: () => playAll(randomOf(Number(process.env.TALARIA_SEED ?? 4711))) },
);

/** Numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function playAll(random: () => number): void {
  const fates = new Map<string, number>();
  for (let done = 0; done < SALES; done += EACH) {
    const model = new EscrowModel([PURSE, 0n, 0n, 0n]);
    let [open, paidOut] = [0n, 0n];
    for (let at = 0; at < EACH; at += 1) {
      const price = BigInt(Math.floor(random() * 10 ** Math.ceil(random() * 11)) + 5);
      const fate = FATES[Math.floor(random() * FATES.length)] ?? 'left';
      const received = sale(model, price, fate);
      assert.equal(received, fate === 'completed' ? price : 0n, fate);
      if (fate === 'left') open += price;
      assert.equal(partedSum(received, random() < 0.3), received);
      paidOut += received;
      assert.equal((model.purses[BUYER] ?? 0n) + open + paidOut, PURSE);
      fates.set(fate, (fates.get(fate) ?? 0) + 1);
    }
    assert.equal(model.held(), open);
  }
  assert.deepEqual([...fates.keys()].sort(), [...new Set(FATES)].sort());
}

function partedSum(price: bigint, isResale: boolean): bigint {
  const parts = Object.values(split(price, isResale));
  assert.ok(parts.every((part) => part >= 0n));
  return parts.reduce((sum, part) => sum + part, 0n);
}

/** What came to the splitter, which parts it and holds nothing; on the way others try what is not theirs, and everybody what is too late. */
function sale(model: EscrowModel, price: bigint, fate: (typeof FATES)[number]): bigint {
  model.now += 1;
  const take = (step: Step) => model.take(step);
  const roles = { provider: SPLITTER, evaluator: BUYER, expiredAt: model.now + 10, hooked: false };
  assert.equal(take({ name: 'createJob', by: BUYER, ...roles }), undefined);
  const job = model.jobs.length;
  const by = (name: 'submit' | 'complete' | 'reject' | 'claimRefund', who: number) => take({ name, by: who, job });
  assert.equal(take({ name: 'setBudget', by: SPLITTER, job, amount: price }), undefined);
  assert.equal(take({ name: 'fund', by: BUYER, job, amount: price + 1n }), 'WrongBudget');
  assert.equal(take({ name: 'fund', by: BUYER, job, amount: price }), undefined);
  assert.deepEqual([by('complete', BUYER), by('claimRefund', OTHER)], ['WrongStatus', 'NotExpired']);
  if (fate === 'unread') assert.equal(by('reject', BUYER), undefined);
  else if (fate !== 'left') assert.equal(by('submit', SPLITTER), undefined);
  if (fate === 'completed')
    assert.deepEqual([by('complete', SPLITTER), by('complete', BUYER)], ['NotYours', undefined]);
  if (fate === 'rejected') assert.deepEqual([by('reject', OTHER), by('reject', BUYER)], ['NotYours', undefined]);
  if (fate === 'expired') {
    model.now += 10;
    assert.equal(by('claimRefund', OTHER), undefined);
  }
  if (fate !== 'left')
    assert.deepEqual([by('complete', BUYER), by('claimRefund', OTHER)], ['WrongStatus', 'WrongStatus']);
  const received = model.purses[SPLITTER] ?? 0n;
  model.purses[SPLITTER] = 0n;
  return received;
}
