/** The escrow against the draft of ERC-8183 (hierarchy notes B1): every state, function and caller, and what each does to money and events. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { before, test } from 'node:test';
import { zeroAddress } from 'viem';
import type { Hex } from '#base/ethereum.ts';
import { artifacts, findChain } from '../../../scripts/compile-contracts.ts';
import { verifies } from '../../verifies.ts';
import { escrowAbi, onChain, type Purse } from './anvil.ts';
import {
  BUDGET,
  CALLERS,
  type Caller,
  DELIVERABLE,
  eventsOf,
  FAR,
  NOTHING,
  REASON,
  refusal,
  STATES,
  type Stage,
  type State,
  stageOn,
} from './roles.ts';

interface Rule {
  /** From which state, by whom. */
  readonly may: Partial<Record<State, readonly Caller[]>>;
  readonly to: State | 'same';
}

/** The table of B1. */
const RULES: Readonly<Record<string, Rule>> = {
  createJob: { may: Object.fromEntries(STATES.map((state) => [state, CALLERS])), to: 'same' },
  setProvider: { may: { Open: ['client'] }, to: 'same' },
  setBudget: { may: { Open: ['client', 'provider'] }, to: 'same' },
  fund: { may: { Open: ['client'] }, to: 'Funded' },
  submit: { may: { Funded: ['provider'] }, to: 'Submitted' },
  complete: { may: { Submitted: ['evaluator'] }, to: 'Completed' },
  reject: { may: { Open: ['client'], Funded: ['evaluator'], Submitted: ['evaluator'] }, to: 'Rejected' },
  claimRefund: { may: {}, to: 'Expired' },
};
/** At or after the expiry. */
const LATE: Readonly<Record<string, Rule>> = {
  ...RULES,
  claimRefund: { may: { Funded: CALLERS, Submitted: CALLERS }, to: 'Expired' },
};

interface Cell {
  readonly when: 'early' | 'late';
  readonly rules: typeof RULES;
  readonly state: State;
  readonly name: string;
  readonly caller: Caller;
}

function cellsOf(when: Cell['when'], rules: typeof RULES): readonly Cell[] {
  const names = Object.keys(rules);
  return STATES.flatMap((state) =>
    names.flatMap((name) => CALLERS.map((caller) => ({ when, rules, state, name, caller }))),
  );
}

/** The state is looked at before the caller. */
function expected({ when, rules, state, name, caller }: Cell): string {
  const callers = rules[name]?.may[state];
  if (callers !== undefined) return callers.includes(caller) ? 'ok' : 'NotYours';
  return when === 'early' && LATE[name]?.may[state] !== undefined ? 'NotExpired' : 'WrongStatus';
}

const EVENTS = [
  'JobCreated(jobId, client, provider, evaluator, expiredAt)',
  'ProviderSet(jobId, provider)',
  'BudgetSet(jobId, amount)',
  'JobFunded(jobId, client, amount)',
  'JobSubmitted(jobId, provider, deliverable)',
  'JobCompleted(jobId, evaluator, reason)',
  'JobRejected(jobId, rejector, reason)',
  'JobExpired(jobId)',
  'PaymentReleased(jobId, provider, amount)',
  'Refunded(jobId, client, amount)',
];

onChain('the escrow', (chain) => {
  let stage: Stage;
  before(async () => {
    stage = await stageOn(chain());
  });

  const argsOf = (name: string, job: bigint, now: bigint): readonly unknown[] => {
    const { provider, evaluator } = stage.who;
    if (name === 'createJob') return [provider.address, evaluator.address, now + FAR, 'another', zeroAddress];
    if (name === 'setProvider') return [job, provider.address, NOTHING];
    if (name === 'setBudget' || name === 'fund') return [job, BUDGET, NOTHING];
    return name === 'claimRefund' ? [job] : [job, name === 'submit' ? DELIVERABLE : REASON, NOTHING];
  };

  /** A job that has no provider yet, or, where it must have had one, the one of that state. */
  const bare = async (): Promise<bigint> => {
    const { client, evaluator } = stage.who;
    const until = (await stage.now()) + FAR;
    const made = await stage.send(client, 'createJob', zeroAddress, evaluator.address, until, 'open', zeroAddress);
    return eventsOf(made)[0]!.args.jobId as bigint;
  };

  /** Throws when the contract does not do what the rule says; gives what it did. */
  const tryCell = async ({ when, rules, state, name, caller }: Cell, jobs: ReadonlyMap<State | 'bare', bigint>) => {
    const job = jobs.get(state === 'Open' && name === 'setProvider' ? 'bare' : state)!;
    const args = argsOf(name, job, await stage.now());
    const outcome = await stage.outcome(stage.who[caller], name, ...args);
    const label = `${when} ${state}, ${name}, ${caller}: ${outcome}`;
    assert.equal(outcome, expected({ when, rules, state, name, caller }), label);
    if (outcome !== 'ok') return label;
    const mark = await chain().mark();
    await stage.send(stage.who[caller], name, ...args);
    const { to } = rules[name]!;
    assert.equal(await stage.stateOf(job), to === 'same' ? state : to, label);
    await chain().back(mark);
    return label;
  };

  verifies(
    ['R2.35', 'R2.36'],
    'every state, function and caller does what the table says, before the expiry and after it',
    async () => {
      const lasts = 100_000n;
      const jobs = new Map<State | 'bare', bigint>([['Expired', await stage.jobIn('Expired', 100n)]]);
      for (const state of STATES.slice(0, 5)) jobs.set(state, await stage.jobIn(state, lasts));
      jobs.set('bare', await bare());
      const early: string[] = [];
      for (const cell of cellsOf('early', RULES)) early.push(await tryCell(cell, jobs));
      await chain().pass(Number(lasts));
      const late: string[] = [];
      for (const cell of cellsOf('late', LATE)) late.push(await tryCell(cell, jobs));
      assert.equal(new Set([...early, ...late]).size, 2 * 6 * 8 * 4);
      // Each of 24 makes a job, nine call for their roles; late, four more claim each of two jobs.
      const fine = [early, late].map((labels) => labels.filter((label) => label.endsWith(': ok')).length);
      assert.deepEqual(fine, [24 + 9, 24 + 9 + 8]);
    },
  );

  verifies('R2.36', 'a job that nobody made obeys nobody', async () => {
    for (const name of Object.keys(RULES).filter((one) => one !== 'createJob'))
      for (const caller of CALLERS)
        assert.notEqual(
          await stage.outcome(stage.who[caller], name, ...argsOf(name, 999_999n, await stage.now())),
          'ok',
        );
  });

  verifies('R2.36', 'who is client and evaluator at once does both, and no more', async () => {
    const { client, provider } = stage.who;
    const until = (await stage.now()) + FAR;
    const made = await stage.send(client, 'createJob', provider.address, client.address, until, 'own', zeroAddress);
    const job = eventsOf(made)[0]!.args.jobId as bigint;
    await stage.send(client, 'setBudget', job, BUDGET, NOTHING);
    await stage.send(client, 'fund', job, BUDGET, NOTHING);
    assert.equal(await stage.outcome(client, 'submit', job, DELIVERABLE, NOTHING), 'NotYours');
    assert.equal(await stage.outcome(client, 'complete', job, REASON, NOTHING), 'WrongStatus');
    await stage.send(client, 'reject', job, REASON, NOTHING);
    assert.equal(await stage.stateOf(job), 'Rejected');
  });

  verifies('R2.37', 'funding needs the expected budget, a provider and more than nothing', async () => {
    const { client, provider } = stage.who;
    const job = await bare();
    const fund = (expected: bigint) => stage.outcome(client, 'fund', job, expected, NOTHING);
    assert.equal(await fund(0n), 'NoBudget');
    await stage.send(client, 'setBudget', job, BUDGET, NOTHING);
    assert.equal(await fund(BUDGET), 'NoProvider');
    await stage.send(client, 'setProvider', job, provider.address, NOTHING);
    assert.equal(await fund(BUDGET - 1n), 'WrongBudget');
    assert.equal(await fund(BUDGET + 1n), 'WrongBudget');
    // The provider raises the price while the client is on the way.
    await stage.send(provider, 'setBudget', job, 2n * BUDGET, NOTHING);
    assert.equal(await fund(BUDGET), 'WrongBudget');
    assert.equal(await fund(2n * BUDGET), 'ok');
    assert.equal(await stage.outcome(client, 'setBudget', job, 2n ** 96n, NOTHING), 'SafeCastOverflowedUintDowncast');
  });

  test('a provider is set once and is somebody', async () => {
    const { client, provider, stranger } = stage.who;
    const job = await bare();
    assert.equal(await stage.outcome(client, 'setProvider', job, zeroAddress, NOTHING), 'NoProvider');
    await stage.send(client, 'setProvider', job, provider.address, NOTHING);
    assert.equal(await stage.outcome(client, 'setProvider', job, stranger.address, NOTHING), 'ProviderKnown');
  });

  verifies('R2.38', 'no job without an evaluator, with a past expiry or with a hook', async () => {
    const { client, provider, evaluator, stranger } = stage.who;
    const make = async (by: Hex, ends: bigint, hook: Hex = zeroAddress) =>
      stage.outcome(client, 'createJob', provider.address, by, (await stage.now()) + ends, 'a job', hook);
    assert.equal(await make(zeroAddress, FAR), 'NoEvaluator');
    assert.equal(await make(evaluator.address, -1n), 'PastExpiry');
    // Of the newest block: the next one is later, in its view the expiry is not in the future.
    assert.equal(await make(evaluator.address, 0n), 'PastExpiry');
    assert.equal(await make(evaluator.address, FAR, stranger.address), 'NoHooks');
    assert.equal(await make(evaluator.address, FAR), 'ok');
  });

  verifies('R2.39', 'a submission records the deliverable and emits it', async () => {
    const job = await stage.jobIn('Funded');
    const { provider } = stage.who;
    const told = eventsOf(await stage.send(provider, 'submit', job, DELIVERABLE, NOTHING));
    assert.deepEqual(
      told.map(({ eventName, args }) => ({ eventName, ...lowered(args) })),
      [{ eventName: 'JobSubmitted', jobId: job, provider: provider.address, deliverable: DELIVERABLE }],
    );
    assert.equal((await stage.read<readonly unknown[]>('jobs', job))[6], DELIVERABLE);
    assert.equal(await stage.read('descriptionOf', job), 'a job');
  });

  const moved = async (work: () => Promise<unknown>) => {
    const of = async () =>
      Promise.all([...CALLERS.map((one) => stage.who[one].address), stage.escrow].map(stage.balance));
    const was = await of();
    await work();
    return (await of()).map((amount, at) => amount - was[at]!);
  };

  verifies('R2.40', 'completion pays the provider everything and emits both events', async () => {
    const job = await stage.jobIn('Submitted');
    const { provider, evaluator } = stage.who;
    const told: ReturnType<typeof eventsOf>[] = [];
    const change = await moved(async () =>
      told.push(eventsOf(await stage.send(evaluator, 'complete', job, REASON, NOTHING))),
    );
    assert.deepEqual(change, [0n, BUDGET, 0n, 0n, -BUDGET]);
    assert.deepEqual(
      told[0]?.map(({ eventName, args }) => ({ eventName, ...lowered(args) })),
      [
        { eventName: 'JobCompleted', jobId: job, evaluator: evaluator.address, reason: REASON },
        { eventName: 'PaymentReleased', jobId: job, provider: provider.address, amount: BUDGET },
      ],
    );
  });

  verifies('R2.41', 'rejection gives back what is in escrow, and moves nothing of an open job', async () => {
    const { client, evaluator } = stage.who;
    for (const state of ['Funded', 'Submitted'] as const) {
      const job = await stage.jobIn(state);
      const change = await moved(() => stage.send(evaluator, 'reject', job, REASON, NOTHING));
      assert.deepEqual(change, [BUDGET, 0n, 0n, 0n, -BUDGET]);
    }
    const open = await stage.jobIn('Open');
    assert.deepEqual(await moved(() => stage.send(client, 'reject', open, REASON, NOTHING)), [0n, 0n, 0n, 0n, 0n]);
  });

  verifies('R2.42', 'at its expiry, not a second earlier, anybody gives the client the money back', async () => {
    const { stranger } = stage.who;
    for (const state of ['Funded', 'Submitted'] as const) {
      const job = await stage.jobIn(state, 1_000n);
      const expiry = (await stage.read<readonly bigint[]>('jobs', job))[3]!;
      await chain().client.setNextBlockTimestamp({ timestamp: expiry - 1n });
      await chain().client.mine({ blocks: 1 });
      assert.equal(await atTime(stranger, job, expiry - 1n), 'NotExpired');
      await chain().client.setNextBlockTimestamp({ timestamp: expiry });
      const change = await moved(async () => {
        const told = eventsOf(await stage.sendNow(stranger, 'claimRefund', job));
        assert.deepEqual(
          told.map(({ eventName }) => eventName),
          ['JobExpired', 'Refunded'],
        );
      });
      assert.deepEqual(change, [BUDGET, 0n, 0n, 0n, -BUDGET]);
    }
  });

  /** In the block that is the newest. */
  const atTime = async (by: Purse, job: bigint, time: bigint) => {
    assert.equal(await stage.now(), time);
    return stage.outcome(by, 'claimRefund', job);
  };

  verifies('R2.44', 'ten events of these names and arguments, and no other', async () => {
    const events = escrowAbi.filter((one) => one.type === 'event');
    const told = events.map(({ name, inputs }) => `${name}(${inputs.map((input) => input.name).join(', ')})`);
    assert.deepEqual(told.sort(), EVENTS.toSorted());
    const { client, provider } = stage.who;
    const job = await bare();
    const first = eventsOf(await stage.send(client, 'setProvider', job, provider.address, NOTHING));
    assert.deepEqual(
      first.map(({ eventName }) => eventName),
      ['ProviderSet'],
    );
    const second = eventsOf(await stage.send(provider, 'setBudget', job, 7n, NOTHING));
    assert.deepEqual(second, [{ ...second[0], eventName: 'BudgetSet', args: { jobId: job, amount: 7n } }]);
    const third = eventsOf(await stage.send(client, 'fund', job, 7n, NOTHING));
    assert.deepEqual(
      third.map(({ eventName, args }) => ({ eventName, ...lowered(args) })),
      [{ eventName: 'JobFunded', jobId: job, client: client.address, amount: 7n }],
    );
  });

  test('what is deployed is what the sources say', () => {
    for (const [path, text] of artifacts(findChain()!))
      assert.ok(readFileSync(path, 'utf8') === text, `${basename(path)}: node scripts/compile-contracts.ts`);
  });

  test('what the token refuses, nobody funds', async () => {
    const { client } = stage.who;
    const job = await stage.jobIn('Open');
    await stage.send(client, 'setBudget', job, 2_000n * BUDGET, NOTHING);
    await assert.rejects(stage.send(client, 'fund', job, 2_000n * BUDGET, NOTHING), (error) => refusal(error) !== 'ok');
    assert.equal(await stage.stateOf(job), 'Open');
  });
});

function lowered(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === 'string' ? value.toLowerCase() : value]),
  );
}
