// Owns speech with the chain (hierarchy notes B1, C22-C24): the contracts of the market at configured places, the one token, by their names.
// Knows no listing, no purchase and no disk; viem stands behind wire.ts. Invariants: nothing is sent before the chain, the places and the token are what they should be;
// one key sends one transaction after another; what a contract refuses is an error that names the contract's reason; addresses come out in lower case.
import type { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { z } from 'zod';
import { errorCode, TalariaError } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import { type Args, lower, type Wire, wire } from './wire.ts';

export type Hex = `0x${string}`;

export interface ChainPlaces {
  readonly rpc: string;
  readonly chainId: number;
  readonly token: Hex;
  readonly escrow: Hex;
  readonly factory: Hex;
  readonly forwarder: Hex;
}

/** Who is paid for what is sold; `creator` zero or the seller: nobody sold it before; `agent` may be zero. */
export interface Sale {
  readonly seller: Hex;
  readonly agent: Hex;
  readonly creator: Hex;
  readonly creatorOwner: Hex;
  readonly styx: Hex;
  readonly gas: Hex;
}

/** `budget`: micro-USDC; `expiredAt`: seconds of the epoch. */
export interface Terms {
  readonly client: Hex;
  readonly provider: Hex;
  readonly evaluator: Hex;
  readonly budget: bigint;
  readonly expiredAt: number;
}

/** Of the contract, in its order. */
const STATUSES = ['open', 'funded', 'submitted', 'completed', 'rejected', 'expired'] as const;
export type JobStatus = (typeof STATUSES)[number];

export interface Job extends Terms {
  readonly id: bigint;
  readonly status: JobStatus;
  /** Zero before it was submitted. */
  readonly deliverable: Hex;
}

/** ERC-3009, seconds of the epoch; `signature` of ReceiveWithAuthorization. */
export interface Authorization {
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly signature: Hex;
}

/** A call of the escrow that its signer lets somebody else send and pay for; valid for an hour, once. */
export interface Carried {
  readonly from: Hex;
  readonly call: 'complete' | 'reject';
  /** Decimal. */
  readonly job: string;
  readonly reason: Hex;
  /** Seconds of the epoch. */
  readonly deadline: number;
  readonly signature: Hex;
}

/** What the scheme `exact` of x402 settles with. */
export type Facilitator = ConstructorParameters<typeof ExactEvmScheme>[0];

/** Everything that sends throws TalariaError `reverted`, everything `chain-down`. */
export interface Chain {
  readonly places: ChainPlaces;
  /** Address of the key it was opened with. */
  readonly me: Hex;
  /** In the token. */
  balance(of: Hex): Promise<bigint>;
  /** Of the token, for EIP-712. */
  domain(): Promise<{ name: string; version: string; chainId: number; verifyingContract: Hex }>;
  /** Did an authorization of ERC-3009 with this nonce move money of that address (or was it called off)? */
  isUsed(from: Hex, nonce: Hex): Promise<boolean>;
  /** Did this key send that authorization since that block, and did exactly that much come to `to` by it? */
  didSettle(
    sent: { readonly from: Hex; readonly nonce: Hex; readonly since: bigint },
    to: Hex,
    amount: bigint,
  ): Promise<boolean>;
  splitterOf(keyCommit: Hex, sale: Sale): Promise<Hex>;
  /** By the seller; once more changes nothing. Gives the transaction. */
  list(keyCommit: Hex, sale: Sale, listingId: Hex, contentHash: Hex): Promise<Hex>;
  /** The splitter under which this seller lists it. */
  isListed(listingId: Hex, seller: Hex): Promise<Hex | undefined>;
  withdraw(listingId: Hex): Promise<void>;
  /** For the authorization that funds a job of these terms. */
  nonceOf(terms: Terms, description: string): Promise<Hex>;
  /** Would the escrow take it now, signature and all? */
  wouldFund(terms: Terms, description: string, authorization: Authorization): Promise<boolean>;
  /** Gives the job. */
  fund(terms: Terms, description: string, authorization: Authorization): Promise<bigint>;
  jobOf(nonce: Hex): Promise<bigint | undefined>;
  job(id: bigint): Promise<Job | undefined>;
  /** Of a job that was funded: looked for by its nonce, for a chain may number jobs anew. Throws TalariaError `chain-behind`. */
  funded(nonce: Hex): Promise<Job>;
  /** Number of the newest block. */
  height(): Promise<bigint>;
  submit(splitter: Hex, job: bigint, deliverable: Hex): Promise<void>;
  complete(job: bigint, reason: Hex): Promise<void>;
  reject(job: bigint, reason: Hex): Promise<void>;
  claimRefund(job: bigint): Promise<void>;
  release(splitter: Hex): Promise<void>;
  /** For somebody else to send (ERC-2771). */
  signCall(call: 'complete' | 'reject', job: bigint, reason: Hex): Promise<Carried>;
  /** Sends it when the escrow would take it. */
  carry(call: Carried): Promise<void>;
  facilitator(): Facilitator;
  /** Seconds of the epoch, of the newest block. */
  now(): Promise<number>;
}

const ZERO: Hex = '0x0000000000000000000000000000000000000000';
/** What a carried call may use; the dearest, a rejection that refunds, uses half. */
const CARRIED_GAS = 150_000n;
const CARRIED_SECONDS = 3600;
/** uint48. */
const MOST_SECONDS = 2 ** 48 - 1;
const FORWARDER_NAME = 'TalariaForwarder';
const DECIMALS = 6;

/**
 * A chain that works, and the places that are the market's. Throws TalariaError `chain-down`, `wrong-chain`, `not-deployed`, `wrong-token`,
 * `key-invalid`.
 */
export async function openChain(places: ChainPlaces, key: string): Promise<Chain> {
  const line = await wire(places.rpc, key);
  await checkChain(line, places.chainId);
  await checkPlaces(line, places);
  return {
    places,
    me: line.me,
    ...reads(line, places),
    ...sends(line, places),
    ...carriage(line, places),
    facilitator: line.facilitator,
  };
}

/** Forwarder, escrow and factory over this token. Throws TalariaError `chain-down`, `wrong-chain`, `wrong-token`, `reverted`. */
export async function deployMarket(rpc: string, key: string, token: Hex, chainId?: number): Promise<ChainPlaces> {
  const line = await wire(rpc, key);
  if (chainId !== undefined) await checkChain(line, chainId);
  await checkToken(line, token);
  const forwarder = await line.deploy('ERC2771Forwarder', [FORWARDER_NAME]);
  const escrow = await line.deploy('JobEscrow', [token, forwarder]);
  const factory = await line.deploy('SplitterFactory', [escrow, token, forwarder]);
  return { rpc, chainId: await line.chainId(), token: lower(token), escrow, factory, forwarder };
}

async function checkChain(line: Wire, wanted: number): Promise<void> {
  const found = await line.chainId();
  if (found === wanted) return;
  throw new TalariaError(`the chain there is ${found}, not ${wanted}`, {
    code: 'wrong-chain',
    fix: 'Set market.rpc to an address of the chain that market.chain_id names.',
  });
}

async function checkPlaces(line: Wire, { token, escrow, factory, forwarder }: ChainPlaces): Promise<void> {
  const found = Object.entries({ token, escrow, factory, forwarder });
  for (const [name, address] of found) {
    const code = await line.wired(line.client.getCode({ address }));
    if (code === undefined) throw notDeployed(`there is no contract at ${address}, which is to be the ${name}`);
  }
  await checkToken(line, token);
  const [kept, trusts, splitter] = await Promise.all([
    line.read<Hex>(escrow, 'JobEscrow', 'token'),
    line.read<boolean>(escrow, 'JobEscrow', 'isTrustedForwarder', [forwarder]),
    line.read<Hex>(factory, 'SplitterFactory', 'splitter'),
  ]).catch((cause: unknown) => Promise.reject(otherContract(cause)));
  if (lower(kept) !== lower(token)) throw wrongToken(`the escrow keeps ${kept}, not ${token}`);
  if (!trusts) throw notDeployed(`the escrow does not trust the forwarder ${forwarder}`);
  const behind = await line.read<Hex>(splitter, 'SaleSplitter', 'escrow');
  if (lower(behind) !== lower(escrow)) throw notDeployed(`the factory is of the escrow ${behind}, not ${escrow}`);
}

async function checkToken(line: Wire, token: Hex): Promise<void> {
  const decimals = await line
    .read<number>(token, 'token', 'decimals')
    .catch((cause: unknown) => Promise.reject(otherContract(cause, wrongToken(`there is no token at ${token}`))));
  if (decimals !== DECIMALS) throw wrongToken(`the token ${token} has ${decimals} decimals, not ${DECIMALS}`);
}

function reads(line: Wire, { chainId, token, escrow, factory }: ChainPlaces) {
  const jobOf = async (nonce: Hex) =>
    (await line.read<bigint>(escrow, 'JobEscrow', 'jobOfNonce', [nonce])) || undefined;
  const job = async (id: bigint): Promise<Job | undefined> => {
    type Row = readonly [Hex, Hex, Hex, bigint, number, bigint, Hex];
    const row = await line.read<Row>(escrow, 'JobEscrow', 'jobs', [id]);
    const [client, provider, evaluator, expiredAt, status, budget, deliverable] = row;
    if (client === ZERO) return undefined;
    return {
      ...{ id, client: lower(client), provider: lower(provider), evaluator: lower(evaluator), budget, deliverable },
      ...{ expiredAt: Number(expiredAt), status: STATUSES[status] ?? 'open' },
    };
  };
  return {
    balance: (of: Hex) => line.read<bigint>(token, 'token', 'balanceOf', [of]),
    domain: async () => {
      const [name, version] = await Promise.all([
        line.read<string>(token, 'token', 'name'),
        line.read<string>(token, 'token', 'version'),
      ]);
      return { name, version, chainId, verifyingContract: token };
    },
    isUsed: (from: Hex, nonce: Hex) => line.read<boolean>(token, 'token', 'authorizationState', [from, nonce]),
    didSettle: async (sent: Parameters<Chain['didSettle']>[0], to: Hex, amount: bigint) => {
      const paid = await line.settledBy(token, sent);
      return paid.some((one) => one.by === line.me && one.to === to && one.value === amount);
    },
    splitterOf: async (keyCommit: Hex, sale: Sale) =>
      lower(await line.read<Hex>(factory, 'SplitterFactory', 'splitterOf', [keyCommit, sale])),
    isListed: async (listingId: Hex, seller: Hex) => {
      const splitter = await line.read<Hex>(factory, 'SplitterFactory', 'listed', [seller, listingId]);
      return splitter === ZERO ? undefined : lower(splitter);
    },
    nonceOf: (terms: Terms, description: string) =>
      line.read<Hex>(escrow, 'JobEscrow', 'nonceOf', [terms, description]),
    ...{ jobOf, job },
    funded: async (nonce: Hex): Promise<Job> => {
      const id = await jobOf(nonce);
      const found = id === undefined ? undefined : await job(id);
      if (found === undefined || found.status === 'open') throw behind();
      return found;
    },
    height: () => line.wired(line.client.getBlockNumber()),
    now: async () => Number((await line.wired(line.client.getBlock())).timestamp),
  };
}

/** Behind the ids stands what the draft lets an implementation take besides; ours takes nothing. */
const NOTHING: Hex = '0x';

function sends(line: Wire, { escrow, factory }: ChainPlaces) {
  const ofJob = async (name: string, ...args: Args) => {
    await line.send(escrow, 'JobEscrow', name, args);
  };
  const ofSplitter = async (splitter: Hex, name: string, ...args: Args) => {
    await line.send(splitter, 'SaleSplitter', name, args);
  };
  return {
    list: (keyCommit: Hex, sale: Sale, listingId: Hex, contentHash: Hex) =>
      line.send(factory, 'SplitterFactory', 'list', [keyCommit, sale, listingId, contentHash]),
    withdraw: async (listingId: Hex) => {
      await line.send(factory, 'SplitterFactory', 'withdraw', [listingId]);
    },
    wouldFund: async (terms: Terms, description: string, authorization: Authorization) => {
      const args = [terms, description, authorization];
      try {
        await line.simulate('JobEscrow', { address: escrow, functionName: 'fundByAuthorization', args });
        return true;
      } catch (error) {
        if (errorCode(error) === 'reverted') return false;
        throw error;
      }
    },
    fund: async (terms: Terms, description: string, authorization: Authorization) => {
      await line.send(escrow, 'JobEscrow', 'fundByAuthorization', [terms, description, authorization]);
      const nonce = await line.read<Hex>(escrow, 'JobEscrow', 'nonceOf', [terms, description]);
      const job = await line.read<bigint>(escrow, 'JobEscrow', 'jobOfNonce', [nonce]);
      if (job === 0n) throw behind();
      return job;
    },
    submit: (splitter: Hex, job: bigint, deliverable: Hex) => ofSplitter(splitter, 'submit', job, deliverable),
    complete: (job: bigint, reason: Hex) => ofJob('complete', job, reason, NOTHING),
    reject: (job: bigint, reason: Hex) => ofJob('reject', job, reason, NOTHING),
    claimRefund: (job: bigint) => ofJob('claimRefund', job),
    release: (splitter: Hex) => ofSplitter(splitter, 'release'),
  };
}

const FORWARD_REQUEST = [
  'address from',
  'address to',
  'uint256 value',
  'uint256 gas',
  'uint256 nonce',
  'uint48 deadline',
];

function carriage(line: Wire, { chainId, escrow, forwarder }: ChainPlaces) {
  return {
    signCall: async (call: 'complete' | 'reject', job: bigint, reason: Hex): Promise<Carried> => {
      const { timestamp } = await line.wired(line.client.getBlock());
      const deadline = Number(timestamp) + CARRIED_SECONDS;
      const nonce = await line.read<bigint>(forwarder, 'ERC2771Forwarder', 'nonces', [line.me]);
      const data = line.encoded('JobEscrow', call, [job, reason, NOTHING]);
      const signature = await line.account.signTypedData({
        domain: { name: FORWARDER_NAME, version: '1', chainId, verifyingContract: forwarder },
        types: { ForwardRequest: [...FORWARD_REQUEST, 'bytes data'].map(fieldOf) },
        primaryType: 'ForwardRequest',
        message: { from: line.me, to: escrow, value: 0n, gas: CARRIED_GAS, nonce, deadline, data },
      });
      return { from: line.me, call, job: String(job), reason, deadline, signature };
    },
    carry: async ({ from, call, job, reason, deadline, signature }: Carried): Promise<void> => {
      const args = [BigInt(job), reason, NOTHING];
      // The forwarder tells that a call failed, not why.
      await line.simulate('JobEscrow', { address: escrow, functionName: call, args, as: from });
      const data = line.encoded('JobEscrow', call, args);
      const request = { from, to: escrow, value: 0n, gas: CARRIED_GAS, deadline, data, signature };
      await line.send(forwarder, 'ERC2771Forwarder', 'execute', [request]);
    },
  };
}

function fieldOf(field: string): { readonly name: string; readonly type: string } {
  const [type = '', name = ''] = field.split(' ');
  return { name, type };
}

const carried = z.strictObject({
  from: z.string().regex(/^0x[0-9a-f]{40}$/),
  call: z.enum(['complete', 'reject']),
  job: z.string().regex(/^[1-9][0-9]{0,76}$/),
  reason: z.string().regex(/^0x[0-9a-f]{64}$/),
  deadline: z.int().min(0).max(MOST_SECONDS),
  signature: z.string().regex(/^0x[0-9a-f]{130}$/),
});

/** A call that somebody sent to be carried. */
export function readCarried(value: JsonValue): Carried | undefined {
  return carried.safeParse(value).data as Carried | undefined;
}

function notDeployed(what: string): TalariaError {
  const fix = 'Set the places of the market as they were printed when it was deployed, all of one deployment.';
  return new TalariaError(what, { code: 'not-deployed', fix });
}

/** One node of many, or after a reorganisation: what was seen is not there (yet). */
export function behind(what = 'the job'): TalariaError {
  const fix = 'The chain is behind what it said before: it goes on when it has caught up.';
  return new TalariaError(`the chain does not know ${what}`, { code: 'chain-behind', retryable: true, fix });
}

function wrongToken(what: string): TalariaError {
  return new TalariaError(what, {
    code: 'wrong-token',
    fix: 'Set market.token to USDC of that chain, and its escrow.',
  });
}

/** What answers a question of another contract is another one; a chain that is down stays that. */
function otherContract(cause: unknown, instead = notDeployed('at the places stand other contracts')): unknown {
  return cause instanceof TalariaError && cause.code === 'chain-down' ? cause : instead;
}
