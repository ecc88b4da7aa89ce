/** The four who call an escrow in the tests, jobs in any state, and how a contract says no. */
import {
  type Abi,
  BaseError,
  ContractFunctionRevertedError,
  parseEventLogs,
  type TransactionReceipt,
  zeroAddress,
} from 'viem';
import type { Hex } from '#base/ethereum.ts';
import { dollarAbi, escrowAbi, type LocalChain, type Purse } from './anvil.ts';

export const STATES = ['Open', 'Funded', 'Submitted', 'Completed', 'Rejected', 'Expired'] as const;
export type State = (typeof STATES)[number];
export const CALLERS = ['client', 'provider', 'evaluator', 'stranger'] as const;
export type Caller = (typeof CALLERS)[number];

export const BUDGET = 1_000_000n;
export const REASON: Hex = `0x${'5e'.repeat(32)}`;
export const DELIVERABLE: Hex = `0x${'de'.repeat(32)}`;
export const NOTHING: Hex = '0x';
export const FAR = 10_000_000n;

export interface Stage {
  readonly escrow: Hex;
  readonly token: Hex;
  readonly who: Readonly<Record<Caller, Purse>>;
  /** Sends it; throws what the contract says. */
  send(by: Purse, name: string, ...args: readonly unknown[]): Promise<TransactionReceipt>;
  /** Into the very next block, without a look before. */
  sendNow(by: Purse, name: string, ...args: readonly unknown[]): Promise<TransactionReceipt>;
  sendTo(place: Hex, abi: Abi, by: Purse, name: string, ...args: readonly unknown[]): Promise<TransactionReceipt>;
  /** `ok`, or how it would be refused; sends nothing. */
  outcome(by: Purse, name: string, ...args: readonly unknown[]): Promise<string>;
  read<T>(name: string, ...args: readonly unknown[]): Promise<T>;
  balance(of: Hex): Promise<bigint>;
  stateOf(job: bigint): Promise<State>;
  now(): Promise<bigint>;
  /** A job of the four with a provider and a budget, in that state; `lasts`: seconds. */
  jobIn(state: State, lasts?: bigint): Promise<bigint>;
}

/** Why a contract refused, by the name of its error or the words of the token. */
export function refusal(error: unknown): string {
  const found = error instanceof BaseError && error.walk((one) => one instanceof ContractFunctionRevertedError);
  if (!(found instanceof ContractFunctionRevertedError)) throw error;
  return found.data?.errorName === 'Error' || found.data === undefined
    ? (found.reason ?? found.signature ?? 'without a reason')
    : found.data.errorName;
}

export function eventsOf(
  receipt: TransactionReceipt,
  abi: Abi = escrowAbi,
): readonly { eventName: string; args: Record<string, unknown> }[] {
  return parseEventLogs({ abi, logs: receipt.logs }) as unknown as {
    eventName: string;
    args: Record<string, unknown>;
  }[];
}

/** `at`: another escrow and token than the market's. */
export async function stageOn(chain: LocalChain, at?: { readonly escrow: Hex; readonly token: Hex }): Promise<Stage> {
  const { client } = chain;
  const { escrow, token } = at ?? chain.places;
  const [one, two, three, four] = await Promise.all(CALLERS.map(() => chain.purse()));
  const who = { client: one!, provider: two!, evaluator: three!, stranger: four! };
  const sendTo: Stage['sendTo'] = async (address, abi, { account }, functionName, ...args) => {
    const { request } = await client.simulateContract({ address, abi, functionName, args, account });
    return client.waitForTransactionReceipt({ hash: await client.writeContract(request) });
  };
  const send: Stage['send'] = (by, name, ...args) => sendTo(escrow, escrowAbi, by, name, ...args);
  const read = <T>(functionName: string, ...args: readonly unknown[]) =>
    client.readContract({ address: escrow, abi: escrowAbi, functionName, args }) as Promise<T>;
  const now = async () => (await client.getBlock()).timestamp;
  const stage: Omit<Stage, 'jobIn'> = {
    ...{ escrow, token, who, send, sendTo, read, now },
    sendNow: async ({ account }, functionName, ...args) => {
      const hash = await client.writeContract({
        address: escrow,
        abi: escrowAbi,
        functionName,
        args,
        account,
        gas: 1_000_000n,
      });
      return client.waitForTransactionReceipt({ hash });
    },
    outcome: (by, functionName, ...args) =>
      client
        .simulateContract({ address: escrow, abi: escrowAbi, functionName, args, account: by.account })
        .then(() => 'ok', refusal),
    balance: (of) =>
      client.readContract({ address: token, abi: dollarAbi, functionName: 'balanceOf', args: [of] }) as Promise<bigint>,
    stateOf: async (job) => STATES[(await read<readonly unknown[]>('jobs', job))[4] as number]!,
  };
  await sendTo(token, dollarAbi, who.client, 'mint', who.client.address, 1_000n * BUDGET);
  await sendTo(token, dollarAbi, who.client, 'approve', escrow, 1_000n * BUDGET);
  return { ...stage, jobIn: (state, lasts = FAR) => jobIn(chain, stage, state, lasts) };
}

async function jobIn(
  chain: LocalChain,
  { send, who, now }: Omit<Stage, 'jobIn'>,
  state: State,
  lasts: bigint,
): Promise<bigint> {
  const { client, provider, evaluator } = who;
  const made = await send(
    client,
    'createJob',
    provider.address,
    evaluator.address,
    (await now()) + lasts,
    'a job',
    zeroAddress,
  );
  const job = eventsOf(made)[0]!.args.jobId as bigint;
  await send(client, 'setBudget', job, BUDGET, NOTHING);
  if (state === 'Open') return job;
  await send(client, 'fund', job, BUDGET, NOTHING);
  if (state === 'Funded') return job;
  if (state === 'Expired') {
    await chain.pass(Number(lasts));
    await send(client, 'claimRefund', job);
    return job;
  }
  await send(provider, 'submit', job, DELIVERABLE, NOTHING);
  if (state === 'Completed') await send(evaluator, 'complete', job, REASON, NOTHING);
  if (state === 'Rejected') await send(evaluator, 'reject', job, REASON, NOTHING);
  return job;
}
