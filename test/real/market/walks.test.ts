/** Random walks through the escrow on a real EVM, each step beside a model: the same answer, the same refusal, the same money. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before } from 'node:test';
import { type Abi, decodeEventLog, encodeFunctionData, maxUint256, toFunctionSelector, zeroAddress } from 'viem';
import type { Hex } from '#base/ethereum.ts';
import { type Artifact, compile, findChain } from '../../../scripts/compile-contracts.ts';
import { verifies } from '../../verifies.ts';
import { dollarAbi, escrowAbi, type LocalChain, onChain } from './anvil.ts';
import { callers, EscrowModel, type ModelJob, type Step } from './model.ts';
import { DELIVERABLE, REASON, STATES } from './roles.ts';

const STEPS = Number(process.env.TALARIA_WALK_STEPS ?? 100_000);
/** In one transaction, at one time. */
const BATCH = 250;
/** Only the newest are stepped on: older ones are all in an end state sooner or later. */
const NEWEST = 24;
const PURSE = 2_000n;

onChain('random walks', (chain) => {
  let made: Record<string, Artifact>;
  before(() => {
    made = compile(findChain()!, [join(import.meta.dirname, 'Walker.sol')]);
  });

  verifies(
    ['R2.35', 'R2.36', 'R2.43'],
    `${STEPS} random steps of four actors answer as the model does, and no money is lost`,
    async (t) => {
      const seed = Number(process.env.TALARIA_SEED ?? 20_260_225);
      const draw = randomOf(seed);
      const ground = await groundOn(chain(), made.Walker!);
      const model = new EscrowModel(ground.actors.map(() => PURSE));
      const answers = new Map<string, number>();
      for (let done = 0; done < STEPS; done += BATCH) {
        model.now = await ground.later(1 + draw(200));
        const first = Math.max(1, model.jobs.length - NEWEST);
        const steps = Array.from({ length: Math.min(BATCH, STEPS - done) }, () => {
          const step = nextStep(model, draw);
          return { step, wanted: model.take(step) ?? 'done' };
        });
        const told = await ground.walk(steps.map(({ step }) => ({ by: step.by, data: encoded(step, ground.nobody) })));
        for (const [at, { step, wanted }] of steps.entries()) {
          assert.equal(told[at], selectorOf(wanted), `seed ${seed}, step ${done + at}: ${text(step)} ${wanted}`);
          const label = `${step.name} ${wanted}`;
          answers.set(label, (answers.get(label) ?? 0) + 1);
        }
        const should = model.jobs.slice(first - 1).map((job) => text(seenOf(job, ground.nobody)).toLowerCase());
        assert.deepEqual(
          await ground.look(first, model.jobs.length),
          should,
          `seed ${seed}, after ${done + BATCH} steps`,
        );
        assert.deepEqual(await ground.purses(), [...model.purses, model.held()], `seed ${seed}, after ${done + BATCH}`);
      }
      t.diagnostic(
        `${model.jobs.length} jobs; ${[...answers]
          .map((entry) => entry.join(' '))
          .sort()
          .join(', ')}`,
      );
      const rare = STEPS < 100_000 ? [] : EVERY.filter((label) => (answers.get(label) ?? 0) < 50);
      assert.deepEqual(rare, []);
    },
  );
});

interface Called {
  readonly by: number;
  readonly data: Hex;
}

/** A walker with four actors who own dollars, and how it is asked. */
async function groundOn(chain: LocalChain, artifact: Artifact) {
  const { client, places } = chain;
  const abi = artifact.abi as Abi;
  const walker = await chain.deploy(artifact);
  const own = await chain.purse();
  await client.setBalance({ address: own.address, value: 10n ** 24n });
  const read = <T>(address: Hex, of: Abi, functionName: string, args: readonly unknown[]) =>
    client.readContract({ address, abi: of, functionName, args }) as Promise<T>;
  const actors = await Promise.all([0n, 1n, 2n, 3n].map((at) => read<Hex>(walker, abi, 'actors', [at])));
  /** Eight digits a step. */
  const walk = async (calls: readonly Called[], place = places.escrow): Promise<readonly string[]> => {
    const steps = `0x${calls.map(({ by, data }) => `0${by}${(data.length / 2 - 1).toString(16).padStart(4, '0')}${data.slice(2)}`).join('')}`;
    const sent = { address: walker, abi, functionName: 'walk', args: [place, steps], account: own.account };
    const hash = await client.writeContract({ ...sent, gas: 2_000_000_000n });
    const { logs, status } = await client.waitForTransactionReceipt({ hash });
    assert.equal(status, 'success');
    const { data, topics } = logs.find((log) => log.address === walker)!;
    const { refusals } = decodeEventLog({ abi, data, topics }).args as unknown as { readonly refusals: Hex };
    return refusals.slice(2).match(/.{8}/g) ?? [];
  };
  for (const actor of actors) await chain.mint(actor, PURSE);
  const args = [places.escrow, maxUint256];
  const data = encodeFunctionData({ abi: dollarAbi, functionName: 'approve', args });
  const approved = await walk(
    actors.map((_, by) => ({ by, data })),
    places.token,
  );
  assert.deepEqual(new Set(approved), new Set([selectorOf('done')]));
  return {
    ...{ actors, walk, nobody: (at: number) => actors[at] ?? zeroAddress },
    /** The time of the next batch. */
    later: async (seconds: number) => {
      const timestamp = (await client.getBlock()).timestamp + BigInt(seconds);
      await client.setNextBlockTimestamp({ timestamp });
      return Number(timestamp);
    },
    look: async (first: number, last: number) => {
      const asked = [places.escrow, BigInt(first), BigInt(last)];
      return (await read<readonly unknown[]>(walker, abi, 'look', asked)).map((one) => text(one).toLowerCase());
    },
    purses: () =>
      Promise.all([...actors, places.escrow].map((of) => read<bigint>(places.token, dollarAbi, 'balanceOf', [of]))),
  };
}

/** What a walk must have met often enough to mean something. */
const EVERY = [
  ...['createJob done', 'createJob NoHooks', 'createJob NoEvaluator', 'createJob PastExpiry', 'setProvider done'],
  ...[
    'setProvider ProviderKnown',
    'setProvider NoProvider',
    'setBudget done',
    'setBudget SafeCastOverflowedUintDowncast',
    'fund done',
  ],
  ...[
    'fund NoBudget',
    'fund NoProvider',
    'fund WrongBudget',
    'fund ERC20InsufficientBalance',
    'submit done',
    'complete done',
  ],
  ...[
    'reject done',
    'claimRefund done',
    'claimRefund NotExpired',
    'submit WrongStatus',
    'submit NotYours',
    'complete NotYours',
  ],
];

function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const NAMES = ['setProvider', 'setBudget', 'fund', 'submit', 'complete', 'reject', 'claimRefund'] as const;
const AMOUNTS = [0n, 1n, 7n, 100n, 400n, 2n ** 96n];

/** Three of four by somebody whose it is, so that a walk comes to every state. */
function nextStep(model: EscrowModel, draw: (below: number) => number): Step {
  if (draw(16) === 0 || model.jobs.length === 0) return creation(model.now, draw);
  // One above is of nobody yet.
  const job = Math.max(1, model.jobs.length + 1 - draw(NEWEST));
  const name = draw(2) === 0 ? fitting(model.at(job), draw) : oneOf(NAMES, draw);
  const may = callers(name, model.at(job)).filter((one) => one !== -1);
  const by = oneOf(draw(4) === 0 || may.length === 0 ? [0, 1, 2, 3] : may, draw);
  const { budget } = model.at(job);
  if (name === 'setProvider') return { name, by, job, provider: oneOf([-1, 0, 1, 2, 3], draw) };
  if (name === 'setBudget') return { name, by, job, amount: oneOf(AMOUNTS, draw) };
  if (name === 'fund') return { name, by, job, amount: oneOf([7n, budget, budget, budget], draw) };
  return { name, by, job };
}

function oneOf<T>(all: readonly T[], draw: (below: number) => number): T {
  return all[draw(all.length)]!;
}

function creation(now: number, draw: (below: number) => number): Step {
  const [provider, evaluator] = [draw(3) === 0 ? -1 : draw(4), draw(12) === 0 ? -1 : draw(4)];
  const expiredAt = now + draw(600) - (draw(8) === 0 ? 600 : 0);
  return { name: 'createJob', by: draw(4), provider, evaluator, expiredAt, hooked: draw(20) === 0 };
}

/** What the job waits for; in an end state, anything. */
function fitting({ status, provider, budget }: ModelJob, draw: (below: number) => number): (typeof NAMES)[number] {
  if (status === 'Funded') return oneOf(['submit', 'submit', 'claimRefund'], draw);
  if (status === 'Submitted') return oneOf(['complete', 'claimRefund', 'reject'], draw);
  if (status !== 'Open') return oneOf(NAMES, draw);
  if (provider === -1 && draw(3) > 0) return 'setProvider';
  return budget === 0n ? 'setBudget' : 'fund';
}

const selectors = new Map([['done', '00000000']]);

/** Of an error of the escrow or the token. */
function selectorOf(name: string): string {
  let found = selectors.get(name);
  if (found === undefined) {
    const error = [...escrowAbi, ...dollarAbi].find((one) => one.type === 'error' && one.name === name);
    if (error?.type !== 'error') throw new Error(`no error ${name}`);
    found = toFunctionSelector(
      `${error.name}(${error.inputs.map(({ type, internalType }) => (internalType?.startsWith('enum') ? 'uint8' : type)).join(',')})`,
    ).slice(2);
    selectors.set(name, found);
  }
  return found;
}

function encoded(step: Step, nobody: (at: number) => Hex): Hex {
  const { name } = step;
  if (name === 'createJob') {
    const hook = step.hooked ? nobody(0) : zeroAddress;
    return call(name, nobody(step.provider), nobody(step.evaluator), step.expiredAt, '', hook);
  }
  if (name === 'setProvider') return call(name, step.job, nobody(step.provider), '');
  if (name === 'setBudget' || name === 'fund') return call(name, step.job, step.amount, '');
  if (name === 'claimRefund') return call(name, step.job);
  return call(name, step.job, name === 'submit' ? DELIVERABLE : REASON, '');
}

/** By hand, since a hundred thousand by viem take a minute; '' is an empty text or empty bytes. */
function call(name: string, ...args: readonly (Hex | '' | number | bigint)[]): Hex {
  const words = args.map((arg) => (arg === '' ? word(32 * args.length) : word(arg)));
  return `${methodOf(name)}${words.join('')}${args.includes('') ? word(0) : ''}`;
}

function word(value: Hex | number | bigint): string {
  return (typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0');
}

const methods = new Map<string, Hex>();

function methodOf(name: string): Hex {
  let found = methods.get(name);
  if (found === undefined) {
    const item = escrowAbi.find((one) => one.type === 'function' && one.name === name);
    if (item?.type !== 'function') throw new Error(`no function ${name}`);
    found = toFunctionSelector(item);
    methods.set(name, found);
  }
  return found;
}

/** As `look` of the walker gives it. */
function seenOf(
  { client, provider, evaluator, expiredAt, status, budget, deliverable }: ModelJob,
  nobody: (at: number) => Hex,
) {
  const roles = { client: nobody(client), provider: nobody(provider), evaluator: nobody(evaluator) };
  return {
    ...roles,
    expiredAt,
    status: STATES.indexOf(status),
    budget,
    deliverable: deliverable ? DELIVERABLE : `0x${'00'.repeat(32)}`,
  };
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? Number(one) : one));
}
